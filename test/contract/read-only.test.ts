/** A network that is read-only: every write of the API and of the host is refused, and everything else goes on. */
import { expect, test } from 'vitest'
import { type HostCalls, isApiError } from '../../lib/index.ts'
import { examplePayload } from '../../lib/openapi/example-payload.ts'
import { routesOf } from '../../lib/operation.ts'
import { operations } from '../../lib/operations.ts'
import type { Table } from '../../lib/storage/table.ts'
import { tables } from '../../lib/storage/tables.ts'
import { createSeededCommunity, seeded } from '../support/seed.ts'
import { exampleOf, pathOf } from './support.ts'

const body = {
  error: 'read_only',
  message: 'The network is read-only for now. Nothing was written; try again later',
  status: 503,
}

async function readOnlyNetwork() {
  const network = await createSeededCommunity()
  const { community } = network
  const endpoint = await community.endpoints.upsert({ network: '1', url: 'https://example.org/hook', token: 'token' })
  const { key } = await community.keys.create({ network: '1', name: 'Export', scopes: ['*:read'] })
  const reading = await network.newToken(['*:read'])
  await community.members.ban('1', seeded.loner)
  await community.networks.update('1', { read_only: true })
  /** Everything that is stored, but for when keys were last used, and how much the outbox was given. */
  async function stored() {
    const all = (tables as readonly Table[]).filter(({ name }) => name !== 'api_keys')
    const rows = await network.storage.transaction((tx) => Promise.all(all.map((table) => tx.find(table, {}))), {
      readOnly: true,
    })
    return { rows, records: network.records.length }
  }
  return { ...network, endpoint, key, reading, stored }
}

type ReadOnly = Awaited<ReturnType<typeof readOnlyNetwork>>

const shared = await readOnlyNetwork()

function send(id: string, given: unknown = exampleOf(id).body, token = shared.token): Promise<Response> {
  const { route, params, query } = exampleOf(id)
  const hasBody = given !== undefined && route.method !== 'GET'
  const url = `https://api.test${pathOf({ route, params })}?${new URLSearchParams(query)}`
  const type = hasBody ? { 'content-type': 'application/json' } : {}
  const headers = { authorization: `Bearer ${token}`, ...type }
  return shared.community.fetch(
    new Request(url, { method: route.method, headers, ...(hasBody ? { body: JSON.stringify(given) } : {}) }),
  )
}

const routes = routesOf(operations)
const ids = (holds: (method: string) => boolean) => routes.filter(({ method }) => holds(method)).map(({ id }) => id)

test.each(ids((method) => method !== 'GET'))('%s is a 503 with Retry-After, whatever its body', async (id) => {
  const before = await shared.stored()
  for (const response of [await send(id), await send(id, { no: 'such field' })]) {
    expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([503, '30', body])
  }
  expect(await shared.stored()).toEqual(before)
})

test.each(ids((method) => method === 'GET'))('%s responds as ever', async (id) => {
  expect((await send(id)).status).toBe(exampleOf(id).route.operation.status)
})

test('a token without the scope is refused as such, and a preview as the write', async () => {
  expect((await send('members.delete', undefined, shared.reading)).status).toBe(403)
  const preview = await shared.community.fetch(
    new Request('https://api.test/admin/v1/networks/1/previews', {
      method: 'POST',
      headers: { authorization: `Bearer ${shared.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ operation: 'members.delete', params: { id: seeded.member } }),
    }),
  )
  expect([preview.status, await preview.json()]).toEqual([503, body])
})

async function everyOf(rows: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const row of rows) all.push(row)
  return all
}

interface HostCall {
  readonly run: (calls: HostCalls, t: ReadOnly) => Promise<unknown>
  /** Whether it is done all the same, for what it says. */
  readonly goesOn?: string
}

const network = '1'
const member_id = seeded.member
const owner = { email: 'x@example.org', first_name: 'X', last_name: '' }
const another = { subdomain: 'second', title: 'Second', owner }
const subject = { type: 'network', id: '1' } as const
const reads = 'it only reads'
const writes = (run: HostCall['run']): HostCall => ({ run })
const goesOn = (why: string, run: HostCall['run']): HostCall => ({ run, goesOn: why })

/** Each call of the host. A new one fails the test below until it is here. */
const calls: Readonly<Record<string, HostCall>> = {
  call: writes(({ call }) => call('members.delete', { network, params: { id: member_id } })),
  publish: writes(({ publish }) =>
    publish({ network, event: 'MemberTagRemoved', payload: examplePayload('MemberTagRemoved', '1') as never }),
  ),
  acceptInvite: writes(({ acceptInvite }) => acceptInvite({ network, invite: seeded.invite })),
  consumeOnce: goesOn('forms of a relay need it', ({ consumeOnce }) => consumeOnce({ network, key: 'form' })),
  giveBack: goesOn('forms of a relay need it', ({ giveBack }) => giveBack({ network, key: 'other' })),
  overview: goesOn(reads, ({ overview }) => overview(network)),
  export: goesOn(reads, ({ export: rows }) => everyOf(rows(network, { what: 'members', trueAddresses: true }))),
  exportPage: goesOn(reads, ({ exportPage }) => exportPage(network, { what: 'members' })),
  'networks.create': goesOn('it is another network', ({ networks }) => networks.create(another)),
  'networks.list': goesOn(reads, ({ networks }) => networks.list()),
  'networks.page': goesOn(reads, ({ networks }) => networks.page()),
  'networks.find': goesOn(reads, ({ networks }) => networks.find(network)),
  'networks.show': goesOn(reads, ({ networks }) => networks.show(network)),
  'networks.update': writes(({ networks }) => networks.update(network, { title: 'Other' })),
  'keys.list': goesOn(reads, ({ keys }) => keys.list(network)),
  'keys.page': goesOn(reads, ({ keys }) => keys.page(network)),
  'keys.find': goesOn(reads, ({ keys }, { key }) => keys.find(network, key.id)),
  'keys.create': writes(({ keys }) => keys.create({ network, name: 'New', scopes: ['*'] })),
  'keys.revoke': writes(({ keys }, { key }) => keys.revoke(network, key.id)),
  'endpoints.list': goesOn(reads, ({ endpoints }) => endpoints.list(network)),
  'endpoints.find': goesOn(reads, ({ endpoints }, { endpoint }) => endpoints.find(network, endpoint.id)),
  'endpoints.upsert': writes(({ endpoints }) => endpoints.upsert({ network, url: 'https://two.example', token: 'k' })),
  'endpoints.update': writes(({ endpoints }, { endpoint }) => endpoints.update(network, endpoint.id, { name: 'Shop' })),
  'endpoints.rotate': writes(({ endpoints }, { endpoint }) => endpoints.rotate(network, endpoint.id, { token: true })),
  'endpoints.remove': writes(({ endpoints }, { endpoint }) => endpoints.remove(network, endpoint.id)),
  'endpoints.reveal': goesOn('it reads, with a line', ({ endpoints }, { endpoint }) => endpoints.reveal(network, endpoint.id)),
  'endpoints.enable': goesOn('deliveries go on', ({ endpoints }, { endpoint }) => endpoints.enable(network, endpoint.id)),
  'endpoints.disable': goesOn('deliveries go on', ({ endpoints }, { endpoint }) => endpoints.disable(network, endpoint.id)),
  'endpoints.republish': goesOn('deliveries go on', ({ endpoints }) => endpoints.republish(network)),
  'endpoints.forgetOld': goesOn('it does nothing', ({ endpoints }) => endpoints.forgetOld(network)),
  'members.list': goesOn(reads, ({ members }) => members.list(network)),
  'members.get': goesOn(reads, ({ members }) => members.get(network, member_id)),
  'members.import': writes(({ members }) => members.import(network, [{ email: 'y@example.org', name: 'Y' }])),
  'members.bulk': writes(({ members }) => members.bulk(network, { ids: [member_id] }, { tag: seeded.spareTag })),
  'members.unban': writes(({ members }) => members.unban(network, seeded.loner)),
  'members.erase': writes(({ members }) => members.erase(network, member_id)),
  'members.ban': writes(({ members }) => members.ban(network, member_id)),
  'members.remove': writes(({ members }) => members.remove(network, member_id)),
  'members.changeRole': writes(({ members }) => members.changeRole(network, member_id, 'moderator')),
  'members.export': goesOn('it reads, with a line', ({ members }) => everyOf(members.export(network, member_id))),
  'members.exportPage': goesOn('it reads, with a line', ({ members }) => members.exportPage(network, member_id)),
  'tags.create': writes(({ tags }) => tags.create(network, { title: 'New' } as never)),
  'tags.merge': writes(({ tags }) => tags.merge(network, seeded.tag, seeded.spareTag)),
  'reports.list': goesOn(reads, ({ reports }) => reports.list(network)),
  'reports.close': writes(async ({ reports }) => {
    const { items } = await reports.list(network)
    return reports.close(network, items[0]?.id ?? '0', 'dismiss')
  }),
  'tags.list': goesOn(reads, ({ tags }) => tags.list(network)),
  'audit.list': goesOn(reads, ({ audit }) => audit.list({ network })),
  'audit.record': goesOn('a relay is administered', ({ audit }) =>
    audit.record({ network, action: 'deliveries.resent', subject }),
  ),
}

test('every call of the host is listed here', () => {
  const { notify: _, by: __, ...own } = shared.community
  const namesOf = (of: object) => Object.entries(of).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []))
  const groups = Object.entries(own).flatMap(([group, value]) =>
    typeof value === 'object' && !Array.isArray(value) ? namesOf(value).map((name) => `${group}.${name}`) : [],
  )
  const notCalls = ['fetch', 'handle', 'serve', 'tokenRefusal', 'inFlight', 'metrics', 'traffic', 'owns', 'using', 'preview']
  const alone = namesOf(own).filter((name) => ![...notCalls, 'act', 'openapi', 'close'].includes(name))
  expect([...groups, ...alone].toSorted()).toEqual(Object.keys(calls).toSorted())
})

const outcomeOf = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    () => 'done',
    (error: unknown) => (isApiError(error) ? { body: error.body, headers: error.headers } : error),
  )
const refused = { body, headers: { 'retry-after': '30' } }

test.each(Object.entries(calls).filter(([, { goesOn }]) => !goesOn))(
  'the host gets the same refusal of %s',
  async (_name, { run }) => {
    const before = await shared.stored()
    expect(await outcomeOf(run(shared.community, shared))).toEqual(refused)
    expect(await outcomeOf(shared.community.preview((inside) => run(inside, shared)))).toEqual(refused)
    expect(await shared.stored()).toEqual(before)
  },
)

test.each(Object.entries(calls).filter(([, { goesOn }]) => goesOn))('%s goes on', async (_name, { run }) => {
  const t = await readOnlyNetwork()
  expect(await outcomeOf(run(t.community, t))).toBe('done')
})

test('turning it off is possible, and changes that come with it', async () => {
  const { community, send, network } = await readOnlyNetwork()
  const update = community.by({ actor: 'ada' }).networks.update
  await expect(update('1', { read_only: true, title: 'Other' })).rejects.toMatchObject({ status: 503 })
  expect(await update('1', { read_only: true })).toMatchObject({ read_only: true, title: network.title })
  expect(await update('1', { read_only: false, title: 'Other' })).toMatchObject({ read_only: false, title: 'Other' })
  expect((await send('tags.create', { body: { title: 'New' } })).status).toBe(201)
  const { items } = await community.audit.list({ network: '1', per_page: 2 })
  expect(items.map(({ actor, action, details }) => ({ actor, action, details }))).toEqual([
    {
      ...{ actor: 'ada', action: 'network.updated' },
      details: { read_only: { from: true, to: false }, title: { from: network.title, to: 'Other' } },
    },
    { actor: 'host', action: 'network.updated', details: { read_only: { from: false, to: true } } },
  ])
})

test('a hook that may have side effects is not called', async () => {
  const called: string[] = []
  const { community } = await createSeededCommunity({ hooks: { before: async ({ id }) => void called.push(id) } })
  await community.networks.update('1', { read_only: true })
  const write = community.call('members.delete', { network, params: { id: member_id } })
  await expect(write).rejects.toMatchObject({ status: 503 })
  expect(called).toEqual([])
})

test('an endpoint is registered as it is, as hosts do when they start, and not otherwise', async () => {
  const { community } = await createSeededCommunity()
  const url = 'https://start.example/hook'
  const given = { network: '1', url, name: 'Own', token: true, secrets: true, events: ['PostCreatedHook'] } as const
  const { token, secrets, ...made } = await community.endpoints.upsert(given)
  const listed = await community.endpoints.upsert({
    network: '1',
    url: 'https://listed.example/',
    token: 'k',
    headers: { 'x-a': 'b' },
  })
  await community.networks.update('1', { read_only: true })
  expect([token, secrets]).toEqual([expect.any(String), [expect.any(String)]])
  expect(await community.endpoints.upsert(given)).toEqual(made)
  expect(await community.endpoints.upsert({ network: '1', url: listed.url, token: 'k', headers: { 'x-a': 'b' } })).toEqual(listed)
  for (const change of [
    { name: 'Other' },
    { token: 'other' },
    { secrets: null },
    { events: null },
    { url: 'https://new.example/' },
  ])
    await expect(community.endpoints.upsert({ ...given, ...change })).rejects.toMatchObject({ status: 503, body })
})

test('a repeated request is refused, too, and gets its first response when the network goes on', async () => {
  const { community, send } = await createSeededCommunity()
  const create = () => send('tags.create', { body: { title: 'Once' }, headers: { 'idempotency-key': 'k' } })
  const first = await create()
  await community.networks.update('1', { read_only: true })
  expect((await create()).status).toBe(503)
  await community.networks.update('1', { read_only: false })
  expect(await create()).toMatchObject({ status: 201, body: first.body })
})
