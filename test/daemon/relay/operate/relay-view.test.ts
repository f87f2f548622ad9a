/** The relay for the panel, in the process of the relay; on each store. */
import { expect, onTestFinished, test } from 'vitest'
import { relayViewOf } from '../../../../daemon/relay/operate/view/of-relay.ts'
import type { OpenRelayView } from '../../../../daemon/relay/operate/view/side.ts'
import { type Bench, bench, endpoint, event, events, receiver, status, until } from '../support.ts'

function viewOf(all: Bench): OpenRelayView {
  const view = relayViewOf(all.relay, all.directory)
  onTestFinished(() => view.close())
  return view
}

const by = { actor: 'Ada' }
const settled = (all: Bench, count: number) =>
  until(() => all.attempts.filter(({ state }) => state !== 'pending').length === count, `${count} deliveries are settled`)

test('deliveries come by pages and filters, the newest first, and never those of another network', async () => {
  const [good, bad] = await Promise.all([receiver(), receiver(status(400))])
  const all = await bench({ retrySchedule: [0, 0.01] })
  const view = viewOf(all)
  await all.append(
    endpoint(good.url),
    endpoint(bad.url, { id: '8' }),
    endpoint(good.url, { id: '9', network_id: '2' }),
    ...events('e', 3),
    event('other', { network_id: '2' }),
  )
  await settled(all, 7)
  const first = await view.deliveries('1', {}, { limit: 4 })
  const second = await view.deliveries('1', {}, { limit: 4, after: first.next ?? '' })
  expect([first.items.length, second.items.length, second.next]).toEqual([4, 2, null])
  const ids = [...first.items, ...second.items].map(({ id }) => Number(id))
  expect(ids).toEqual(ids.toSorted((one, other) => other - one))
  const of = async (filter: Parameters<OpenRelayView['count']>[1]) => (await view.count('1', filter)).count
  expect(await view.count('1', {})).toEqual({ count: 6, exact: true })
  expect(await of({ endpoint_id: '8' })).toBe(3)
  expect(await of({ http_status: 400 })).toBe(3)
  expect(await of({ state: 'delivered', event_id: 'e1' })).toBe(1)
  expect(await of({ event_id: 'other' })).toBe(0)
  expect(await of({ event_type: 'PostCreatedHook', outcome: 'delivered' })).toBe(3)
  expect(await of({ since: '2200-01-01T00:00:00Z' })).toBe(0)
  expect(await of({ since: '2020-01-01T00:00:00Z', until: '2200-01-01T00:00:00Z' })).toBe(6)
  const [foreign] = (await view.deliveries('2', {}, { limit: 10 })).items
  expect(await view.delivery('1', foreign?.id ?? '')).toBeUndefined()
})

test('a delivery has its body and each attempt, and one that was delivered at once has its only attempt', async () => {
  const bad = await receiver((_, response) => response.writeHead(500).end('no room'))
  const good = await receiver()
  const all = await bench({ retrySchedule: [0, 0.01] })
  const view = viewOf(all)
  await all.append(endpoint(bad.url), endpoint(good.url, { id: '8' }), event('a'))
  await settled(all, 2)
  const detail = async (endpoint_id: string) => {
    const [row] = (await view.deliveries('1', { endpoint_id }, { limit: 1 })).items
    return view.delivery('1', row?.id ?? '')
  }
  const failed = await detail('7')
  expect(failed?.history.map(({ status: answered, answer }) => [answered, answer])).toEqual([
    [500, 'no room'],
    [500, 'no room'],
  ])
  expect(JSON.parse(failed?.body ?? '')).toMatchObject({ event_id: 'a' })
  expect((await detail('8'))?.history).toMatchObject([{ number: 1, status: 204, outcome: 'delivered' }])
  expect(await view.status('1')).toMatchObject({ running: true, endpoints: [{ endpoint_id: '7', dead: 1 }, { pending: 0 }] })
  const { minutes } = await view.activity('1', 60)
  expect(minutes.reduce((sum, { delivered, failed: not }) => sum + delivered + not, 0)).toBe(2)
  expect((await view.status('2')).endpoints).toEqual([])
})

test('a resend sends all that match in one network again, and nothing of another network', async () => {
  const hook = await receiver()
  const all = await bench()
  const view = viewOf(all)
  const other = endpoint(hook.url, { id: '9', network_id: '2' })
  await all.append(endpoint(hook.url), other, ...events('e', 3), event('other', { network_id: '2' }))
  await settled(all, 4)
  const begun = await view.replay('1', { filter: { state: 'delivered' } }, { perSecond: 100, by })
  expect(begun).toMatchObject({ done: 0, of: { count: 3, exact: true } })
  await until(async () => (await view.replayed('1', begun.id))?.state === 'done', 'the resend is done')
  await until(() => hook.received.length === 7, 'they are sent again')
  expect(hook.received.filter(({ id }) => id === 'other')).toHaveLength(1)
  const [foreign] = (await view.deliveries('2', {}, { limit: 1 })).items
  const none = await view.replay('1', { ids: [foreign?.id ?? ''] }, { perSecond: 100, by })
  await until(async () => (await view.replayed('1', none.id))?.state === 'done', 'the second resend is done')
  expect((await view.replayed('1', none.id))?.done).toBe(0)
  expect(await view.replayed('2', none.id)).toBeUndefined()
  expect(await view.stopReplay('2', none.id)).toBeUndefined()
})

test('a resend that is stopped makes nothing more due', async () => {
  const hook = await receiver()
  const all = await bench()
  const view = viewOf(all)
  await all.append(endpoint(hook.url), ...events('e', 3))
  await settled(all, 3)
  const { id } = await view.replay('1', { filter: {} }, { perSecond: 1, by })
  await until(async () => (await view.replayed('1', id))?.done === 1, 'the first is due')
  expect(await view.stopReplay('1', id)).toMatchObject({ state: 'stopped' })
  await until(() => hook.received.length === 4, 'the first is sent again')
  expect(await view.replayed('1', id)).toMatchObject({ state: 'stopped', done: 1, of: { count: 3 } })
})

test('a test event shows the answer, and an endpoint of another network is not there', async () => {
  const hook = await receiver(status(201))
  const all = await bench()
  const view = viewOf(all)
  await all.append(endpoint(hook.url))
  await until(async () => (await view.status('1')).endpoints.length === 1, 'the relay has heard of it')
  expect(await view.test('1', '7')).toMatchObject({ outcome: 'delivered', status: 201 })
  expect(await view.test('2', '7')).toBeUndefined()
  expect([await view.enable('1', '7'), await view.enable('2', '7')]).toEqual([true, false])
})
