/** BullMQ on Redis, which syncs its log once a second: a worker that makes the same signed POST. */
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { asSender, atRate, connectionsTo, eventOf, inGroups, post } from './made.ts'

await asSender(async ({ count, url, keptAt, inFlight, perSecond }) => {
  const connection = new Redis(keptAt, { maxRetriesPerRequest: null })
  const { pool, path } = connectionsTo(url, inFlight)
  const name = `bench-${process.pid}`
  const queue = new Queue<{ event_id: string; body: string }>(name, { connection })
  const options = { removeOnComplete: true, attempts: 10, backoff: { type: 'exponential', delay: 5000 } } as const
  const add = async (places: readonly number[]) => {
    const events = places.map((place) => eventOf(place))
    await queue.addBulk(events.map(({ event_id, body }) => ({ name: 'deliver', data: { event_id, body }, opts: options })))
  }
  const deliver = ({ data }: { data: { event_id: string; body: string } }) => post(pool, path, data)
  const start = () =>
    new Worker(name, deliver, { connection: new Redis(keptAt, { maxRetriesPerRequest: null }), concurrency: inFlight })
  if (perSecond === null) {
    await inGroups(count, add)
    return async () => void start()
  }
  start()
  return () => atRate(count, perSecond, add)
})
