/**
 * The administration of a relay in three ways: in its own process, over its control port, and over its store
 * alone. Each runs on each store.
 */
import { describe, expect, onTestFinished, test } from 'vitest'
import { type OpenRelayAdmin, relayAdmin } from '../../../../daemon/relay/admin/admin.ts'
import { embeddedBackend } from '../../../../daemon/relay/admin/backend.ts'
import { startControl } from '../../../../daemon/relay/operate/control/control.ts'
import { controlToken } from '../../../../daemon/relay/operate/control/control-token.ts'
import { createMetrics } from '../../../../daemon/relay/operate/metrics.ts'
import { type RelayAdmin, relayAdminOverControl } from '../../../../lib/panel/index.ts'
import { type Bench, bench, endpoint, event, events, receiver, status, until } from '../support.ts'

const closed = (admin: OpenRelayAdmin): RelayAdmin => {
  onTestFinished(() => admin.close())
  return admin
}

/** The address and the key of the control of a relay. */
async function controlOf({ relay, directory }: Bench) {
  const control = await startControl({ relay, metrics: createMetrics(() => relay, '0.0.0'), outbox: directory, port: 0 })
  onTestFinished(() => control.close())
  return { url: `http://127.0.0.1:${control.port}`, token: controlToken(directory) }
}

const ways: Readonly<Record<string, (all: Bench) => RelayAdmin | Promise<RelayAdmin>>> = {
  'in the process of the relay': ({ relay, directory }) => closed(relayAdmin(directory, embeddedBackend(relay))),
  'over the control port': async (all) => relayAdminOverControl(await controlOf(all)),
  'over the store alone': ({ directory }) => closed(relayAdmin(directory)),
}

const by = { actor: 'Ada' }
const settled = (all: Bench, count: number) =>
  until(() => all.attempts.filter(({ state }) => state !== 'pending').length === count, `${count} deliveries are settled`)

describe.each(Object.entries(ways))('%s', (_, adminOf) => {
  test('deliveries come by pages and filters, the newest first, and never those of another network', async () => {
    const [good, bad] = await Promise.all([receiver(), receiver(status(400))])
    const all = await bench({ retrySchedule: [0, 0.01], breakerThreshold: 50 })
    const admin = await adminOf(all)
    await all.append(
      endpoint(good.url),
      endpoint(bad.url, { id: '8' }),
      endpoint(good.url, { id: '9', network_id: '2' }),
      ...events('e', 2),
      event('e2', { subject: 'member:1001' }),
      event('other', { network_id: '2', subject: 'member:1001' }),
    )
    await settled(all, 7)
    const first = await admin.list({ network_id: '1', limit: 4 })
    const second = await admin.list({ network_id: '1', limit: 4, after: first.next ?? '' })
    expect([first.items.length, second.items.length, second.next]).toEqual([4, 2, null])
    const ids = [...first.items, ...second.items].map(({ id }) => Number(id))
    expect(ids).toEqual(ids.toSorted((one, other) => other - one))
    const of = async (filter: Parameters<RelayAdmin['count']>[0]) => (await admin.count({ ...filter, network_id: '1' })).count
    expect(await admin.count({ network_id: '1' })).toEqual({ count: 6, exact: true })
    expect(await of({ endpoint_id: '8' })).toBe(3)
    expect(await of({ http_status: 400 })).toBe(3)
    expect(await of({ state: 'delivered', event_id: 'e1' })).toBe(1)
    expect(await of({ event_id: 'other' })).toBe(0)
    expect(await of({ subject: 'member:1001' })).toBe(2)
    expect(await of({ subject: 'member:1001', endpoint_id: '8' })).toBe(1)
    expect(await of({ subject: 'member:100' })).toBe(0)
    expect(await of({ event_type: 'PostCreatedHook', outcome: 'delivered' })).toBe(3)
    expect(await of({ since: '2200-01-01T00:00:00Z' })).toBe(0)
    expect(await of({ since: '2020-01-01T00:00:00Z', until: '2200-01-01T00:00:00Z' })).toBe(6)
    const [foreign] = (await admin.list({ network_id: '2', limit: 10 })).items
    expect(await admin.get({ network_id: '1', id: foreign?.id ?? '' })).toBeUndefined()
  })

  test('a delivery has its body and each attempt, and one that succeeded at first has its only attempt', async () => {
    const bad = await receiver((_, response) => response.writeHead(500).end('no room'))
    const good = await receiver()
    const all = await bench({ retrySchedule: [0, 0.01], breakerThreshold: 50 })
    const admin = await adminOf(all)
    await all.append(endpoint(bad.url), endpoint(good.url, { id: '8' }), event('a'))
    await settled(all, 2)
    const detail = async (endpoint_id: string) => {
      const [row] = (await admin.list({ network_id: '1', endpoint_id, limit: 1 })).items
      return admin.get({ network_id: '1', id: row?.id ?? '' })
    }
    const failed = await detail('7')
    expect(failed?.history.map(({ status: answered, answer }) => [answered, answer])).toEqual([
      [500, 'no room'],
      [500, 'no room'],
    ])
    expect(JSON.parse(failed?.body ?? '')).toMatchObject({ event_id: 'a' })
    expect((await detail('8'))?.history).toMatchObject([{ number: 1, status: 204, outcome: 'delivered' }])
    expect(await admin.status({ network_id: '1' })).toMatchObject({
      running: true,
      endpoints: [{ endpoint_id: '7', dead: 1 }, { pending: 0 }],
    })
    const { minutes } = await admin.activity({ network_id: '1', minutes: 60 })
    expect(minutes.reduce((sum, { delivered, failed: not }) => sum + delivered + not, 0)).toBe(2)
    expect((await admin.status({ network_id: '2' })).endpoints).toEqual([])
  })

  test('an endpoint has each attempt of the day in its hour, by how long the receiver took', async () => {
    const [slow, bad] = await Promise.all([
      receiver((_, response) => void setTimeout(() => response.writeHead(204).end(), 130)),
      receiver(status(400)),
    ])
    const all = await bench({ retrySchedule: [0, 0.01], breakerThreshold: 50 })
    const admin = await adminOf(all)
    const gone = endpoint('http://127.0.0.1:1/', { id: '9' })
    await all.append(endpoint(slow.url), endpoint(bad.url, { id: '8' }), gone, ...events('e', 3))
    await settled(all, 9)
    const { endpoints } = await admin.status({ network_id: '1' })
    const [first, second, third] = endpoints.map(({ hours }) => ({
      delivered: hours.reduce((sum, { delivered }) => sum + delivered, 0),
      failed: hours.reduce((sum, { failed }) => sum + failed, 0),
      durations: hours.flatMap(({ durations }) => durations).reduce((sum, count) => sum + count, 0),
      quick: hours.flatMap(({ durations }) => durations.slice(0, 4)).reduce((sum, count) => sum + count, 0),
      slowest: Math.max(...hours.map(({ slowest }) => slowest)),
    }))
    // Two attempts each; a refused connection tells nothing about how long a receiver takes.
    expect(first).toMatchObject({ delivered: 3, failed: 0, durations: 3, quick: 0 })
    expect(first?.slowest).toBeGreaterThanOrEqual(130)
    expect(second).toMatchObject({ delivered: 0, failed: 6, durations: 6 })
    expect(third).toEqual({ delivered: 0, failed: 6, durations: 0, quick: 0, slowest: 0 })
    expect(endpoints[0]?.hours[0]).toMatchObject({ durations: expect.toSatisfy((each: number[]) => each.length === 11) })
    expect((await admin.status({})).endpoints.map(({ hours }) => hours)).toEqual([[], [], []])
    const hoursAfter = async (later: number) => {
      await all.relay.store.purge({ delivered: 0, dead: 0, now: all.relay.now() + later * 3_600_000 })
      return (await admin.status({ network_id: '1' })).endpoints.flatMap(({ hours }) => hours).length > 0
    }
    expect([await hoursAfter(24), await hoursAfter(27)]).toEqual([true, false])
  })

  test('a test is of an event of choice with example data of the network', async () => {
    const hook = await receiver()
    const all = await bench()
    const admin = await adminOf(all)
    await all.append(endpoint(hook.url))
    await until(async () => (await admin.status({ network_id: '1' })).endpoints.length === 1, 'the endpoint is known')
    const of = { network_id: '1', endpoint_id: '7' }
    expect(await admin.test({ ...of, event_type: 'CustomFieldResponseCreatedHook' })).toMatchObject({
      outcome: 'delivered',
      status: 204,
    })
    expect(JSON.parse(hook.received[0]?.body ?? '')).toMatchObject({
      event_id: expect.any(String),
      event_type: 'CustomFieldResponseCreatedHook',
      payload: { network_id: '1' },
    })
    await expect(admin.test({ ...of, event_type: 'NothingHook' })).rejects.toThrow(/no event of this type/)
  })

  test('a delivery that waits for its next attempt is sent now when a resend names it, and a filter leaves it alone', async () => {
    const hook = await receiver(status(500))
    const all = await bench({ retrySchedule: [0, 3600] })
    const admin = await adminOf(all)
    await all.append(endpoint(hook.url), event('a'))
    await until(() => all.attempts.length === 1, 'the first attempt has failed')
    const waiting = async () => (await admin.list({ network_id: '1', state: 'pending' })).items
    await until(async () => (await waiting())[0]?.attempts === 1, 'it waits')
    const done = async (id: string) => {
      await until(async () => (await admin.progress({ network_id: '1', id }))?.state === 'done', 'the resend is over')
      return (await admin.progress({ network_id: '1', id }))?.done
    }
    hook.respond = status(204)
    const [{ id } = { id: '' }] = await waiting()
    const filtered = await admin.resend({ network_id: '1', endpoint_id: '7', ...by })
    expect([await done(filtered.id), all.attempts.length]).toEqual([0, 1])
    const named = await admin.resend({ network_id: '1', ids: [id], ...by })
    expect(await done(named.id)).toBe(1)
    await settled(all, 1)
    expect(await admin.get({ network_id: '1', id })).toMatchObject({ state: 'delivered', attempts: 2 })
  })

  test('a resend sends all that match in one network again, and nothing of another network', async () => {
    const hook = await receiver()
    const all = await bench()
    const admin = await adminOf(all)
    const other = endpoint(hook.url, { id: '9', network_id: '2' })
    await all.append(endpoint(hook.url), other, ...events('e', 3), event('other', { network_id: '2' }))
    await settled(all, 4)
    const begun = await admin.resend({ network_id: '1', state: 'delivered', per_second: 100, ...by })
    expect(begun).toMatchObject({ done: 0, of: { count: 3, exact: true } })
    await until(async () => (await admin.progress({ network_id: '1', id: begun.id }))?.state === 'done', 'the resend is done')
    await until(() => hook.received.length === 7, 'they are sent again')
    expect(hook.received.filter(({ id }) => id === 'other')).toHaveLength(1)
    const [foreign] = (await admin.list({ network_id: '2', limit: 1 })).items
    const none = await admin.resend({ network_id: '1', ids: [foreign?.id ?? ''], per_second: 100, ...by })
    await until(
      async () => (await admin.progress({ network_id: '1', id: none.id }))?.state === 'done',
      'the second resend is done',
    )
    expect((await admin.progress({ network_id: '1', id: none.id }))?.done).toBe(0)
    expect(await admin.progress({ network_id: '2', id: none.id })).toBeUndefined()
    expect(await admin.stop({ network_id: '2', id: none.id })).toBeUndefined()
  })

  test('a resend that is stopped makes nothing more due', async () => {
    const hook = await receiver()
    const all = await bench()
    const admin = await adminOf(all)
    await all.append(endpoint(hook.url), ...events('e', 3))
    await settled(all, 3)
    const { id } = await admin.resend({ network_id: '1', state: 'delivered', per_second: 1, ...by })
    await until(async () => (await admin.progress({ network_id: '1', id }))?.done === 1, 'the first is due')
    expect(await admin.stop({ network_id: '1', id })).toMatchObject({ state: 'stopped' })
    await until(() => hook.received.length === 4, 'the first is sent again')
    expect(await admin.progress({ network_id: '1', id })).toMatchObject({ state: 'stopped', done: 1, of: { count: 3 } })
  })

  test('a test event shows the response, and an endpoint of another network is not there', async () => {
    const hook = await receiver(status(201))
    const all = await bench()
    const admin = await adminOf(all)
    await all.append(endpoint(hook.url))
    await until(async () => (await admin.status({ network_id: '1' })).endpoints.length === 1, 'the relay has heard of it')
    expect(await admin.test({ network_id: '1', endpoint_id: '7' })).toMatchObject({ outcome: 'delivered', status: 201 })
    expect(await admin.test({ network_id: '2', endpoint_id: '7' })).toBeUndefined()
  })

  test('a test event that fails shows the response, and is not tried again', async () => {
    const hook = await receiver((_, response) => response.writeHead(500).end('no room'))
    const all = await bench({ retrySchedule: [0, 60] })
    const admin = await adminOf(all)
    await all.append(endpoint(hook.url))
    await until(async () => (await admin.status({ network_id: '1' })).endpoints.length === 1, 'the relay has heard of it')
    expect(await admin.test({ network_id: '1', endpoint_id: '7' })).toMatchObject({ outcome: 'status', status: 500 })
    const { items } = await admin.list({ network_id: '1', state: 'pending', limit: 10 })
    expect([items, hook.received.length]).toEqual([[], 1])
    hook.respond = (_, response) => void response.destroy()
    expect(await admin.test({ network_id: '1', endpoint_id: '7' })).toMatchObject({
      outcome: 'reset',
      status: null,
      reason: 'UND_ERR_SOCKET',
    })
  })

  test('an endpoint that is disabled is sent nothing, and its events are sent when it is enabled', async () => {
    const hook = await receiver()
    const all = await bench()
    const admin = await adminOf(all)
    await all.append(endpoint(hook.url), endpoint(hook.url, { id: '8' }), event('first'))
    await settled(all, 2)
    expect(await admin.disable({ network_id: '1', endpoint_id: '7' })).toEqual({ enabled: false })
    const stopped = { activity: 'disabled', reason: 'a person paused it' }
    await until(
      () => [...all.relay.scheduler.endpoints].some(({ endpoint: { disabled } }) => disabled !== null),
      'the relay has heard',
    )
    await all.append(event('second'))
    await settled(all, 3)
    expect((await admin.status({ network_id: '1' })).endpoints).toMatchObject([
      { endpoint_id: '7', pending: 1, ...stopped },
      { activity: 'delivering' },
    ])
    expect(await admin.enable({ network_id: '1', endpoint_id: '7' })).toEqual({ enabled: true })
    await settled(all, 4)
    expect((await admin.status({ network_id: '1' })).endpoints).toMatchObject([
      { activity: 'delivering', pending: 0, reason: null },
      {},
    ])
  })

  test('no call reaches another network: not its endpoints, its deliveries, or its resends', async () => {
    const hook = await receiver()
    const all = await bench()
    const admin = await adminOf(all)
    await all.append(
      endpoint(hook.url),
      endpoint(hook.url, { id: '9', network_id: '2' }),
      event('a'),
      event('b', { network_id: '2' }),
    )
    await settled(all, 2)
    const [foreign] = (await admin.list({ network_id: '2', limit: 1 })).items
    const id = foreign?.id ?? ''
    expect(foreign).toMatchObject({ endpoint_id: '9', event_id: 'b' })
    expect(await admin.get({ network_id: '2', id })).toMatchObject({ event_id: 'b' })
    expect(await admin.get({ network_id: '1', id })).toBeUndefined()
    expect((await admin.list({ network_id: '1', endpoint_id: '9', limit: 9 })).items).toEqual([])
    expect((await admin.list({ network_id: '1', event_id: 'b', limit: 9 })).items).toEqual([])
    expect(await admin.count({ network_id: '1', endpoint_id: '9' })).toEqual({ count: 0, exact: true })
    expect(await admin.test({ network_id: '1', endpoint_id: '9' })).toBeUndefined()
    expect([
      await admin.enable({ network_id: '1', endpoint_id: '9' }),
      await admin.disable({ network_id: '1', endpoint_id: '9' }),
    ]).toEqual([undefined, undefined])
    const own = await admin.resend({ network_id: '2', ids: [id], per_second: 10, ...by })
    expect([await admin.progress({ network_id: '1', id: own.id }), await admin.stop({ network_id: '1', id: own.id })]).toEqual([
      undefined,
      undefined,
    ])
    const theirs = await admin.resend({ network_id: '1', ids: [id], per_second: 10, ...by })
    await until(
      async () => (await admin.progress({ network_id: '1', id: theirs.id }))?.state === 'done',
      'the resend of a foreign delivery is done',
    )
    expect(await admin.progress({ network_id: '1', id: theirs.id })).toMatchObject({ done: 0 })
    const hours = (await admin.status({ network_id: '1' })).endpoints.flatMap((each) => each.hours)
    expect(hours.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(1)
    expect((await admin.activity({ network_id: '3', minutes: 60 })).minutes).toEqual([])
  })
})

describe('the control port', () => {
  test('says nothing about deliveries without the key', async () => {
    const all = await bench()
    const { url, token } = await controlOf(all)
    const paths = ['status', 'activity?minutes=5', 'deliveries?limit=5', 'deliveries/count', 'deliveries/1', 'resends/1']
    const without = await Promise.all(paths.map(async (path) => (await fetch(`${url}/${path}`)).status))
    expect(without).toEqual(paths.map(() => 401))
    expect((await fetch(`${url}/resends`, { method: 'POST', body: '{}' })).status).toBe(401)
    const wrong = relayAdminOverControl({ url, token: `${token}x` })
    await expect(wrong.status({ network_id: '1' })).rejects.toThrow('refuses the control token')
  })

  test.each([
    ['activity?network_id=1', 'minutes is missing'],
    ['deliveries?limit=100001', 'limit takes a whole number from 1 to 100000'],
    ['deliveries?limit=5&state=lost', 'state is one of pending'],
    ['deliveries?limit=5&network=2', 'there is no `network` here'],
    ['deliveries?limit=5&http_status=99', 'http_status takes a whole number from 100 to 599'],
    ['deliveries/count?since=yesterday', 'since takes a date and time'],
    ['deliveries/count?until=2026-02-31', 'until takes a date and time that exists'],
    ['activity?network_id=1&minutes=100000', 'minutes takes a whole number from 1 to 1440'],
    ['status?all=1', 'there is no `all` here'],
  ])('refuses %s: %s', async (path, problem) => {
    const all = await bench()
    const { url, token } = await controlOf(all)
    const reply = await fetch(`${url}/${path}`, { headers: { authorization: `Bearer ${token}` } })
    expect([reply.status, await reply.json()]).toEqual([422, { error: expect.stringContaining(problem) }])
  })

  test.each([
    ['nothing', {}, 'a resend needs one of'],
    ['both', { ids: ['1'], event_id: 'a' }, 'give either `ids` or a filter'],
    ['another name', { filter: { network: '2' } }, 'there is no `filter` here'],
    ['1001 deliveries', { ids: Array.from({ length: 1001 }, () => '1') }, 'ids has at most 1000 ids'],
    ['no delivery a second', { per_second: 0, ids: ['1'] }, 'per_second takes deliveries per second, above 0'],
  ])('refuses a resend of %s', async (_, selection, problem) => {
    const all = await bench()
    const { url, token } = await controlOf(all)
    const headers = { authorization: `Bearer ${token}` }
    const body = JSON.stringify({ per_second: 5, actor: 'Ada', ...selection })
    const reply = await fetch(`${url}/resends`, { method: 'POST', headers, body })
    expect([reply.status, await reply.json()]).toEqual([422, { error: expect.stringContaining(problem) }])
  })
})
