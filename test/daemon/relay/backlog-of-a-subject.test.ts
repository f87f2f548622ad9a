import { expect, test } from 'vitest'
import type { Lane } from '../../../daemon/relay/store/store.ts'
import type { EndpointUpsert } from '../../../lib/outbox/record.ts'
import { bench, endpoint, event, receiver, until } from './support.ts'

test('thousands of events behind a bad one of their subject hold nobody else up, and are never looked through', async () => {
  const hook = await receiver(({ id }, response) => void response.writeHead(id.startsWith('bad') ? 500 : 204).end())
  const all = await bench({ retrySchedule: [0, 3600], breakerThreshold: 1000 })
  await all.append(endpoint(hook.url, { order: 'subject' }))
  await all.append(...Array.from({ length: 1500 }, (_, index) => event(`bad${index}`, { subject: 'bad' })))
  await until(async () => (await all.relay.store.counts()).pending === 1500 && all.attempts.length === 1, 'they wait')
  await all.append(...Array.from({ length: 20 }, (_, index) => event(`e${index}`, { subject: `s${index}` })))
  await until(() => all.attempts.filter(({ state }) => state === 'delivered').length === 20, 'the others are delivered')
  // Of the thousands the first one alone stands where the next delivery is looked for.
  for (const lane of ['first', 'retry'] as const) {
    const found = (await all.relay.store.peek([1], lane, 10_000)).get(1) ?? []
    expect(found).toHaveLength(lane === 'first' ? 0 : 1)
  }
})

test('an endpoint for which thousands wait may change its order: each time they stand in the lanes as it wants', async () => {
  const [hook, other] = [await receiver(), await receiver()]
  const all = await bench()
  const waits = { id: '8', enabled: false } as const
  await all.append(endpoint(other.url), endpoint(hook.url, waits))
  const subjectOf = (index: number) => `s${index % 2 === 0 ? 'bad' : index % 50}`
  await all.append(...Array.from({ length: 1200 }, (_, index) => event(`e${index}`, { subject: subjectOf(index) })))
  await until(async () => other.received.length === 1200 && (await all.relay.store.counts()).pending === 1200, 'they wait')
  const define = async (change: Partial<EndpointUpsert>) => {
    await all.append(endpoint(hook.url, { ...waits, ...change }))
    const is = () => all.relay.scheduler.endpoint(2)
    await until(() => is()?.endpoint.order === change.order && is()?.arranged === true, 'it is in its order')
    const found = await Promise.all(['first', 'retry'].map((lane) => all.relay.store.peek([2], lane as Lane, 10_000)))
    return found.map((lane) => lane.get(2)?.length ?? 0)
  }
  expect(await define({ order: 'subject' })).toEqual([26, 0])
  expect(await define({ order: 'fifo' })).toEqual([1200, 0])
  expect(await define({ order: 'subject' })).toEqual([26, 0])
  expect(await define({ order: 'none' })).toEqual([1200, 0])
  expect(all.faults).toEqual([])
})
