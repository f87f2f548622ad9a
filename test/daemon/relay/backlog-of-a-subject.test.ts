import { expect, test } from 'vitest'
import { bench, endpoint, event, receiver, until } from './support.ts'

test('thousands of events behind a bad one of their subject hold nobody else up, and are never looked through', async () => {
  const hook = await receiver(({ id }, response) => void response.writeHead(id.startsWith('bad') ? 500 : 204).end())
  const all = await bench({ retrySchedule: [0, 3600], breakerThreshold: 1000 })
  await all.append(endpoint(hook.url, { order: 'subject' }))
  await all.append(...Array.from({ length: 3000 }, (_, index) => event(`bad${index}`, { subject: 'bad' })))
  await until(async () => (await all.relay.store.counts()).pending === 3000 && all.attempts.length === 1, 'they wait')
  await all.append(...Array.from({ length: 20 }, (_, index) => event(`e${index}`, { subject: `s${index}` })))
  await until(() => all.attempts.filter(({ state }) => state === 'delivered').length === 20, 'the others are delivered')
  // Of the thousands the first one alone stands where the next delivery is looked for.
  for (const lane of ['first', 'retry'] as const) {
    const found = (await all.relay.store.peek([1], lane, 10_000)).get(1) ?? []
    expect(found).toHaveLength(lane === 'first' ? 0 : 1)
  }
})
