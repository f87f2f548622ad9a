/** How much the scheduler reads of what waits. */
import { expect, test } from 'vitest'
import { bench, endpoint, events, receiver, until } from '../support.ts'

test('each waiting delivery is read once, whatever is in flight meanwhile', async () => {
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
  expect({ read, most: most <= 32 }).toEqual({ read: 900, most: true })
})
