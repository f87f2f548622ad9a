/** People who were erased: what was delivered about them leaves the store; what waits is sent first. */
import { expect, test } from 'vitest'
import { openOperatorStore } from '../../../daemon/relay/open-store.ts'
import type { EventRecord } from '../../../lib/outbox/record.ts'
import { type Bench, bench, endpoint, event, receiver, status, until } from './support.ts'

const hour = 3_600_000

const about = (event_id: string, payload: object, change: Partial<EventRecord> = {}): EventRecord =>
  event(event_id, { body: JSON.stringify({ event_id, event_type: 'PostCreatedHook', payload }), ...change })

const erasure = (...ids: readonly string[]) => ({ kind: 'erasure', network_id: '1', ids }) as const

/** The ids of the events that the store still has deliveries of, the oldest first. */
async function eventsIn({ directory }: Bench): Promise<readonly string[]> {
  const store = await openOperatorStore(directory)
  const found = (await store.deliveries({ limit: 100 })).map(({ event_id }) => event_id)
  await store.close()
  return found.toReversed()
}

/** The maintenance of a later time, to its end. */
async function maintain({ relay }: Bench, later = 0): Promise<void> {
  const before = { delivered: 0, dead: 0, now: relay.now() + later }
  for (let steps = 0; (await relay.store.purge(before)) > 0; ) if (++steps > 200) throw new Error('it does not end')
}

/** A mark behind everything that was appended: when it is delivered, all before it is ingested. */
async function ingested(all: Bench, mark: string): Promise<void> {
  await all.append(event(mark))
  await until(() => all.attempts.some(({ event_id }) => event_id === mark), `${mark} is tried`)
}

test('deliveries that are done go with every event that names the person, as a text or a number, and no others', async () => {
  const hook = await receiver((request, response) => status(request.id.startsWith('dead') ? 500 : 204)(request, response))
  const all = await bench({ breakerThreshold: 1000 })
  const sent = [
    about('member', { member: { id: '1001', first_name: 'Zed' } }, { subject: 'member:1001' }),
    about('author', { id: '5', creator_id: '1001', author: { id: '1001', first_name: 'Zed' } }),
    about('number', { member: { first_name: 'Zed', id: 1001 } }),
    about('invite', { invite_id: '7007', recipient_email: 'zed@example.org' }),
    about('dead', { member_id: '1001' }),
    about('other', { member: { id: '10010' }, count: 1001, title: '1001' }),
    about('network', { member: { id: '1001' } }, { network_id: '2' }),
  ]
  await all.append(endpoint(hook.url), endpoint(hook.url, { id: '8', network_id: '2' }), ...sent)
  await until(() => all.attempts.filter(({ state }) => state !== 'pending').length === sent.length, 'all are done')
  await all.append(erasure('1001', '7007'))
  await ingested(all, 'mark')
  expect(await eventsIn(all)).toHaveLength(sent.length + 1)
  await maintain(all)
  expect(await eventsIn(all)).toEqual(['other', 'network', 'mark'])
  // Nothing is looked through again, and later events about the same id stay.
  await all.append(about('later', { member: { id: '1001' } }))
  await until(() => hook.received.some(({ id }) => id === 'later'), 'the later one is delivered')
  await ingested(all, 'mark2')
  await maintain(all, 2 * hour)
  expect(await eventsIn(all)).toEqual(['other', 'network', 'mark', 'later', 'mark2'])
  expect(all.faults).toEqual([])
})

test('a delivery that waits is sent first, and goes an hour later', async () => {
  const [open, paused] = [await receiver(), await receiver()]
  const all = await bench()
  await all.append(endpoint(open.url), endpoint(paused.url, { id: '8', enabled: false }))
  await all.append(about('first', { member: { id: '1001' } }), erasure('1001'))
  await ingested(all, 'mark')
  await maintain(all)
  // Of two deliveries the one that is done has gone.
  expect(await eventsIn(all)).toEqual(['first', 'mark', 'mark'])
  await all.append(endpoint(paused.url, { id: '8' }))
  await until(() => paused.received.length === 2, 'it is delivered')
  expect(JSON.parse(paused.received.find(({ id }) => id === 'first')?.body ?? '')).toMatchObject({
    payload: { member: { id: '1001' } },
  })
  await until(() => all.attempts.filter(({ state }) => state === 'delivered').length === 4, 'it is recorded')
  await maintain(all)
  expect(await eventsIn(all)).toEqual(['first', 'mark', 'mark'])
  await maintain(all, 2 * hour)
  expect(await eventsIn(all)).toEqual(['mark', 'mark'])
})

test('many events are looked through in steps', async () => {
  const hook = await receiver()
  const all = await bench()
  const many = Array.from({ length: 1500 }, (_, n) => about(`e${n}`, { member: { id: n % 500 === 7 ? '1001' : '5' } }))
  await all.append(endpoint(hook.url), ...many)
  await until(() => all.attempts.length === many.length, 'all are delivered')
  await all.append(erasure(...Array.from({ length: 99 }, (_, n) => String(90_000 + n)), '1001'))
  await ingested(all, 'mark')
  await maintain(all)
  const left = await all.relay.store.counts()
  expect(left.pending).toBe(0)
  const store = await openOperatorStore(all.directory)
  const named = (await store.deliveries({ limit: 2000 })).map(({ event_id }) => event_id)
  await store.close()
  expect(named).toHaveLength(many.length - 3 + 1)
  for (const gone of ['e7', 'e507', 'e1007']) expect(named).not.toContain(gone)
})

test('an erasure outlives a restart of the relay', async () => {
  const hook = await receiver()
  const all = await bench()
  await all.append(endpoint(hook.url), about('first', { member: { id: '1001' } }), erasure('1001'))
  await ingested(all, 'mark')
  await all.restart()
  await maintain(all)
  expect(await eventsIn(all)).toEqual(['mark'])
})
