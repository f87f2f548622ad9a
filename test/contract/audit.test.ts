/** The audit: every change of a key, endpoint or network leaves its lines, and a change that does not happen leaves none. */
import { expect, test } from 'vitest'
import type { Audit, AuditEntry, AuditQuery, Community, HostCalls } from '../../lib/index.ts'
import { createCommunity } from '../../lib/index.ts'
import { attributes, credentialNames } from '../../lib/outbox/endpoint-attributes.ts'
import { scoped } from '../../lib/storage/scoped.ts'
import { audit } from '../../lib/storage/tables/administration.ts'
import { createTestCommunity, nobody } from '../support/community.ts'
import { wrappedStorage } from '../support/storage.ts'

const ada = { actor: 'ada@example.org', address: '203.0.113.7' }
const secret = (byte: number) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`
/** Every secret that a test here gives or makes, for the search at its end. */
const given = { key: 'key-of-the-receiver', newKey: 'another-key-of-the-receiver', secret: secret(7), newSecret: secret(8) }

/** Every attribute that a line shows. */
const unset = Object.fromEntries(
  Object.keys(attributes)
    .filter((name) => !credentialNames.some((each) => each === name))
    .map((name) => [name, null]),
)

async function setUp() {
  const t = await createTestCommunity()
  const { key } = await t.community.keys.create({ network: '1', name: 'Export', scopes: ['*:read'] })
  const endpoint = await t.community.endpoints.upsert({
    ...{ network: '1', url: 'https://example.org/hook?token=hidden', name: 'Shop', token: given.key, secrets: [given.secret] },
  })
  const before = new Set((await everything(t.community)).map(({ id }) => id))
  const fresh = async () => (await everything(t.community)).filter(({ id }) => !before.has(id))
  return { ...t, key, endpoint, fresh }
}

type SetUp = Awaited<ReturnType<typeof setUp>>

/** Every entry, the oldest first, page by page. */
async function everything({ audit }: Pick<Community, 'audit'>, query: Partial<AuditQuery> = {}): Promise<readonly AuditEntry[]> {
  const entries: AuditEntry[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Awaited<ReturnType<Audit['list']>> = await audit.list({
      ...{ network: '1', order: 'oldest', ...query },
      ...(cursor === undefined ? {} : { cursor }),
    })
    entries.push(...page.items)
    cursor = page.next
  }
  return entries
}

interface Act {
  readonly run: (calls: HostCalls, t: SetUp) => Promise<unknown>
  readonly leaves: (t: SetUp) => readonly object[]
}

const ofEndpoint = (action: string, { endpoint }: SetUp, details: object, name = 'Shop') => ({
  action,
  subject: { type: 'endpoint', id: endpoint.id, name },
  details,
})

/** Each call that the groups have: what it does, and the lines that it leaves. A new call fails the test below until it is here. */
const calls: Readonly<Record<string, Act | 'reads'>> = {
  'networks.list': 'reads',
  'networks.page': 'reads',
  'networks.find': 'reads',
  'networks.show': 'reads',
  'networks.create': {
    run: ({ networks }) =>
      networks.create({
        ...{ id: '2', subdomain: 'second', title: 'Second', owner_id: '22' },
        owner: { email: 'x@example.org', first_name: 'X', last_name: '' },
      }),
    leaves: () => [],
  },
  'networks.update': {
    run: ({ networks }) => networks.update('1', { title: 'Demo', subtitle: 'Of paint', service_plan: 'premium' }),
    leaves: () => [
      {
        action: 'network.updated',
        subject: { type: 'network', id: '1', name: 'Demo' },
        details: { subtitle: { from: '', to: 'Of paint' }, service_plan: { from: 'unlimited', to: 'premium' } },
      },
    ],
  },
  'keys.list': 'reads',
  'keys.page': 'reads',
  'keys.find': 'reads',
  'keys.create': {
    run: ({ keys }) => keys.create({ network: '1', name: 'Import', scopes: ['members:write'] }),
    leaves: ({ owner }) => [
      {
        action: 'key.created',
        subject: { type: 'key', id: expect.any(String), name: 'Import' },
        details: { scopes: ['members:write'], member_id: owner.id, expires_at: null },
      },
    ],
  },
  'keys.revoke': {
    run: ({ keys }, { key }) => keys.revoke('1', key.id),
    leaves: ({ key }) => [{ action: 'key.revoked', subject: { type: 'key', id: key.id, name: 'Export' }, details: {} }],
  },
  'endpoints.list': 'reads',
  'endpoints.find': 'reads',
  'endpoints.upsert': {
    run: ({ endpoints }) =>
      endpoints.upsert({ network: '1', url: 'https://two.example/hook', token: given.newKey, secrets: true }),
    leaves: () => [
      {
        action: 'endpoint.added',
        subject: { type: 'endpoint', id: expect.any(String), name: 'two.example' },
        details: {
          ...unset,
          ...{ url: 'https://two.example/hook', audience: 'integration', enabled: true, order: 'none', signed: true },
        },
      },
    ],
  },
  'endpoints.update': {
    run: ({ endpoints }, { endpoint }) =>
      endpoints.update('1', endpoint.id, { rate_per_second: 5, token: given.newKey, secrets: [given.newSecret] }),
    leaves: (t) => [
      ofEndpoint('endpoint.updated', t, { rate_per_second: { from: null, to: 5 }, token: 'replaced', secrets: 'replaced' }),
    ],
  },
  'endpoints.reveal': {
    run: ({ endpoints }, { endpoint }) => endpoints.reveal('1', endpoint.id),
    leaves: (t) => [ofEndpoint('endpoint.revealed', t, {})],
  },
  'endpoints.rotate': {
    run: ({ endpoints }, { endpoint }) =>
      endpoints.rotate('1', endpoint.id, { token: given.newKey, secrets: [given.newSecret], keepOldSeconds: 60 }),
    leaves: (t) => [
      ofEndpoint('endpoint.token_rotated', t, { keep_old_seconds: 60 }),
      ofEndpoint('endpoint.secrets_rotated', t, { keep_old_seconds: 60 }),
    ],
  },
  'endpoints.enable': {
    run: ({ endpoints }, { endpoint }) => endpoints.enable('1', endpoint.id),
    leaves: (t) => [ofEndpoint('endpoint.enabled', t, {})],
  },
  'endpoints.disable': {
    run: ({ endpoints }, { endpoint }) => endpoints.disable('1', endpoint.id),
    leaves: (t) => [ofEndpoint('endpoint.disabled', t, { enabled: { from: true, to: false } })],
  },
  'endpoints.remove': {
    run: ({ endpoints }, { endpoint }) => endpoints.remove('1', endpoint.id),
    leaves: (t) => [ofEndpoint('endpoint.deleted', t, { url: 'https://example.org/hook?…' })],
  },
  'endpoints.republish': {
    run: ({ endpoints }) => endpoints.republish('1'),
    leaves: () => [
      { action: 'endpoints.republished', subject: { type: 'network', id: '1', name: null }, details: { endpoints: 1 } },
    ],
  },
  // It changes nothing that a person configures.
  'endpoints.forgetOld': { run: ({ endpoints }) => endpoints.forgetOld('1'), leaves: () => [] },
  'audit.list': 'reads',
  'audit.record': {
    run: ({ audit }, { endpoint }) =>
      audit.record({
        network: '1',
        action: 'endpoint.tested',
        subject: { type: 'endpoint', id: endpoint.id },
        details: { status: 204 },
      }),
    leaves: ({ endpoint }) => [
      { action: 'endpoint.tested', subject: { type: 'endpoint', id: endpoint.id, name: null }, details: { status: 204 } },
    ],
  },
}

test('every call of the groups that the audit is about is listed here', async () => {
  const { community } = await createTestCommunity()
  const { networks, keys, endpoints, audit } = community
  const there = Object.entries({ networks, keys, endpoints, audit }).flatMap(([group, own]) =>
    Object.keys(own).map((name) => `${group}.${name}`),
  )
  expect(there.toSorted()).toEqual(Object.keys(calls).toSorted())
})

const acts = Object.entries(calls).flatMap(([name, act]) => (act === 'reads' ? [] : [[name, act] as const]))

test.each(acts)('%s leaves its lines, with the actor, the address and the time', async (_name, { run, leaves }) => {
  const t = await setUp()
  t.clock.advance(60_000)
  await run(t.community.by(ada), t)
  const at = new Date(t.clock.now()).toISOString()
  const shared = { id: expect.stringMatching(/^\d+$/), network_id: '1', at, ...ada }
  expect(await t.fresh()).toEqual(leaves(t).map((line) => ({ ...shared, ...line })))
})

test.each(acts)(
  '%s leaves no line if its transaction fails, and changes nothing without its line',
  async (_name, { run, leaves }) => {
    const t = await setUp()
    const lines: unknown[] = []
    const storage = wrappedStorage(t.storage, {
      tx: (tx) => ({
        async insert(table, row) {
          const inserted = await tx.insert(table, row)
          if (table.name !== 'audit') return inserted
          lines.push(row)
          throw new Error('no more lines')
        },
      }),
    })
    // A second later: at the same moment it would draw ids that are taken.
    const clock = { now: () => t.clock.now() + 1_000 }
    const community = createCommunity({ storage, clock, hooks: { onError() {} } })
    const whole = async () => [
      ...(await t.community.networks.list()),
      ...(await t.community.keys.list('1')),
      ...(await t.community.endpoints.list('1')),
    ]
    const before = await whole()
    const outcome = await run(community, t).then(
      () => 'done',
      (error: unknown) => String(error),
    )
    // A network that is made has its line in itself.
    expect(outcome === 'done').toBe(lines.length === 0)
    expect(lines.length > 0 || leaves(t).length === 0).toBe(true)
    expect(await t.fresh()).toEqual([])
    if (lines.length > 0) expect(await whole()).toEqual(before)
  },
)

test('a new network begins with the line of its creation', async () => {
  const { community } = await createTestCommunity()
  const owner = { email: 'x@example.org', first_name: 'X', last_name: '' }
  const made = await community.by({ actor: 'ada' }).networks.create({ subdomain: 'second', title: 'Second', owner })
  expect(await everything(community, { network: 'second' })).toMatchObject([
    {
      ...{ network_id: made.network.id, actor: 'ada', address: null, action: 'network.created' },
      subject: { type: 'network', id: made.network.id, name: 'Second' },
      details: { subdomain: 'second', title: 'Second', owner_id: made.owner.id },
    },
  ])
})

test('a change that is refused or changes nothing leaves no line', async () => {
  const { community, key, endpoint, fresh } = await setUp()
  const { networks, keys, endpoints } = community
  await keys.revoke('1', key.id)
  const before = await fresh()
  const refused = [
    () => keys.revoke('1', key.id),
    () => keys.revoke('1', nobody),
    () => keys.create({ network: '1', name: 'x', scopes: ['no such'] }),
    () => keys.create({ network: '1', name: 'x', scopes: ['*'], member_id: nobody }),
    () => endpoints.update('1', nobody, { name: 'x' }),
    () => endpoints.update('1', endpoint.id, { rate_per_second: -1 }),
    () => endpoints.remove('1', nobody),
    () => endpoints.rotate('1', endpoint.id, { token: given.key }),
    () => networks.update('1', { title: '' }),
    () => networks.update(nobody, { title: 'x' }),
  ]
  for (const call of refused) await expect(call()).rejects.toThrow()
  await networks.update('1', { title: 'Demo' })
  await endpoints.update('1', endpoint.id, { name: 'Shop', token: given.key, secrets: [given.secret] })
  await endpoints.upsert({ network: '1', url: endpoint.url, token: true, secrets: true })
  expect(await fresh()).toEqual(before)
})

test('without a name the actor is `host`, and an update of `enabled` alone is an endpoint that is enabled or disabled', async () => {
  const { community, endpoint, fresh } = await setUp()
  await community.endpoints.update('1', endpoint.id, { enabled: false })
  await community.endpoints.upsert({ network: '1', url: endpoint.url, enabled: true })
  expect((await fresh()).map(({ actor, address, action, details }) => ({ actor, address, action, details }))).toEqual([
    { actor: 'host', address: null, action: 'endpoint.disabled', details: { enabled: { from: true, to: false } } },
    { actor: 'host', address: null, action: 'endpoint.enabled', details: { enabled: { from: false, to: true } } },
  ])
})

test('no secret that anybody gave or that was made is in a line', async () => {
  const { community, storage, endpoint } = await setUp()
  const calls = community.by(ada)
  const { token } = await calls.keys.create({ network: '1', name: 'Import', scopes: ['*'] })
  const made = await calls.endpoints.upsert({ network: '1', url: 'https://two.example/?key=hidden', token: true, secrets: true })
  const rotated = await calls.endpoints.rotate('1', made.id, { token: true, secrets: true })
  await calls.endpoints.update('1', endpoint.id, {
    token: given.newKey,
    secrets: [given.newSecret],
    url: 'https://new.example/?a=hidden',
  })
  await calls.endpoints.update('1', endpoint.id, { secrets: null })
  await calls.endpoints.remove('1', endpoint.id)
  const rows = JSON.stringify(await storage.transaction((tx) => tx.find(audit, {}), { readOnly: true }))
  const secrets = [
    ...Object.values(given),
    token,
    made.token,
    ...(made.secrets ?? []),
    rotated.token,
    ...(rotated.secrets ?? []),
    'hidden',
  ]
  for (const each of secrets) expect(rows).not.toContain(each ?? '?')
  expect(rows).toContain('https://new.example/?…')
})

test('control characters are written out, and texts, lists and details have a bound', async () => {
  const { community, endpoint, fresh } = await setUp()
  const hostile = { actor: 'ada\u001b[31m\u202e\u0000\ud800', address: `\r\n${'9'.repeat(5000)}` }
  await community.by(hostile).endpoints.disable('1', endpoint.id)
  await community.audit.record({
    ...{ network: '1', action: 'deliveries.resent', subject: { type: 'network', id: '1', name: '\u0007bell' } },
    details: {
      list: Array.from({ length: 500 }, (_, place) => place),
      deep: { a: { b: { c: { d: 1 } } } },
      text: 'x'.repeat(999),
    },
  })
  await community.audit.record({
    ...{ network: '1', action: 'deliveries.resent', subject: { type: 'network', id: '1' } },
    details: { large: Array.from({ length: 100 }, () => 'y'.repeat(200)), small: 1 },
  })
  const [disabled, resent, large] = await fresh()
  expect(disabled?.actor).toBe('ada\\u001b[31m\\u202e\\u0000\ufffd')
  expect(disabled?.address).toMatch(/^\\u000d\\u000a9{60,}…$/)
  expect(disabled?.address?.length).toBe(100)
  expect(resent?.subject.name).toBe('\\u0007bell')
  expect(resent?.details['list']).toHaveLength(101)
  expect(resent?.details['deep']).toEqual({ a: { b: { c: '…' } } })
  expect(resent?.details['text']).toHaveLength(200)
  expect(large?.details).toEqual({ large: '…', small: '…' })
  // The same name finds its lines again.
  expect((await community.audit.list({ network: '1', actor: hostile.actor })).items).toEqual([disabled])
})

test('a list is the newest first, page by page, and takes a filter of each field', async () => {
  const { community, clock, key, endpoint } = await setUp()
  const start = clock.now()
  for (let minute = 0; minute < 6; minute++) {
    const calls = community.by({ actor: minute % 2 === 0 ? 'ada' : 'bob' })
    await (minute < 3 ? calls.endpoints.disable('1', endpoint.id) : calls.endpoints.enable('1', endpoint.id))
    clock.advance(60_000)
  }
  await community.by({ actor: 'bob' }).keys.revoke('1', key.id)
  const all = await everything(community)
  const first = await community.audit.list({ network: 'demo', per_page: 4 })
  expect(first.items).toEqual(all.toReversed().slice(0, 4))
  const second = await community.audit.list({ network: 'demo', per_page: 4, cursor: first.next ?? '' })
  expect(second.items).toEqual(all.toReversed().slice(4, 8))

  const count = async (query: Partial<AuditQuery>) => {
    const [oldest, newest] = [
      await everything(community, query),
      await everything(community, { ...query, order: 'newest', per_page: 2 }),
    ]
    expect(newest.toReversed()).toEqual(oldest)
    return oldest.length
  }
  const minute = (after: number) => new Date(start + after * 60_000).toISOString()
  expect(await count({ actor: 'ada' })).toBe(3)
  expect(await count({ actor: 'bob', action: 'endpoint.enabled' })).toBe(2)
  expect(await count({ action: 'endpoint.disabled' })).toBe(3)
  expect(await count({ subject: { type: 'endpoint', id: endpoint.id } })).toBe(7)
  expect(await count({ subject: { type: 'key', id: endpoint.id } })).toBe(0)
  expect(await count({ subject: { type: 'endpoint', id: endpoint.id }, actor: 'ada' })).toBe(3)
  expect(await count({ subject: { type: 'endpoint', id: endpoint.id }, actor: 'ada', action: 'endpoint.enabled' })).toBe(1)
  expect(await count({ from: minute(1), to: minute(3), actor: 'ada' })).toBe(1)
  expect(await count({ from: minute(1), to: minute(3) })).toBe(2)
  expect(await count({ from: minute(3) })).toBe(4)
  expect(await count({ to: minute(1) })).toBe(all.length - 6)
  expect(await count({ actor: 'carol' })).toBe(0)
})

test('a line of earlier work is added once, and stands at its time', async () => {
  const { community, clock, fresh } = await setUp()
  const at = new Date(clock.now()).toISOString()
  clock.advance(3_600_000)
  const { audit } = community.by(ada)
  const line = { network: '1', action: 'deliveries.skipped', subject: { type: 'network', id: '1' }, work_id: 'w1', at } as const
  for (const work_id of ['w1', 'w2', 'w1', 'w2']) await audit.record({ ...line, work_id })
  await audit.record({ ...line, action: 'work.failed' })
  expect((await fresh()).map((entry) => [entry.at, entry.action, entry.details])).toEqual(
    expect.arrayContaining([
      [at, 'deliveries.skipped', { work_id: 'w1' }],
      [at, 'deliveries.skipped', { work_id: 'w2' }],
      [at, 'work.failed', { work_id: 'w1' }],
    ]),
  )
  expect(await fresh()).toHaveLength(3)
  const then = { from: at, to: new Date(Date.parse(at) + 1).toISOString(), actor: ada.actor }
  expect(await everything(community, then)).toHaveLength(3)
  await expect(audit.record({ ...line, work_id: undefined as never })).rejects.toMatchObject({ status: 422 })
  // No one writes the future.
  await audit.record({ ...line, work_id: 'w3', at: '2999-01-01T00:00:00.000Z' })
  expect((await fresh()).at(-1)).toMatchObject({ at: new Date(clock.now()).toISOString() })
})

test('a clock that goes back moves no line out of its time', async () => {
  const { community, clock, endpoint } = await setUp()
  clock.advance(-30_000)
  await community.by(ada).endpoints.disable('1', endpoint.id)
  const now = clock.now()
  const [from, to] = [new Date(now).toISOString(), new Date(now + 1).toISOString()]
  for (const order of ['newest', 'oldest'] as const)
    expect(await everything(community, { from, to, order })).toMatchObject([{ actor: ada.actor }])
})

test('a network sees its own lines only', async () => {
  const { community, endpoint } = await setUp()
  const owner = { email: 'x@example.org', first_name: 'X', last_name: '' }
  await community.networks.create({ id: '2', subdomain: 'second', title: 'Second', owner })
  const [theirs] = await everything(community, { network: '2' })
  expect(await everything(community, { network: '2' })).toHaveLength(1)
  expect((await community.audit.list({ network: '2', subject: { type: 'endpoint', id: endpoint.id } })).items).toEqual([])
  expect((await everything(community)).map(({ id }) => id)).not.toContain(theirs?.id)
  const last = (await community.audit.list({ network: '1', per_page: 1 })).items[0]
  expect(
    (await community.audit.list({ network: '2', cursor: last?.id ?? '' })).items.every((entry) => entry.network_id === '2'),
  ).toBe(true)
  await expect(community.audit.list({ network: nobody })).rejects.toMatchObject({ status: 404 })
})

test('a transaction of a handler or a hook adds, changes and removes no line', async () => {
  const { storage } = await setUp()
  const [row] = await storage.transaction((tx) => tx.find(audit, { limit: 1 }), { readOnly: true })
  const id = row?.id ?? ''
  const change = (work: (tx: ReturnType<typeof scoped>) => Promise<unknown>) =>
    expect(storage.transaction((tx) => work(scoped(tx, '1')))).rejects.toThrow('rows of audit are added and never changed')
  const { network_id: _, ...line } = row ?? expect.unreachable()
  await change((tx) => tx.insert(audit, { ...line, id: '1000' }))
  await change((tx) => tx.update(audit, id, { actor: 'nobody' }))
  await change((tx) => tx.touch(audit, id, { updated_at: '2026-11-20T10:00:00.000Z' }))
  await change((tx) => tx.remove(audit, id))
  await change((tx) => tx.increment(audit, id, {}))
  expect(await storage.transaction((tx) => tx.get(audit, id), { readOnly: true })).toEqual(row)
})

const mistakes: readonly (readonly [string, object, string])[] = [
  ['an action that does not exist', { action: 'key.stolen' }, 'action must be one of'],
  ['a page of 101', { per_page: 101 }, 'per_page must be a whole number from 1 to 100'],
  ['a cursor of another kind', { cursor: 'x' }, 'cursor must be the `next` of a page'],
  ['a time without an offset', { from: '2026-11-20T10:00' }, 'from must have an offset'],
  ['an empty actor', { actor: '' }, 'actor must be a text of 1 to 500 characters'],
]

test.each(mistakes)('a list with %s is refused', async (_name, query, message) => {
  const { community } = await createTestCommunity()
  await expect(community.audit.list({ network: '1', ...query } as AuditQuery)).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining(message),
  })
})

test('an actor is a text of 1 to 500 characters, and only the work of relays is recorded by hand', async () => {
  const { community } = await createTestCommunity()
  expect(() => community.by({ actor: '' })).toThrow('actor must be a text of 1 to 500 characters')
  expect(() => community.by({ actor: 'x'.repeat(501) })).toThrow('actor must be a text of 1 to 500 characters')
  const entry = { network: '1', action: 'key.created', subject: { type: 'key', id: '1' } } as const
  await expect(community.audit.record(entry as never)).rejects.toMatchObject({ status: 422 })
})
