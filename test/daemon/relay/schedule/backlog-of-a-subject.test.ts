import { expect, test } from 'vitest'
import type { Lane } from '../../../../daemon/relay/store/store.ts'
import type { EndpointUpsert } from '../../../../lib/outbox/record.ts'
import { bench, endpoint, event, receiver, status, until } from '../support.ts'

test('thousands of events behind a bad one of their subject hold no one else up, and are never looked through', async () => {
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

test('an endpoint for which thousands wait may change its order: each time they are in the lanes as it wants', async () => {
  // Of this one the relay sends nothing after the first attempt, which it requests anew with each definition.
  const hook = await receiver(status(503, { 'retry-after': '3600' }))
  const other = await receiver()
  const all = await bench({ retrySchedule: Array.from({ length: 20 }, (_, index) => (index === 0 ? 0 : 3600)) })
  await all.append(endpoint(other.url), endpoint(hook.url, { id: '8' }))
  const subjectOf = (index: number) => `s${index % 2 === 0 ? 'bad' : index % 50}`
  await all.append(...Array.from({ length: 1200 }, (_, index) => event(`e${index}`, { subject: subjectOf(index) })))
  await until(async () => other.received.length === 1200 && (await all.relay.store.counts()).pending === 1200, 'they wait')
  await until(() => all.attempts.some(({ endpoint_id }) => endpoint_id === '8'), 'the first attempt is over')
  const inLanes = async (): Promise<number> => {
    const found = await Promise.all(['first', 'retry'].map((lane) => all.relay.store.peek([2], lane as Lane, 10_000)))
    return found.reduce((sum, lane) => sum + (lane.get(2)?.length ?? 0), 0)
  }
  const define = async (change: Partial<EndpointUpsert>, wanted: number): Promise<void> => {
    await all.append(endpoint(hook.url, { id: '8', ...change }))
    const is = () => all.relay.scheduler.endpoint(2)
    await until(() => is()?.endpoint.order === change.order && all.relay.scheduler.isOrdered(2), 'it is in its order')
    // One delivery changes its lane by the attempt that the definition requests, perhaps between the two looks.
    await until(async () => (await inLanes()) === wanted, `${wanted} are in the lanes of order ${change.order}`)
  }
  await define({ order: 'subject' }, 26)
  await define({ order: 'fifo' }, 1200)
  await define({ order: 'subject' }, 26)
  await define({ order: 'none' }, 1200)
  expect(all.faults).toEqual([])
})
