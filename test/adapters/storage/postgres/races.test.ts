/** Two API processes on one database, as two pools: what all of them do at once happens once each. */
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { postgresOutbox, postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { type Community, createCommunity } from '../../../../lib/index.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { courseworks } from '../../../../lib/storage/tables/content.ts'
import { segments } from '../../../../lib/storage/tables/custom-fields.ts'
import { request } from '../../../support/community.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { recordsOf } from '../records-of.ts'

const server = await testPostgres()
const admin = await server.client()

/** A storage whose transactions stay open a moment longer, as where a commit waits for a disk. */
const slow = (storage: Storage): Storage => ({
  close: () => storage.close(),
  transaction: (work, options) =>
    storage.transaction(async (tx) => {
      const result = await work(tx)
      await setTimeout(2)
      return result
    }, options),
})

async function twoServers(wrapped = (storage: Storage): Storage => storage) {
  const schema = server.newSchema()
  const faults: unknown[] = []
  const open = async () => {
    // On a busy machine the last of them waits long for its connection.
    const storage = await postgresStorage({ url: server.url, schema, connectTimeoutMs: 60_000 })
    const community = createCommunity({
      storage: wrapped(storage),
      allowHttp: true,
      hooks: { onError: (error) => void faults.push(error) },
    })
    onTestFinished(() => community.close())
    return community
  }
  const both: readonly Community[] = [await open(), await open()]
  const [first] = both
  if (!first) throw new Error('there is no server')
  const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Host' }
  await first.networks.create({ id: '1', subdomain: 'demo', title: 'Demo', service_plan: 'unlimited', owner })
  const { token } = await first.keys.create({ network: '1', name: 'test', scopes: ['*'] })
  /** The n-th request goes to one server or the other. */
  const send = (n: number, method: string, below: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    request(both[n % 2] ?? first, method, `/admin/v1/networks/1${below}`, {
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    })
  const countOf = async (tag: string) => {
    const storage = await postgresStorage({ url: server.url, schema })
    const row = await storage.transaction((tx) => tx.get(segments, tag))
    await storage.close()
    return row?.member_count
  }
  const itemsBelow = async (parent: string) => {
    const storage = await postgresStorage({ url: server.url, schema })
    const found = await storage.transaction(async (tx) => ({
      count: (await tx.get(courseworks, parent))?.children_count,
      positions: (await tx.find(courseworks, { where: { parent_id: parent } })).map(({ position }) => position).sort(),
    }))
    await storage.close()
    return found
  }
  return {
    first,
    send,
    faults,
    countOf,
    itemsBelow,
    events: async () => recordsOf(await postgresOutbox({ url: server.url, schema })),
  }
}

const many = Array.from({ length: 60 }, (_, n) => n)
const statusesOf = (answers: readonly { readonly status: number }[]) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(answers, ({ status }) => status)).map(([status, all]) => [status, all?.length]),
  )

test.each(['read committed', 'serializable'])(
  '60 members get one tag at once, on two servers of a database whose default is %s, and every one of them is counted',
  async (isolation) => {
    const { rows } = await admin.query('SELECT current_database() AS name')
    await admin.query(`ALTER DATABASE ${rows[0].name} SET default_transaction_isolation = '${isolation}'`)
    onTestFinished(async () => void (await admin.query(`ALTER DATABASE ${rows[0].name} RESET default_transaction_isolation`)))
    const { send, faults, countOf } = await twoServers()
    const tag = await send(0, 'POST', '/tags', { title: 'Gardener' })
    const people = await Promise.all(
      many.map((n) => send(n, 'POST', '/members', { email: `m${n}@example.org`, first_name: 'M', last_name: '' })),
    )
    expect(statusesOf(people)).toEqual({ 201: 60 })
    const tagged = await Promise.all(
      people.map(({ body }, n) => send(n, 'POST', `/members/${body.id}/tags`, { tag_id: tag.body.id })),
    )
    expect({ statuses: statusesOf(tagged), faults }).toEqual({ statuses: { 200: 60 }, faults: [] })
    expect(await countOf(tag.body.id)).toBe(60)
  },
)

test('of 60 concurrent requests for one address, on two servers, one gets it and the others a refusal', async () => {
  const { send, faults, events } = await twoServers()
  const answers = await Promise.all(
    many.map((n) => send(n, 'POST', '/members', { email: 'one@example.org', first_name: 'M', last_name: '', space_ids: [] })),
  )
  expect({ statuses: statusesOf(answers), faults }).toEqual({ statuses: { 201: 1, 422: 59 }, faults: [] })
  const joined = (await events()).filter((record) => record.kind === 'event' && record.event_type === 'MemberJoinedHook')
  expect(joined).toHaveLength(1)
})

test('60 concurrent answers with one new text, on two servers, add one option, which counts every one', async () => {
  const { send, faults, countOf } = await twoServers()
  const field = { title: 'Company', response_type: 'dropdown_single_select', privacy: 'public', response_by: 'individual_member' }
  const { body: made } = await send(0, 'POST', '/custom_fields', { ...field, allow_ad_hoc: true })
  const people = await Promise.all(
    many.map((n) => send(n, 'POST', '/members', { email: `m${n}@example.org`, first_name: 'M', last_name: '' })),
  )
  const answered = await Promise.all(
    people.map(({ body }, n) =>
      send(n, 'POST', `/custom_fields/${made.id}/members/${body.id}/answers`, { text: n % 3 === 0 ? 'ACME' : 'Acme' }),
    ),
  )
  expect({ statuses: statusesOf(answered), faults }).toEqual({ statuses: { 200: 60 }, faults: [] })
  const chosen = new Set(answered.map(({ body }) => body.segments[0].id))
  expect([...chosen]).toHaveLength(1)
  expect(await countOf([...chosen].join())).toBe(60)
})

test('an answer whose text somebody else adds as an option in between takes that option', async () => {
  let meanwhile: (() => Promise<unknown>) | undefined
  const { send, faults } = await twoServers((storage) => ({
    close: () => storage.close(),
    transaction: (work, options) =>
      storage.transaction((tx) => {
        const find: typeof tx.find = async (...asked) => {
          const found = await tx.find(...asked)
          const [table, query] = asked
          if (table.name !== segments.name || query?.where === undefined || !('title_key' in query.where)) return found
          const first = meanwhile
          meanwhile = undefined
          await first?.()
          return found
        }
        return work({ ...tx, find })
      }, options),
  }))
  const field = { title: 'Company', response_type: 'dropdown_single_select', privacy: 'public', response_by: 'individual_member' }
  const { id } = (await send(0, 'POST', '/custom_fields', { ...field, allow_ad_hoc: true })).body
  const member = (await send(0, 'POST', '/members', { email: 'm@example.org', first_name: 'M', last_name: '' })).body
  let option: { status: number; body: { id: string } } | undefined
  meanwhile = async () => {
    option = await send(1, 'POST', `/custom_fields/${id}/options`, { title: 'ACME' })
  }
  const answered = await send(0, 'POST', `/custom_fields/${id}/members/${member.id}/answers`, { text: 'Acme' })
  expect({ statuses: [option?.status, answered.status], faults }).toEqual({ statuses: [201, 200], faults: [] })
  expect(answered.body.segments.map((segment: { id: string }) => segment.id)).toEqual([option?.body.id])
})

test('of 60 concurrent tags of one title, on two servers, one is created and the others are refused', async () => {
  const { send, faults } = await twoServers()
  const made = await Promise.all(many.map((n) => send(n, 'POST', '/tags', { title: n % 2 === 0 ? 'VIP' : ' vip ' })))
  expect({ statuses: statusesOf(made), faults }).toEqual({ statuses: { 201: 1, 422: 59 }, faults: [] })
})

test('one Idempotency-Key, sent to two servers concurrently, creates one record', async () => {
  const { first, send, faults } = await twoServers()
  const headers = { 'idempotency-key': 'once' }
  const answers = await Promise.all(many.slice(0, 20).map((n) => send(n, 'POST', '/tags', { title: 'Once' }, headers)))
  expect({ statuses: statusesOf(answers), faults }).toEqual({ statuses: { 201: 20 }, faults: [] })
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect((await first.call('tags.list', { network: '1' })).items).toHaveLength(1)
})

/** Things that one caller gives and another takes away: the paths of both, and the body of the first. */
async function pairsOf(send: (n: number, method: string, below: string, body: unknown) => Promise<{ body: { id: string } }>) {
  const made = async (below: string, body: object) => {
    const answer = await send(0, 'POST', below, body)
    expect(answer).toMatchObject({ status: 201 })
    return answer.body.id
  }
  const space = await made('/spaces', { name: 'Harbour' })
  const post = await made('/posts', { space_id: space, title: 'Low tide' })
  const comment = await made(`/posts/${post}/comments`, { text: 'At six' })
  const member = await made('/members', { email: 'm@example.org', first_name: 'M', last_name: '' })
  const tag = await made('/tags', { title: 'Gardener' })
  return {
    'a reaction to a post': [`/posts/${post}/reactions`, `/posts/${post}/reactions`, { emoji: '👍' }],
    'a reaction to a comment': [`/comments/${comment}/reactions`, `/comments/${comment}/reactions`, { emoji: '👍' }],
    'the mute of a post': [`/posts/${post}/mute?user_id=${member}`, `/posts/${post}/mute?user_id=${member}`, {}],
    'a tag': [`/members/${member}/tags`, `/members/${member}/tags/${tag}/`, { tag_id: tag }],
  } as const
}

test('a thing that 32 callers give and take away in turn, on two servers, is never refused as taken', async () => {
  const { send, faults } = await twoServers(slow)
  for (const [what, [gives, takes, body]] of Object.entries(await pairsOf(send))) {
    let asked = 0
    const statuses: number[] = []
    const ask = async () => {
      while (asked < 480) {
        const { status } = await (asked++ % 2
          ? send(asked >> 1, 'POST', gives, body)
          : send(asked >> 1, 'DELETE', takes, undefined))
        statuses.push(status)
      }
    }
    await Promise.all(many.slice(0, 32).map(ask))
    const unexpected = statuses.filter((status) => ![200, 201, 204, 404].includes(status))
    expect({ what, unexpected, faults }).toEqual({ what, unexpected: [], faults: [] })
  }
})

test('a course item that is moved and deleted concurrently leaves both parents with their counts and positions', async () => {
  const { send, itemsBelow, faults } = await twoServers(slow)
  const space = (await send(0, 'POST', '/spaces', { name: 'Course' })).body.id
  const path = `/spaces/${space}/courseworks`
  const made = async (type: string, parent_id?: string): Promise<string> =>
    (await send(0, 'POST', path, { type, ...(parent_id === undefined ? {} : { parent_id }) })).body.id
  for (let round = 0; round < 12; round++) {
    const [from, to] = [await made('section'), await made('section')]
    const [, item] = [
      await made('lesson', from),
      await made('lesson', from),
      await made('lesson', from),
      await made('lesson', to),
    ]
    await Promise.all([
      send(round, 'PATCH', `${path}/${item}/`, { parent_id: to }),
      send(round + 1, 'DELETE', `${path}/${item}/`, undefined),
    ])
    for (const parent of [from, to]) {
      const { count, positions } = await itemsBelow(parent)
      expect([count, positions]).toEqual([positions.length, positions.map((_, place) => place + 1)])
    }
  }
  expect(faults).toEqual([])
})

test('24 lessons of one section that are moved concurrently are all moved', async () => {
  const { send, itemsBelow, faults } = await twoServers(slow)
  const space = (await send(0, 'POST', '/spaces', { name: 'Course' })).body.id
  const path = `/spaces/${space}/courseworks`
  const made = async (body: object): Promise<string> => (await send(0, 'POST', path, body)).body.id
  const [from, to] = [await made({ type: 'section' }), await made({ type: 'section' })]
  const lessons: string[] = []
  for (let index = 0; index < 24; index++) lessons.push(await made({ type: 'lesson', parent_id: from }))
  const moved = await Promise.all(lessons.map((id, n) => send(n, 'PATCH', `${path}/${id}/`, { parent_id: to })))
  expect({ statuses: statusesOf(moved), faults }).toEqual({ statuses: { 200: 24 }, faults: [] })
  expect([await itemsBelow(from), (await itemsBelow(to)).count]).toEqual([{ count: 0, positions: [] }, 24])
})

const changesOfMember: Readonly<Record<string, (n: number) => object>> = {
  'two roles': (n) => ({ role: n % 2 ? 'moderator' : 'contributor' }),
  'a host and a contributor': (n) => ({ role: n % 2 ? 'host' : 'contributor' }),
  'four addresses': (n) => ({ email: `m${n % 4}@example.org` }),
  'names, roles and addresses': (n) => ({
    ...(n % 2 ? { first_name: 'N' } : { role: 'moderator' }),
    email: `m${n % 3}@example.org`,
  }),
}

test.each(Object.entries(changesOfMember))(
  '96 concurrent changes of one member to %s, on two servers, are all made',
  async (_what, bodyOf) => {
    const { send, faults } = await twoServers(slow)
    const { body } = await send(0, 'POST', '/members', { email: 'm@example.org', first_name: 'M', last_name: '' })
    const changed = await Promise.all(
      Array.from({ length: 96 }, (_, n) => send(n, n % 3 ? 'PATCH' : 'PUT', `/members/${body.id}/`, bodyOf(n >> 1))),
    )
    expect({ statuses: statusesOf(changed), faults }).toEqual({ statuses: { 200: 96 }, faults: [] })
  },
)

test('a limited member whom 60 concurrent requests, on two servers, make a full one joins once', async () => {
  const { send, faults, events } = await twoServers(slow)
  const space = (await send(0, 'POST', '/spaces', { name: 'Harbour' })).body.id
  const limited = { email: 'm@example.org', first_name: 'M', last_name: '', member_type: 'limited', space_ids: [space] }
  const { body } = await send(0, 'POST', '/members', limited)
  const changed = await Promise.all(
    many.map((n) => send(n, 'PATCH', `/members/${body.id}/`, n % 2 ? { member_type: 'full' } : { role: 'moderator' })),
  )
  expect({ statuses: statusesOf(changed), faults }).toEqual({ statuses: { 200: 60 }, faults: [] })
  const joined = (await events()).filter((record) => record.kind === 'event' && record.event_type === 'MemberJoinedHook')
  // Of the space, and of the network.
  expect(joined).toHaveLength(2)
})

test('96 concurrent changes of one RSVP, on two servers, are all made', async () => {
  const { send, faults } = await twoServers(slow)
  const space_id = (await send(0, 'POST', '/spaces', { name: 'Harbour' })).body.id
  const times = { starts_at: '2027-03-01T18:00:00Z', ends_at: '2027-03-01T19:00:00Z' }
  const event = (await send(0, 'POST', '/events', { space_id, title: 'Low tide', event_type: 'local', ...times })).body.id
  const people: string[] = []
  for (let n = 0; n < 3; n++)
    people.push((await send(n, 'POST', '/members', { email: `m${n}@example.org`, first_name: 'M', last_name: '' })).body.id)
  const path = `/events/${event}/rsvps`
  const rsvp = (await send(0, 'POST', path, { member_id: people[0], status: 'yes' })).body.id
  const bodyOf = (n: number) => (n % 2 ? { status: n % 4 ? 'no' : 'yes' } : { member_id: people[n % 3] })
  const changed = await Promise.all(Array.from({ length: 96 }, (_, n) => send(n, 'PATCH', `${path}/${rsvp}/`, bodyOf(n))))
  expect({ statuses: statusesOf(changed), faults }).toEqual({ statuses: { 200: 96 }, faults: [] })
})

test('96 concurrent moves of one space among two collections, on two servers, are all made', async () => {
  const { send, faults } = await twoServers(slow)
  const made = async (below: string, body: object): Promise<string> => (await send(0, 'POST', below, body)).body.id
  const [space, one, other] = [
    await made('/spaces', { name: 'Harbour' }),
    await made('/collections', { name: 'Sea' }),
    await made('/collections', { name: 'Land' }),
  ]
  const moved = await Promise.all(
    Array.from({ length: 96 }, (_, n) => send(n, 'PATCH', `/spaces/${space}/`, { collection_id: [one, other, null][n % 3] })),
  )
  expect({ statuses: statusesOf(moved), faults }).toEqual({ statuses: { 200: 96 }, faults: [] })
})
