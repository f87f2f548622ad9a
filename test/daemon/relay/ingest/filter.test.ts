/** Filters of endpoints: a receiver gets the events whose payload matches, as the filter was when they were ingested. */
import { expect, test } from 'vitest'
import type { Filter } from '../../../../lib/outbox/filter.ts'
import { bench, endpoint, event, receiver, until } from '../support.ts'

const withPayload = (id: string, payload: object) =>
  event(id, { body: JSON.stringify({ event_id: id, event_type: 'PostCreatedHook', payload }) })
const inSpace: Filter = { all: [{ path: '/space_id', equals: '2001' }] }
const filtered = (url: string, filter: Filter) => endpoint(url, { filter, requires: ['filter'] })

test('an endpoint with a filter gets the matching events alone, and a changed filter holds for later ones', async () => {
  const [some, every] = [await receiver(), await receiver()]
  const all = await bench()
  await all.append(endpoint(every.url, { id: '8' }), filtered(some.url, inSpace))
  await all.append(
    withPayload('in', { space_id: '2001' }),
    withPayload('out', { space_id: '3001' }),
    withPayload('number', { space_id: 2001 }),
  )
  await until(() => every.received.length === 3 && some.received.length === 2, 'all are delivered')
  await all.append(
    filtered(some.url, { not: inSpace }),
    withPayload('in-later', { space_id: '2001' }),
    withPayload('out-later', {}),
  )
  await until(() => every.received.length === 5 && some.received.length === 3, 'the later ones are delivered')
  expect(some.received.map(({ id }) => id).toSorted()).toEqual(['in', 'number', 'out-later'])
})

test('what waits when an endpoint gets a filter is still sent', async () => {
  const hook = await receiver()
  const all = await bench()
  await all.append(endpoint(hook.url, { enabled: false }), withPayload('out', { space_id: '3001' }))
  await all.append(
    filtered(hook.url, inSpace),
    withPayload('out-later', { space_id: '3001' }),
    withPayload('in', { space_id: '2001' }),
  )
  await until(() => hook.received.length === 2, 'both are delivered')
  expect(hook.received.map(({ id }) => id).toSorted()).toEqual(['in', 'out'])
})

test('events of the time when an endpoint was set aside are decided by the filter that it gets', async () => {
  const hook = await receiver()
  const all = await bench()
  await all.append(endpoint(hook.url, { requires: ['later'] }))
  await until(() => all.notices.length === 1, 'it is set aside')
  await all.append(withPayload('in', { space_id: '2001' }), withPayload('out', { space_id: '3001' }))
  await all.append(filtered(hook.url, inSpace), withPayload('last', { space_id: '2001' }))
  await until(() => hook.received.length === 2, 'two are delivered')
  expect(hook.received.map(({ id }) => id).toSorted()).toEqual(['in', 'last'])
})

const updated = (id: string, ...changed: readonly string[]) => event(id, { event_type: 'MemberUpdatedHook', changed })
const ofRoles = (url: string) => endpoint(url, { filter: { changed: ['role'] }, requires: ['filter', 'filter-changed'] })

test('an endpoint with a filter on changed fields gets the updates of those', async () => {
  const [some, every] = [await receiver(), await receiver()]
  const all = await bench()
  await all.append(endpoint(every.url, { id: '8' }), ofRoles(some.url))
  await all.append(updated('role', 'first_name', 'role'), updated('name', 'first_name'), event('created'))
  await until(() => every.received.length === 3 && some.received.length === 1, 'all are delivered')
  expect(some.received.map(({ id }) => id)).toEqual(['role'])
})

test('changed fields decide too about events of the time when an endpoint was set aside', async () => {
  const hook = await receiver()
  const all = await bench()
  await all.append(endpoint(hook.url, { requires: ['later'] }))
  await until(() => all.notices.length === 1, 'it is set aside')
  await all.append(updated('role', 'role'), updated('name', 'first_name'))
  await all.append(ofRoles(hook.url), updated('last', 'role'))
  await until(() => hook.received.length === 2, 'two are delivered')
  expect(hook.received.map(({ id }) => id).toSorted()).toEqual(['last', 'role'])
})
