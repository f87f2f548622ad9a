/** A preview changes no byte of the storage, and names exactly the rows and events that the act then makes. */
import { expect, test } from 'vitest'
import type { Community, Preview } from '../../lib/index.ts'
import { wants } from '../../lib/outbox/wanted.ts'
import type { Storage } from '../../lib/storage/contract.ts'
import type { Table } from '../../lib/storage/table.ts'
import { webhookEndpoints } from '../../lib/storage/tables/administration.ts'
import { tables } from '../../lib/storage/tables.ts'
import { request, type TestCommunity } from '../support/community.ts'
import { createSeededCommunity, seeded } from '../support/seed.ts'
import { exampleOf, routesWhere, sendExample } from './support.ts'

type Dump = ReadonlyMap<string, ReadonlyMap<string, string>>

/** Every row of every table, as text, by table and id. When a key was last used, a request over HTTP notes by itself. */
const dumpOf = (storage: Storage): Promise<Dump> =>
  storage.transaction(
    async (tx) => {
      const dump = new Map<string, ReadonlyMap<string, string>>()
      for (const table of tables as readonly Table[])
        dump.set(
          table.name,
          new Map((await tx.find(table, {})).map((row) => [row.id, JSON.stringify({ ...row, last_used_at: null })])),
        )
      return dump
    },
    { readOnly: true },
  )

/** What has become of the rows of each table. */
function differences(before: Dump, after: Dump) {
  const entries = [...after].map(([table, rows]) => {
    const old = before.get(table) ?? new Map<string, string>()
    const ids = [...rows.keys()]
    return [
      table,
      {
        inserted: ids.filter((id) => !old.has(id)).length,
        changed: ids.filter((id) => old.has(id) && old.get(id) !== rows.get(id)).length,
        removed: [...old.keys()].filter((id) => !rows.has(id)).length,
      },
    ] as const
  })
  return Object.fromEntries(entries.filter(([, counts]) => Object.values(counts).some((count) => count > 0)))
}

/** What has come to the outbox, as a preview names it. */
async function happened({ records, storage }: TestCommunity, since: number) {
  const events = records.slice(since).filter((record) => record.kind === 'event')
  const endpoints = await storage.transaction((tx) => tx.find(webhookEndpoints, {}), { readOnly: true })
  const deliveries = endpoints.map((endpoint) => ({
    endpoint_id: endpoint.id,
    events: events.filter((event) => wants(endpoint, event)).length,
  }))
  const types = Map.groupBy(events, ({ event_type }) => event_type)
  return {
    events: Object.fromEntries([...types].map(([type, some]) => [type, some.length])),
    deliveries: deliveries.filter(({ events }) => events > 0),
  }
}

async function setUp() {
  const told: unknown[] = []
  const asked: boolean[] = []
  const t = await createSeededCommunity({
    hooks: { before: ({ isPreview }) => void asked.push(isPreview), after: (event) => void told.push(event) },
  })
  const endpoint = { network: '1', token: true } as const
  await t.community.endpoints.upsert({ ...endpoint, url: 'https://one.example/hook' })
  await t.community.endpoints.upsert({
    ...{ ...endpoint, url: 'https://two.example/hook', events: ['MemberUpdated', 'MemberLeft', 'PostCreated', 'CommentCreated'] },
    filter: {
      any: [
        { path: '/id', equals: seeded.member },
        { path: '/space_id', equals: seeded.space },
      ],
    },
  })
  await t.community.endpoints.upsert({ ...endpoint, url: 'https://host.example/hook', audience: 'host' })
  return { ...t, told, asked }
}

type AnyPreview = (id: string, input: object) => Promise<Preview>
type AnyCall = (id: string, input: object) => Promise<unknown>
const previewOf = ({ preview }: Community): AnyPreview => preview as unknown as AnyPreview
const callOf = ({ call }: Community): AnyCall => call as unknown as AnyCall

const inputOf = (id: string) => {
  const { params, query, body } = exampleOf(id)
  return { network: '1', params, query, ...(body ? { body } : {}) }
}

const askFor = ({ community, token }: TestCommunity, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  request(community, 'POST', '/admin/v1/networks/1/previews', {
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  })

const writing = routesWhere(({ route }) => route.method !== 'GET' && route.operation.prepare === undefined)

test.each(writing)('a preview of %s changes nothing, and names what the act then changes', async (id) => {
  const t = await setUp()
  const [before, records] = [await dumpOf(t.storage), t.records.length]
  const preview = await previewOf(t.community)(id, inputOf(id))
  const { network: _network, ...previewed } = inputOf(id)
  const shown = await askFor(t, { operation: id, ...previewed })
  const { result: _result, ...parts } = preview
  expect({ status: shown.status, body: shown.body }).toEqual({ status: 200, body: parts })
  expect(await dumpOf(t.storage)).toEqual(before)
  expect(t.records.length).toBe(records)
  expect(t.asked).toEqual([true, true])

  const once = exampleOf(id).route.method === 'POST' ? { 'idempotency-key': 'once' } : {}
  const acted = await sendExample(t, id, { headers: { 'if-preview': preview.token, ...once } })
  expect(acted.status, JSON.stringify(acted.body)).toBeLessThan(300)
  // The kept response of a key is not the operation's.
  const { idempotency_keys: _, ...changed } = differences(before, await dumpOf(t.storage))
  expect(preview.rows).toEqual(changed)
  const { events, deliveries } = await happened(t, records)
  expect(preview.events).toEqual(events)
  expect(preview.deliveries).toEqual(deliveries)
  // Of the act alone: the events of the preview are gone.
  expect(t.told.length).toBe(Object.values(events).reduce((sum, count) => sum + count, 0))
  expect(t.asked).toEqual([true, true, false])
  expect(t.faults).toEqual([])
})

test('an operation that stores a file, or that only reads, has no preview', async () => {
  const t = await setUp()
  const preview = previewOf(t.community)
  await expect(preview('assets.create', inputOf('assets.create'))).rejects.toMatchObject({ status: 422 })
  await expect(callOf(t.community)('assets.create', { ...inputOf('assets.create'), if: 'a' })).rejects.toMatchObject({
    status: 422,
  })
  await expect(preview('members.list', { network: '1' })).rejects.toMatchObject({ status: 422 })
  await expect(preview('members.lits', { network: '1' })).rejects.toThrow(TypeError)
})

test('a preview over HTTP needs the scope of the request that it is of', async () => {
  const t = await createSeededCommunity({}, ['tags:write'])
  const tag = { operation: 'tags.delete', params: { id: seeded.spareTag } }
  const seen = await Promise.all([askFor(t, tag), askFor(t, { operation: 'members.delete', params: { id: seeded.member } })])
  expect(seen.map(({ status }) => status)).toEqual([200, 403])
  expect(seen[1]?.body.message).toBe('The API token lacks the scope members:write.')
  expect((await askFor(t, tag, { authorization: 'Bearer none' })).status).toBe(401)
})

test.each([
  [{}, 'operation is required'],
  [
    { operation: 'members.delet' },
    'operation must be the id of an operation; did you mean members.delete or members.list or members.replace?',
  ],
  [{ operation: 'members.delete' }, 'params.id is required'],
  [{ operation: 'members.delete', params: [] }, 'params must be a plain object'],
  [{ operation: 'members.list' }, 'members.list only reads, so it has no preview'],
  [{ operation: 'assets.create', body: { asset_style: 'cover' } }, 'assets.create stores a file, so it has no preview'],
  [{ operation: 'tags.create', body: { title: '' } }, "title can't be blank"],
])('a preview over HTTP of %j is refused', async (body, error) => {
  const t = await createSeededCommunity()
  expect(await askFor(t, body)).toMatchObject({ status: 422, body: { error } })
})

test('a preview over HTTP is refused as the request would be, and only POST is there', async () => {
  const t = await createSeededCommunity()
  expect(await askFor(t, { operation: 'tags.delete', params: { id: '42' } })).toMatchObject({ status: 404 })
  const got = await request(t.community, 'GET', '/admin/v1/networks/1/previews', {
    headers: { authorization: `Bearer ${t.token}` },
  })
  expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
})

test('a preview counts as a request', async () => {
  const counted: string[] = []
  const rateLimiter = {
    count: async (key: string) => {
      counted.push(key)
      return { allowed: counted.length < 2, remaining: 0, resetSeconds: 1 }
    },
  }
  const t = await createSeededCommunity({ rateLimiter })
  await t.community.networks.update('1', { service_plan: 'standard' })
  const tag = { operation: 'tags.delete', params: { id: seeded.spareTag } }
  expect([(await askFor(t, tag)).status, (await askFor(t, tag)).status]).toEqual([200, 429])
})

test('a request with the token of a preview is a 409 if something has changed, and no response of its key', async () => {
  const t = await createSeededCommunity()
  const body = { space_id: seeded.space, title: 'New' }
  const { body: preview } = await askFor(t, { operation: 'posts.create', body })
  const headers = { 'if-preview': preview.token, 'idempotency-key': 'once' }
  const other = { ...headers, 'idempotency-key': 'other' }
  const stale = await t.send('posts.create', { body: { ...body, title: 'Other' }, headers })
  expect([stale.status, stale.body]).toEqual([
    409,
    { error: 'This would no longer change what its preview has named. Preview it again' },
  ])
  const { body: post } = await t.send('posts.create', { body, headers: other })
  const again = await t.send('posts.create', { body, headers: other })
  expect([again.body.id, again.headers.get('idempotency-replayed')]).toEqual([post.id, 'true'])
})

test('a request with an empty `If-Preview` is a 409, because no preview has that token', async () => {
  const t = await createSeededCommunity()
  const body = { space_id: seeded.space, title: 'New' }
  expect((await t.send('posts.create', { body, headers: { 'if-preview': '' } })).status).toBe(409)
  expect((await t.send('posts.list', { headers: { 'if-preview': '' } })).status).toBe(200)
})

test('a preview takes the parameters that the request may have in its body', async () => {
  const t = await createSeededCommunity()
  const leave = { operation: 'members.remove_from_network', params: { id: seeded.member } }
  const [inQuery, inBody, without] = await Promise.all(
    [{ query: { cancel_plans: true } }, { body: { cancel_plans: true } }, {}].map((more) => askFor(t, { ...leave, ...more })),
  )
  expect(inBody).toMatchObject({ status: 200, body: inQuery?.body })
  expect(inBody?.body.token).not.toBe(without?.body.token)
})
