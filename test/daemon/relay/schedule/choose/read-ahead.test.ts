/** How much the scheduler reads of what waits. */
import { expect, test } from 'vitest'
import type { Relay } from '../../../../../daemon/relay/relay.ts'
import { bench, endpoint, events, pass, receiver, status, until } from '../../support.ts'

/** Keeps back what the second read finds, until it is let go. Reads that find nothing do not count. */
function secondReadHeld({ store }: Relay) {
  const { peek } = store
  const held = Promise.withResolvers<void>()
  const read: number[] = []
  store.peek = async (...asked) => {
    const found = await peek(...asked)
    const count = [...found.values()].flat().length
    if (count > 0 && read.push(count) === 2) await held.promise
    return found
  }
  return { read, letGo: held.resolve }
}

/** A relay that has delivered what its first read found. The second read is held. */
async function deliveringWhileRead() {
  const hook = await receiver()
  const { relay, append } = await bench()
  const { read, letGo } = secondReadHeld(relay)
  await append(endpoint(hook.url), ...events('e', 60))
  await until(() => read.length === 2 && hook.received.length === read[0], 'what was read first has come')
  return { hook, relay, append, letGo }
}

test('each waiting delivery is read once, whatever is in flight', async () => {
  const hooks = await Promise.all([receiver(), receiver(), receiver()])
  const { relay, append } = await bench({ maxInFlight: 64, maxInFlightPerEndpoint: 32 })
  const { peek } = relay.store
  let read = 0
  let most = 0
  relay.store.peek = async (...asked) => {
    const found = await peek(...asked)
    for (const some of found.values()) {
      read += some.length
      most = Math.max(most, some.length)
    }
    return found
  }
  await append(...hooks.map(({ url }, place) => endpoint(url, { id: String(place) })), ...events('e', 300))
  await until(() => hooks.every(({ received }) => received.length === 300), 'all are delivered')
  expect({ read, most: most <= 128 }).toEqual({ read: 900, most: true })
})

test('one read of many endpoints gets fewer deliveries of each', async () => {
  const hook = await receiver()
  const { relay, append } = await bench({ maxInFlight: 128, maxInFlightPerEndpoint: 64 })
  const { peek } = relay.store
  const reads: { endpoints: number; limit: number }[] = []
  relay.store.peek = (endpoints, lane, limit, ...rest) => {
    reads.push({ endpoints: endpoints.length, limit })
    return peek(endpoints, lane, limit, ...rest)
  }
  const places = Array.from({ length: 80 }, (_, place) => place)
  await append(...places.map((place) => endpoint(hook.url, { id: String(place) })), ...events('e', 20))
  await until(() => hook.received.length === 1600, 'all are delivered')
  expect(Math.max(...reads.map(({ endpoints }) => endpoints))).toBeGreaterThan(64)
  expect(reads.filter(({ endpoints, limit }) => limit > 32 && endpoints * limit > 4096)).toEqual([])
})

test('what was read is sent and recorded while a later read takes its time', async () => {
  const { hook, letGo } = await deliveringWhileRead()
  letGo()
  await until(() => hook.received.length === 60, 'all are delivered')
})

test('a read that began before the store was changed brings nothing', async () => {
  const { hook, relay, append, letGo } = await deliveringWhileRead()
  relay.scheduler.refresh()
  await until(() => hook.received.length === 60, 'all are delivered')
  letGo()
  await append(...events('later', 20))
  await until(() => hook.received.length >= 80, 'later ones are delivered')
  const ids = hook.received.map(({ id }) => id)
  expect(ids.length).toBe(new Set(ids).size)
})

test('a retry is sent though its lane is wanted while its result is being recorded', async () => {
  const hook = await receiver()
  const { relay, append } = await bench({ retrySchedule: [0, 0, 0], breakerThreshold: 100 })
  const { read, letGo } = secondReadHeld(relay)
  const { commit, peek } = relay.store
  let isRecording = false
  let readMeanwhile = 0
  relay.store.peek = (endpoints, lane, ...rest) => {
    if (isRecording && lane === 'retry') readMeanwhile += 1
    return peek(endpoints, lane, ...rest)
  }
  relay.store.commit = async (tick, now) => {
    isRecording = tick.results.some(({ state }) => state === 'pending')
    // The read that was held ends now, so the scheduler reads on.
    if (isRecording) letGo()
    for (let ticks = 0; isRecording && ticks < 50; ticks++) await pass(1)
    isRecording = false
    return commit(tick, now)
  }
  let hasFailed = false
  hook.respond = async (request, response) => {
    if (hasFailed || hook.received.length !== read[0]) return status(204)(request, response)
    hasFailed = true
    await pass(100)
    status(500)(request, response)
  }
  await append(endpoint(hook.url), ...events('e', 60))
  await until(() => hook.received.length === 61, 'all are delivered, one of them at the second attempt', 20)
  expect(readMeanwhile).toBe(0)
})
