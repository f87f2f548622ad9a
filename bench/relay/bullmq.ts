/** BullMQ on Redis, which syncs its log once a second: a worker that makes the same signed POST. */
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { Pool } from 'undici'
import { asSender, atRate, eventOf, headersOf } from './made.ts'

await asSender(async ({ count, url, keptAt, inFlight, perSecond }) => {
  const connection = new Redis(keptAt, { maxRetriesPerRequest: null })
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: inFlight, pipelining: 1 })
  const name = `bench-${process.pid}`
  const queue = new Queue<{ event_id: string; body: string }>(name, { connection })
  const options = { removeOnComplete: true, attempts: 10, backoff: { type: 'exponential', delay: 5000 } } as const
  const add = async (places: readonly number[]) => {
    const events = places.map((place) => eventOf(place))
    await queue.addBulk(events.map(({ event_id, body }) => ({ name: 'deliver', data: { event_id, body }, opts: options })))
  }
  const deliver = async ({ data }: { data: { event_id: string; body: string } }) => {
    const { body, statusCode } = await pool.request({
      path: pathname,
      method: 'POST',
      headers: headersOf(data.event_id, data.body),
      body: data.body,
    })
    await body.dump()
    if (statusCode >= 300) throw new Error(`answered with ${statusCode}`)
  }
  const start = () =>
    new Worker(name, deliver, { connection: new Redis(keptAt, { maxRetriesPerRequest: null }), concurrency: inFlight })
  if (perSecond === null) {
    for (let first = 0; first < count; first += 1000)
      await add(Array.from({ length: Math.min(1000, count - first) }, (_, step) => first + step))
    return async () => void start()
  }
  start()
  return () => atRate(count, perSecond, add)
})
