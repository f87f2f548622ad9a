/** The host's own calls with arguments that no one should give: one clear error each, on every engine, and nothing written. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ApiError, type Community, isApiError } from '../../lib/index.ts'
import { scoped } from '../../lib/storage/scoped.ts'
import type { Table } from '../../lib/storage/table.ts'
import { webhookEndpoints } from '../../lib/storage/tables/administration.ts'
import { members } from '../../lib/storage/tables/members.ts'
import { tables } from '../../lib/storage/tables.ts'
import { createTestCommunity, type TestCommunity } from '../support/community.ts'

let run: TestCommunity
let community: Community
beforeEach(async () => {
  run = await createTestCommunity()
  community = run.community
})
afterEach(() => community.close())

const owner = { email: 'olga@example.org', first_name: 'Olga', last_name: 'Other' }
const network = { subdomain: 'other', title: 'Other', owner }
const key = { network: '1', name: 'Connector', scopes: ['*'] }
const endpoint = { network: '1', url: 'https://example.org/hook', token: 'k' }

/** Everything that is stored, and how much the outbox was told. */
async function all() {
  const rows = await run.storage.transaction(
    async (tx) => Promise.all((tables as readonly Table[]).map((table) => tx.find(table, {}))),
    {
      readOnly: true,
    },
  )
  return { rows, records: run.records.length }
}

/** The refusal of a call that must fail; it must leave everything as it is. */
async function refusal(call: (on: Record<string, never>) => unknown): Promise<string> {
  const before = await all()
  const outcome = await Promise.resolve()
    .then(() => call(community as never))
    .then(
      () => 'it was accepted',
      (error: unknown) => error,
    )
  expect(await all()).toEqual(before)
  if (isApiError(outcome)) return `${outcome.status} ${(outcome as ApiError).message}`
  return outcome instanceof TypeError ? `TypeError ${outcome.message}` : String(outcome)
}

describe.each<[string, (on: never) => unknown, string | RegExp]>([
  [
    'networks.create without a subdomain',
    (on: Community) => on.networks.create({ title: '' } as never),
    "422 subdomain is required; title can't be blank; owner is required",
  ],
  [
    'networks.create without an owner',
    (on: Community) => on.networks.create({ ...network, owner: undefined } as never),
    '422 owner is required',
  ],
  [
    'a plan that there is not',
    (on: Community) => on.networks.create({ ...network, service_plan: 'gold' as never }),
    '422 service_plan must be one of standard, premium, unlimited',
  ],
  [
    'a network without a title',
    (on: Community) => on.networks.create({ subdomain: 'other', owner } as never),
    '422 title is required',
  ],
  [
    'an owner without an address',
    (on: Community) => on.networks.create({ ...network, owner: { ...owner, email: 'nope' } }),
    '422 owner.email must be an e-mail address',
  ],
  [
    'an owner without a name',
    (on: Community) => on.networks.create({ ...network, owner: { ...owner, first_name: ' ' } }),
    "422 owner.first_name can't be blank",
  ],
  [
    'a field that does not exist, in the owner',
    (on: Community) => on.networks.create({ ...network, owner: { ...owner, mail: 'x' } } as never),
    'TypeError networks.create: field `owner.mail` does not exist; did you mean email?',
  ],
  [
    'an id that no row can have',
    (on: Community) => on.networks.create({ ...network, id: '9007199254740992' }),
    '422 id must be a whole number of at most 9007199254740991',
  ],
  [
    'the id of a network that is there',
    (on: Community) => on.networks.create({ ...network, id: 1 }),
    '422 id has already been taken',
  ],
  [
    'networks.update of a plan that there is not',
    (on: Community) => on.networks.update('demo', { service_plan: 'gold' as never }),
    '422 service_plan must be one of standard, premium, unlimited',
  ],
  [
    'networks.update of the subdomain',
    (on: Community) => on.networks.update('demo', { subdomain: 'x' } as never),
    'TypeError networks.update: field `subdomain` does not exist; allowed: title, subtitle, purpose',
  ],
  ['networks.show of nothing', (on: Community) => on.networks.show('nope'), '404 Network not found'],
  [
    'networks.find without a name',
    (on: Community) => on.networks.find(undefined as never),
    '422 network must be the id or subdomain of a network, got undefined',
  ],
  [
    'a key without name and scopes',
    (on: Community) => on.keys.create({ network: '1' } as never),
    '422 name is required; scopes is required',
  ],
  [
    'a scope that there is not',
    (on: Community) => on.keys.create({ ...key, scopes: ['member:read'] }),
    '422 scopes.0 must be a scope, got "member:read"; did you mean members:read?',
  ],
  [
    'a scope that is like no other',
    (on: Community) => on.keys.create({ ...key, scopes: ['nonsense'] }),
    '422 scopes.0 must be one or more of *, *:read, abuse_reports:read',
  ],
  ['a key of no network', (on: Community) => on.keys.create({ ...key, network: 'nope' }), '404 Network not found'],
  [
    'a key whose time is over',
    (on: Community) => on.keys.create({ ...key, expires_at: '2026-11-20T10:00:00Z' }),
    '422 expires_at must be in the future',
  ],
  ['keys of no network', (on: Community) => on.keys.list('nope'), '404 Network not found'],
  ['members of no network', (on: Community) => on.members.list('nope'), '404 Network not found'],
  [
    'members of a state, a limit and a search that cannot be',
    (on: Community) => on.members.list('demo', { state: 'gone' as never, limit: 101, q: ' ', after: 'x' }),
    '422 state must be one of active, removed, banned, deleted; q must be a text of 1 to 200 characters; limit must be a whole number from 1 to 100',
  ],
  [
    'a search that is too long',
    (on: Community) => on.members.list('demo', { q: 'x'.repeat(201) }),
    '422 q must be a text of 1 to 200 characters',
  ],
  [
    'a search that is no text',
    (on: Community) => on.members.list('demo', { q: {} as never }),
    '422 q must be a text of 1 to 200 characters',
  ],
  [
    'members by a field that does not exist',
    (on: Community) => on.members.list('demo', { search: 'x' } as never),
    'TypeError members.list: field `search` does not exist; allowed: state, q, role, member_type, tag_id',
  ],
  [
    'an unban of a member who is none',
    (on: Community) => on.members.unban('demo', 'x'),
    '422 id must be an id of digits, got "x"',
  ],
  ['an unban of a member who is not there', (on: Community) => on.members.unban('demo', '99'), '404 Member not found'],
  ['an unban in no network', (on: Community) => on.members.unban('nope', '1'), '404 Network not found'],
  [
    'an erasure of nobody',
    (on: Community) => on.members.erase('demo', undefined as never),
    '422 id must be an id of digits, got undefined',
  ],
  ['an erasure of a member who is not there', (on: Community) => on.members.erase('demo', '99'), '404 Member not found'],
  ['a key that is none', (on: Community) => on.keys.revoke('demo', {} as never), '422 id must be an id of digits, got an object'],
  ['an id that is none', (on: Community) => on.endpoints.enable('demo', 'abc'), '422 id must be an id of digits, got "abc"'],
  [
    'an endpoint without a token',
    (on: Community) => on.endpoints.upsert({ network: '1', url: endpoint.url }),
    '422 token is required',
  ],
  [
    'an endpoint of no network',
    (on: Community) => on.endpoints.upsert({ ...endpoint, network: 'nope' }),
    '404 Network not found',
  ],
  [
    'a misspelt field of an endpoint',
    (on: Community) => on.endpoints.upsert({ ...endpoint, secret: 'x' } as never),
    'TypeError endpoints.upsert: field `secret` does not exist; did you mean secrets?',
  ],
  [
    'a misspelt and a wrong field at once',
    (on: Community) => on.endpoints.upsert({ ...endpoint, url: 'x', secret: 'x' } as never),
    'url must be',
  ],
  [
    'an event type that is like another',
    (on: Community) => on.endpoints.upsert({ ...endpoint, events: ['PostCreate'] }),
    '422 events must be event types, got "PostCreate"; did you mean PostCreatedHook?',
  ],
  [
    'an event type of a subject that has others',
    (on: Community) => on.endpoints.upsert({ ...endpoint, events: ['PostMadeHook'] }),
    '422 events must be event types, got "PostMadeHook"; did you mean PostCreatedHook or PostUpdatedHook?',
  ],
  [
    'an event type that is like no other',
    (on: Community) => on.endpoints.upsert({ ...endpoint, audience: 'host', events: ['SunRose'] }),
    '422 events must be event types of the audience host such as WelcomeEmailRequestedHook, got "SunRose"',
  ],
  [
    'every wrong field of a new endpoint, its event type and its missing token',
    (on: Community) => on.endpoints.upsert({ network: '1', url: 'x', events: ['PostMade'], order: 'none!' } as never),
    /^422 url must be .*; token is required; order must be .*; events must be event types, got "PostMade"; did you mean/,
  ],
  [
    'a wrong field and the missing token of an endpoint whose address is good',
    (on: Community) => on.endpoints.upsert({ network: 'demo', url: endpoint.url, order: 'none!' } as never),
    /^422 token is required; order must be one of/,
  ],
  [
    'a misspelt token, which is missing then',
    (on: Community) => on.endpoints.upsert({ network: '1', url: endpoint.url, tokne: 'k' } as never),
    'TypeError endpoints.upsert: field `tokne` does not exist; did you mean token?; token is required',
  ],
  [
    'an event type of another audience and a wrong order',
    (on: Community) => on.endpoints.upsert({ ...endpoint, audience: 'host', events: ['PostCreated'], order: 'none!' } as never),
    /^422 order must be .*; events must be event types of the audience host, got "PostCreated"; did you mean PostNotificationRequestedHook\?$/,
  ],
  [
    'an update with two mistakes, one of them an event type',
    (on: Community) => on.endpoints.update('1', '7', { events: ['PostMade'], order: 'none!' } as never),
    /^422 order must be .*; events must be event types, got "PostMade"/,
  ],
  ['endpoints of no network', (on: Community) => on.endpoints.list('nope'), '404 Network not found'],
  ['an endpoint that there is not', (on: Community) => on.endpoints.remove('1', '77'), '404 Endpoint not found'],
  ['republishing for no network', (on: Community) => on.endpoints.republish('nope'), '404 Network not found'],
  [
    'a notification of no network',
    (on: Community) => on.notify.emailConsent({ network: 'nope', member_id: '1', consent: true }),
    '404 Network not found',
  ],
  [
    'a misspelt field of a notification',
    (on: Community) => on.notify.emailConsent({ network: '1', member: '1', consent: true } as never),
    'TypeError notify: field `member` does not exist; did you mean member_id?; member_id is required',
  ],
  ['an invite that is none', (on: Community) => on.acceptInvite({ network: '1', invite: 'x' }), '422 invite must be an id'],
  [
    'a call without a path parameter',
    (on: Community) => on.call('tags.show', { network: '1' } as never),
    '422 params is required',
  ],
  [
    'a call of a network that is none',
    (on: Community) => on.call('tags.list', { network: null as never }),
    '422 network must be',
  ],
  [
    'a call with a misspelt part',
    (on: Community) => on.call('tags.list', { network: '1', boddy: 1 } as never),
    'TypeError call("tags.list"): field `boddy` does not exist',
  ],
  [
    'an operation that there is not',
    (on: Community) => on.call('tags.eat' as never, { network: '1' } as never),
    'TypeError there is no operation "tags.eat"',
  ],
  [
    'an event that there is not',
    (on: Community) => on.publish({ network: '1', event: 'SunRose' as never, payload: {} as never }),
    'TypeError publish: there is no event "SunRose"',
  ],
] as never)('%s', (_, call, sentence) => {
  test('is refused in a sentence', async () => {
    const given: string | RegExp = sentence
    expect(await refusal(call as never)).toEqual(
      typeof given === 'string' ? expect.stringContaining(given) : expect.stringMatching(given),
    )
  })
})

test('a wrong field of an endpoint that is there is refused without a word about its token', async () => {
  const { id } = await community.endpoints.upsert(endpoint)
  const change = { network: 'demo', url: endpoint.url, order: 'none!' } as never
  await expect(community.endpoints.upsert(change)).rejects.toThrow(/^order must be one of none, fifo, subject$/)
  await community.endpoints.remove('1', id)
})

test('a network is named by its subdomain wherever it can be named by its id', async () => {
  const made = await community.keys.create({ ...key, network: 'demo' })
  expect(await community.keys.list('demo')).toEqual(await community.keys.list(1))
  expect(await community.keys.revoke('demo', made.key.id)).toMatchObject({ status: 'Revoked' })
  const { id } = await community.endpoints.upsert({ ...endpoint, network: 'demo' })
  expect(await community.endpoints.list('1')).toMatchObject([{ id }])
  await community.endpoints.republish('demo')
  expect(await community.endpoints.remove('demo', id)).toMatchObject({ id })
  expect(await community.networks.show('demo')).toEqual(await community.networks.show('1'))
})

test('a change of a network holds from the next request on, and what it does not name stays', async () => {
  const before = await community.networks.show('demo')
  run.clock.advance(1000)
  const after = await community.networks.update('demo', { title: 'New', service_plan: 'premium' })
  expect(after).toEqual({ ...before, title: 'New', service_plan: 'premium', updated_at: '2026-11-20T10:00:01.000Z' })
  run.clock.advance(1000)
  expect(await community.networks.update('1', { title: 'New' })).toEqual(after)
  expect((await run.send('network.show')).body).toMatchObject({ title: 'New' })
})

test('an event is published by its name with Hook as without', async () => {
  const payload = {
    member: (await run.send('members.list')).body.items[0],
    network_id: '1',
    ambassador_level_id: '1',
    ambassador_level_name: 'Bronze',
    referral_count: 1,
  }
  await community.publish({ network: 'demo', event: 'MemberAmbassadorLeveledUpHook', payload })
  expect(run.newEvents()).toMatchObject([{ event_type: 'MemberAmbassadorLeveledUpHook' }])
})

const cyclic: Record<string, unknown> = {}
cyclic['self'] = cyclic
const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)
const hostile: readonly unknown[] = [
  ...[null, undefined, 0, -1, Number.NaN, 2 ** 60, 1n, true, '', 'x', '\0', '\ud800', 'x'.repeat(1_000_000), Symbol('x')],
  ...[[], {}, [[]], () => {}, cyclic, deep, Object.create(null), new Map(), new Date(Number.NaN), Promise.resolve(1)],
]

/** Each call with a good argument, whose fields are then replaced one by one. */
const calls: readonly [string, object, (on: Community, given: never) => unknown][] = [
  [
    'networks.create',
    {
      ...network,
      ...owner,
      id: '9',
      owner_id: '8',
      subtitle: '',
      purpose: '',
      description: '',
      service_plan: 'premium',
      member_email_visibility: true,
    },
    (on, given) => on.networks.create(given),
  ],
  [
    'networks.create, owner',
    { ...owner, commercial_email_consent: true },
    (on, given) => on.networks.create({ ...network, owner: given }),
  ],
  [
    'networks.update',
    { title: 'x', subtitle: '', purpose: '', description: '', service_plan: 'premium', member_email_visibility: true },
    (on, given) => on.networks.update('1', given),
  ],
  ['keys.create', { ...key, member_id: '1', expires_at: '2027-01-01T00:00:00Z' }, (on, given) => on.keys.create(given)],
  [
    'endpoints.upsert',
    { ...endpoint, name: 'x', events: null, secrets: null, audience: 'host', enabled: true, order: 'fifo', rate_per_second: 1 },
    (on, given) => on.endpoints.upsert(given),
  ],
  ['endpoints.update', { token: 'k', name: 'x', events: null }, (on, given) => on.endpoints.update('1', '7', given)],
  ['endpoints.rotate', { token: 'k', secrets: true, keepOldSeconds: 1 }, (on, given) => on.endpoints.rotate('1', '7', given)],
  ['publish', { network: '1', event: 'MemberLeft', payload: {} }, (on, given) => on.publish(given)],
  [
    'record.memberProfile',
    {
      network: '1',
      member_id: '7',
      bio: 'x',
      location: 'x',
      avatar: 'https://example.org/a',
      time_zone: 'x',
      commercial_email_consent: true,
    },
    (on, given) => on.notify.memberProfile(given),
  ],
  [
    'record.giftLeaderboard',
    { network: '1', type: 'sent', entries: [], recalculated_at: '2026-01-01T00:00:00Z' },
    (on, given) => on.notify.giftLeaderboard(given),
  ],
  ['acceptInvite', { network: '1', invite: '7', first_name: 'x' }, (on, given) => on.acceptInvite(given)],
  [
    'call',
    { network: '1', as: '7', params: { id: '7' }, query: {}, body: { title: 'x' } },
    (on, given) => on.call('tags.update', given),
  ],
  ['call, query', { page: 1, per_page: 2 }, (on, given) => on.call('tags.list', { network: '1', query: given })],
]

// The outcome of a hostile value: it is accepted where it may be, or refused in one sentence. Anything else is a fault.
async function outcomeOf(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'accepted'
  } catch (error) {
    if (isApiError(error) && [400, 404, 422].includes(error.status) && error.message.length < 1000) return 'refused'
    const isOurs =
      error instanceof TypeError && /^[\w.]+(?:\("[\w.]+"\))?: (?:the argument|field|there is no event) /.test(error.message)
    return isOurs && error.message.length < 1000 ? 'refused' : `fault: ${String(error).slice(0, 300)}`
  }
}

/** Makes a member and an endpoint with the id that the calls name. */
async function makeSeven(): Promise<void> {
  const times = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }
  await run.storage.transaction(async (storageTx) => {
    const tx = scoped(storageTx, '1')
    await tx.insert(members, { ...times, ...owner, id: '7', email_key: owner.email })
    await tx.insert(webhookEndpoints, { ...times, id: '7', url: 'https://example.org/seven', key: 'k7', secrets: [] })
  })
}

test.each(calls)(
  '%s: whatever is given, it is accepted or refused in a sentence, and the storage can be read',
  async (_, good, call) => {
    await makeSeven()
    const given = hostile.flatMap((value) => [
      ['argument', value] as const,
      ...Object.keys(good).map((name) => [name, { ...good, [name]: value }] as const),
    ])
    const faults = []
    for (const [name, value] of given) {
      const outcome = await outcomeOf(() => call(community, value as never))
      if (outcome.startsWith('fault')) faults.push(`${name}: ${outcome}`)
    }
    expect(faults).toEqual([])
    expect(JSON.stringify(run.records)).toBe(JSON.stringify(run.records).toWellFormed())
    await all()
    expect((await run.send('me.show')).status).toBe(200)
  },
)

test.each<[string, (on: Community, name: never) => unknown]>([
  ['networks.find', (on, name) => on.networks.find(name)],
  ['networks.show', (on, name) => on.networks.show(name)],
  ['keys.list', (on, name) => on.keys.list(name)],
  ['keys.revoke', (on, name) => on.keys.revoke(name, '7')],
  ['members.list', (on, name) => on.members.list(name)],
  ['tags.list', (on, name) => on.tags.list(name)],
  ['tags.create', (on, name) => on.tags.create(name, { title: 'Red' })],
  ['tags.merge', (on, name) => on.tags.merge(name, '7', '8')],
  ['reports.list', (on, name) => on.reports.list(name)],
  ['reports.close', (on, name) => on.reports.close(name, '7', 'dismiss')],
  ['overview', (on, name) => on.overview(name)],
  ['members.get', (on, name) => on.members.get(name, '7')],
  ['members.ban', (on, name) => on.members.ban(name, '7')],
  ['members.remove', (on, name) => on.members.remove(name, '7')],
  ['members.changeRole', (on, name) => on.members.changeRole(name, '7', 'host')],
  ['members.unban', (on, name) => on.members.unban(name, '7')],
  ['members.erase', (on, name) => on.members.erase(name, '7')],
  ['keys.revoke, id', (on, id) => on.keys.revoke('1', id)],
  ['tags.merge, id', (on, id) => on.tags.merge('1', id, '8')],
  ['reports.close, id', (on, id) => on.reports.close('1', id, 'dismiss')],
  ['members.get, id', (on, id) => on.members.get('1', id)],
  ['members.ban, id', (on, id) => on.members.ban('1', id)],
  ['members.remove, id', (on, id) => on.members.remove('1', id)],
  ['members.changeRole, id', (on, id) => on.members.changeRole('1', id, 'host')],
  ['members.unban, id', (on, id) => on.members.unban('1', id)],
  ['members.erase, id', (on, id) => on.members.erase('1', id)],
  ['endpoints.find, id', (on, id) => on.endpoints.find('1', id)],
  ['endpoints.enable, id', (on, id) => on.endpoints.enable('1', id)],
  ['endpoints.remove', (on, name) => on.endpoints.remove(name, '7')],
  ['endpoints.forgetOld', (on, name) => on.endpoints.forgetOld(name)],
  ['call', (on, name) => on.call('tags.list', { network: name })],
])('%s: a hostile name is refused in a sentence', async (_, call) => {
  for (const value of hostile)
    expect(await outcomeOf(() => call(community, value as never)), String(typeof value)).toMatch(/accepted|refused/)
})

test('notify: every notification refuses hostile values in a sentence, field by field', async () => {
  await makeSeven()
  const faults: string[] = []
  for (const [name, notification] of Object.entries<(told: never) => Promise<unknown>>(community.notify)) {
    const sentence = await notification({ network: '1', nonsense: 1 } as never).catch((error: unknown) => String(error))
    const fields = /allowed: ([\w, ]+)/.exec(String(sentence))?.[1]?.split(', ') ?? []
    expect(fields, name).toContain('network')
    for (const field of fields)
      for (const value of hostile) {
        const outcome = await outcomeOf(() => notification({ network: '1', member_id: '7', [field]: value } as never))
        if (outcome.startsWith('fault')) faults.push(`${name}.${field}: ${outcome}`)
      }
  }
  expect(faults).toEqual([])
  await all()
})
