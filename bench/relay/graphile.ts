/** graphile-worker on PostgreSQL, with its local queue: a task that makes the same signed POST. */
import { Logger, run, runMigrations } from 'graphile-worker'
import pg from 'pg'
import { asSender, atRate, connectionsTo, eventOf, inGroups, post } from './made.ts'

await asSender(async ({ count, url, keptAt, inFlight, perSecond }) => {
  const { pool: http, path } = connectionsTo(url, inFlight)
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
  const deliver = (payload: unknown) => post(http, path, payload as { event_id: string; body: string })
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
    await inGroups(count, add)
    return async () => void (await start())
  }
  await start()
  return () => atRate(count, perSecond, add)
})
