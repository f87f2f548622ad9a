/** graphile-worker on PostgreSQL, with its local queue: a task that makes the same signed POST. */
import { Logger, run, runMigrations } from 'graphile-worker'
import pg from 'pg'
import { Pool } from 'undici'
import { asSender, atRate, eventOf, headersOf } from './made.ts'

await asSender(async ({ count, url, keptAt, inFlight, perSecond }) => {
  const { origin, pathname } = new URL(url)
  const http = new Pool(origin, { connections: inFlight, pipelining: 1 })
  const database = new pg.Pool({ connectionString: keptAt, max: 12 })
  database.on('error', () => {})
  database.on('connect', (client) => void client.on('error', () => {}))
  const schema = `bench_${process.pid}`
  await runMigrations({ pgPool: database, schema })
  const add = async (places: readonly number[]) => {
    const payloads = places.map((place) => {
      const { event_id, body } = eventOf(place)
      return JSON.stringify({ event_id, body })
    })
    await database.query(`select count(${schema}.add_job('deliver', payload)) from unnest($1::json[]) payload`, [payloads])
  }
  const deliver = async (payload: unknown) => {
    const { event_id, body: text } = payload as { event_id: string; body: string }
    const { body, statusCode } = await http.request({
      path: pathname,
      method: 'POST',
      headers: headersOf(event_id, text),
      body: text,
    })
    await body.dump()
    if (statusCode >= 300) throw new Error(`answered with ${statusCode}`)
  }
  const start = () =>
    run({
      pgPool: database,
      schema,
      taskList: { deliver },
      concurrency: inFlight,
      noHandleSignals: true,
      logger: new Logger(() => () => {}),
      preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0, concurrentJobs: inFlight } },
    })
  if (perSecond === null) {
    for (let first = 0; first < count; first += 1000)
      await add(Array.from({ length: Math.min(1000, count - first) }, (_, step) => first + step))
    return async () => void (await start())
  }
  await start()
  return () => atRate(count, perSecond, add)
})
