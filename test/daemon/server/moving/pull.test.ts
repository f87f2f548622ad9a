/** `folkmoot pull`, within one process: what arrives, what a second run brings, and what happens to a run that is cut. */
import { expect, test } from 'vitest'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { isStorableId } from '../../../../lib/base/ids.ts'
import { type Community, createCommunity } from '../../../../lib/index.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { members } from '../../../../lib/storage/tables/members.ts'
import { purchases, subscriptions } from '../../../../lib/storage/tables/plans.ts'
import { createTestCommunity } from '../../../support/community.ts'
import { wrappedStorage } from '../../../support/storage.ts'
import { clientOf, consent, everything, given, jumpingTiming, pullFrom, type Responder, seededSource } from './support.ts'

const changesIn = ({ lists }: Awaited<ReturnType<typeof pullFrom>>) =>
  lists.filter(({ added, changed, removed }) => added + changed + removed > 0)

test('every column that the API gives arrives as it was, and nothing is emitted about it', async () => {
  const source = await seededSource()
  const records: unknown[] = []
  const outbox = { append: async (commits: readonly unknown[]) => void records.push(...commits.flat()), close: async () => {} }
  const target = memoryStorage({ outbox })
  const report = await pullFrom(source, target)
  expect(await given(target)).toEqual(await given(source.storage))
  expect(report.lists.filter(({ unread, left }) => unread !== null || left > 0)).toEqual([])
  expect(report).toMatchObject({ resumed: false, addresses: 'shown', network: { id: '1', subdomain: 'demo' } })
  expect(records).toEqual([])
})

test('a second run changes nothing, and leaves no note of its progress behind', async () => {
  const source = await seededSource()
  const target = memoryStorage()
  await pullFrom(source, target)
  const before = await everything(target)
  expect(changesIn(await pullFrom(source, target))).toEqual([])
  expect(await everything(target)).toEqual(before)
  expect(before['idempotency_keys']?.length).toBe(1)
})

test('a second run pulls what was created, changed and removed since the first', async () => {
  const source = await seededSource()
  const target = memoryStorage()
  await pullFrom(source, target)
  const { send } = source
  await send('members.delete', { params: { id: '102' } })
  await send('members.update', { params: { id: '104' }, body: { email: 'alan@example.org', last_name: 'L.' } })
  const added = await send('members.create', { body: { email: 'new@example.org', first_name: 'New', last_name: 'One' } })
  await send('member_tags.create', { params: { member_id: added.body.id }, body: { tag_id: '304' } })
  await send('member_tags.delete', { params: { member_id: '101', tag_id: '301' } })
  await send('tags.delete', { params: { id: '302' } })
  await send('posts.delete', { params: { id: '402' } })
  await send('events.delete', { params: { id: '422' } })
  await send('spaces.delete', { params: { id: '204' } })
  await send('spaces.update', { params: { id: '202' }, body: { collection_id: '253' } })
  await send('collections.update', { params: { id: '252' }, body: { name: 'Getting going' } })
  await send('comments.delete', { params: { post_id: '401', id: '502' } })
  await send('comments.create', { params: { post_id: '401' }, body: { text: 'Late to the party', reply_to_id: '501' } })
  await send('post_reactions.create', { params: { post_id: '401' }, body: { emoji: '🎉' } })
  await send('subscriptions.cancel', { params: { id: '841' }, query: { when: 'now' } })
  await send('purchases.revoke', { params: { id: '861' } })
  await send('invites.delete', { params: { id: '824' } })
  await send('answers.upsert', { params: { custom_field_id: '351', member_id: '101' }, body: { segment_ids: ['322'] } })
  await send('answers.delete', { params: { custom_field_id: '352', member_id: '101' } })
  await consent(source.storage, true)
  await pullFrom(source, target)
  const [there, here] = [await given(source.storage), await given(target)]
  // The API does not show who has left, nor purchases that were revoked.
  for (const name of ['members', 'purchases']) {
    expect(await shownOf(target, name)).toEqual(await shownOf(source.storage, name))
    delete there[name]
    delete here[name]
  }
  expect(here).toEqual(there)
})

test('a second run brings when a member was changed last who has left and still pays', async () => {
  const source = await seededSource()
  const target = memoryStorage()
  await pullFrom(source, target)
  const paying = await source.storage.transaction((tx) => tx.get(subscriptions, '841'))
  const { member_id = '' } = paying ?? {}
  source.clock.advance(60_000)
  await source.send('members.remove_from_network', { params: { id: member_id } })
  const listOf = async (from: Pick<Community, 'call'>) => (await from.call('subscriptions.list', { network: '1' })).items
  const there = await listOf(source.community)
  expect(there.map((each) => each.member_id)).toContain(member_id)
  await pullFrom(source, target)
  expect(await listOf(createCommunity({ storage: target, allowHttp: true }))).toEqual(there)
  expect(changesIn(await pullFrom(source, target))).toEqual([])
})

test('a second run brings answers whose dates are those of other answers now', async () => {
  const source = await seededSource()
  const target = memoryStorage()
  const { send } = source
  await send('events.update', { params: { id: '421' }, body: { frequency: 'weekly' } })
  const { body: event } = await send('events.show', { params: { id: '421' } })
  const dates = [0, 1, 2].map((week) => new Date(Date.parse(event.starts_at) + week * 7 * 24 * 3_600_000).toISOString())
  const params = { event_id: '421' }
  const ids: string[] = []
  for (const instance_at of dates.slice(0, 2)) {
    const made = await send('rsvps.create', { params, body: { member_id: '104', status: 'yes', instance_at } })
    ids.push(made.body.id)
  }
  await pullFrom(source, target)
  const [first, second] = ids.map((id) => ({ ...params, id }))
  const move = async (rsvp: typeof first, date: number) => {
    expect((await send('rsvps.update', { params: rsvp ?? {}, body: { instance_at: dates[date] } })).status).toBe(200)
  }
  await move(second, 2)
  await move(first, 1)
  await move(second, 0)
  await pullFrom(source, target)
  expect((await given(target))['rsvps']).toEqual((await given(source.storage))['rsvps'])
})

/** The members who are there, and the purchases that count. */
const shownOf = (storage: Storage, name: string) =>
  storage.transaction(async (tx) =>
    name === 'members'
      ? (await tx.find(members, { where: { state: 'active' } })).map(({ role: _, ...row }) => row)
      : tx.find(purchases, { where: { revoked_at: null } }),
  )

test('a run that is cut at any write continues there, and brings the same', async () => {
  const source = await seededSource()
  const whole = memoryStorage()
  await pullFrom(source, whole)
  const expected = await everything(whole)
  let cuts = 0
  // Each of the first writes, and some of the others.
  for (let cutAt = 1; ; cutAt += cutAt < 6 ? 1 : 7) {
    const target = memoryStorage()
    let writes = 0
    const breaking = wrappedStorage(target, {
      transaction: (work, options) => {
        if (!options?.readOnly && ++writes === cutAt) throw new Error('the power went')
        return target.transaction(work, options)
      },
    })
    const cut = await pullFrom(source, breaking).then(
      () => false,
      () => true,
    )
    if (!cut) break
    cuts++
    const report = await pullFrom(source, target)
    expect(withoutNotes(await everything(target))).toEqual(withoutNotes(expected))
    // Not from the beginning, once the progress was written.
    if (cutAt > 2) expect(report.resumed).toBe(true)
  }
  expect(cuts).toBeGreaterThan(8)
})

/** The note about the source has the time at which it was made. */
const withoutNotes = ({ idempotency_keys: _, ...tables }: Awaited<ReturnType<typeof everything>>) => tables

test('a list of many pages continues behind the last page that was written', async () => {
  const source = await createTestCommunity({ storage: memoryStorage() })
  for (let number = 0; number < 450; number++) await source.send('tags.create', { body: { title: `Tag ${number}` } })
  const target = memoryStorage()
  const asked: string[] = []
  const cutAfter =
    (pages: number): Responder =>
    (request) => {
      const { pathname, search } = new URL(request.url)
      if (pathname.endsWith('/tags')) asked.push(search)
      if (pathname.endsWith('/tags') && asked.length > pages) throw new Error('the power went')
      return source.community.fetch(request)
    }
  await expect(pullFrom(source, target, { respond: cutAfter(3) })).rejects.toThrow()
  asked.length = 0
  const report = await pullFrom(source, target, { respond: cutAfter(99) })
  expect(asked.length).toBe(2)
  expect(report.lists.find(({ list }) => list === 'tags')).toMatchObject({ read: 450, added: 450, changed: 0, removed: 0 })
  expect((await given(target))['segments']).toEqual((await given(source.storage))['segments'])
})

test('a list whose link the server does not take any more is read from its beginning, once', async () => {
  const source = await createTestCommunity({ storage: memoryStorage() })
  for (let number = 0; number < 450; number++) await source.send('tags.create', { body: { title: `Tag ${number}` } })
  const target = memoryStorage()
  const asked: string[] = []
  const refuses =
    (isRefused: (search: string) => boolean): Responder =>
    (request) => {
      const { pathname, search } = new URL(request.url)
      if (!pathname.endsWith('/tags')) return source.community.fetch(request)
      asked.push(search)
      return isRefused(search) ? Response.json({ error: 'after is not known' }, { status: 400 }) : source.community.fetch(request)
    }
  const cut: Responder = (request) => {
    if (request.url.includes('/tags?') && asked.length === 3) throw new Error('the power went')
    return refuses(() => false)(request)
  }
  await expect(pullFrom(source, target, { respond: cut })).rejects.toThrow()
  asked.length = 0
  const warnings: string[] = []
  const warn = (sentence: string) => void warnings.push(sentence)
  const report = await pullFrom(source, target, {
    respond: refuses((search) => asked.length === 1 && search.includes('after')),
    warn,
  })
  expect(asked.length).toBe(6)
  expect(warnings).toEqual([
    'the server does not know the place in the list of tags any more: the list is read from its beginning',
  ])
  expect(report.lists.find(({ list }) => list === 'tags')).toMatchObject({ read: 450, added: 450, changed: 0, removed: 0 })
  expect((await given(target))['segments']).toEqual((await given(source.storage))['segments'])
  expect((await everything(target))['idempotency_keys']?.length).toBe(1)
  // A server that never takes its links is not queried for ever.
  const always = pullFrom(source, memoryStorage(), { respond: refuses((search) => search.includes('after')) })
  await expect(always).rejects.toThrow(/tags: 400 after is not known/)
})

test('a list of empty pages without an end ends the pull', async () => {
  const source = await seededSource()
  let asked = 0
  const empty = async (request: Request) => {
    if (!new URL(request.url).pathname.endsWith('/custom_fields')) return source.community.fetch(request)
    return Response.json({ items: [], links: { self: request.url, next: `https://source.test/?cursor=${++asked}` } })
  }
  await expect(pullFrom(source, memoryStorage(), { respond: empty, only: ['tags'] })).rejects.toThrow(
    '1000 pages without a record',
  )
  expect(asked).toBe(1000)
})

test('a list whose links lead in a circle ends the pull', async () => {
  const source = await seededSource()
  const tags = (items: readonly object[], next: string | null) => Response.json({ items, links: { self: '', next } })
  const circling: Responder = (request) => {
    const { pathname, searchParams } = new URL(request.url)
    if (!pathname.endsWith('/tags')) return source.community.fetch(request)
    const page = Number(searchParams.get('page') ?? 1)
    return tags([{ id: String(9000 + page), title: `Tag ${page}` }], `/tags?page=${(page % 3) + 1}`)
  }
  await expect(pullFrom(source, memoryStorage(), { respond: circling, only: ['tags'] })).rejects.toThrow(
    /list of tags has no end/,
  )
})

/** The source, whose list of tags is a page that is given. */
const withTags =
  ({ community }: Awaited<ReturnType<typeof seededSource>>, page: (request: Request) => string): Responder =>
  async (request) =>
    new URL(request.url).pathname.endsWith('/tags')
      ? new Response(page(request), { headers: { 'content-type': 'application/json' } })
      : community.fetch(request)

test('a record that nests too deeply for a text does not end a pull', async () => {
  const source = await seededSource()
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  const page = () => `{"items":[{"id":"9001","title":"Deep","deep":${deep}}],"links":{"self":"","next":null}}`
  const report = await pullFrom(source, memoryStorage(), { respond: withTags(source, page), only: ['tags'] })
  expect(report.lists.find(({ list }) => list === 'tags')).toMatchObject({ read: 1, added: 1, unread: null })
})

test('a number that no column holds is left out, and does not end a pull', async () => {
  const source = await seededSource()
  const target = memoryStorage()
  let changed = 0
  const respond: Responder = async (request) => {
    const response = await source.community.fetch(request)
    const text = (await response.text()).replaceAll(/"interval":1\b/g, () => {
      changed += 1
      return '"interval":1e300'
    })
    return new Response(text, { status: response.status, headers: response.headers })
  }
  await pullFrom(source, target, { respond })
  const { events } = await everything(target)
  expect([changed > 0, events?.map((event) => Object(event).interval)]).toEqual([true, [null, null, null]])
})

test('texts and ids lose what no database holds, wherever they are', async () => {
  const source = await seededSource()
  const target = memoryStorage()
  // As of a server that cuts its texts in the midst of an emoji.
  const cut = String.raw`\ud83d\u0000`
  const respond: Responder = async (request) => {
    const response = await source.community.fetch(new Request(request.url.replace('%EF%BF%BD101', '101'), request))
    const text = (await response.text()).replaceAll('"101"', `"${cut}101"`).replaceAll('"description":"', `$&${cut}`)
    return new Response(text, response)
  }
  const { lists } = await pullFrom(source, target, { respond })
  const { posts, idempotency_keys, ...others } = await everything(target)
  expect(posts?.every((post) => /^(?:\ufffd|$)/.test(Object(post).description ?? ''))).toBe(true)
  expect(idempotency_keys?.map((note) => Object(note).body)).toContainEqual(expect.stringContaining('\ufffd101'))
  expect(JSON.stringify([posts, idempotency_keys, others])).not.toMatch(/\\ud83d|\\u0000/)
  expect(lists.filter(({ left }) => left > 0)).toEqual([])
})

test('a network with an impossible subdomain is refused, before anything of it is printed or stored', async () => {
  const source = await seededSource()
  const target = memoryStorage()
  const respond: Responder = async (request) => {
    const response = await source.community.fetch(request)
    const text = await response.text()
    const changed = text.replace('"subdomain":"demo"', '"subdomain":"\\u001b]0;mine\\u0007"')
    return new Response(changed, { status: response.status, headers: response.headers })
  }
  await expect(pullFrom(source, target, { respond })).rejects.toThrow('"\\u001b]0;mine\\u0007", cannot be one')
  expect((await everything(target))['networks']).toEqual([])
})

test('429, 503 and lost connections cost time and nothing else', async () => {
  const source = await seededSource()
  const target = memoryStorage()
  let requests = 0
  const trouble: Responder = (request) => {
    requests++
    if (requests % 5 === 0) return Response.json({ error: 'slow down' }, { status: 429, headers: { 'retry-after': '2' } })
    if (requests % 7 === 0) return Response.json({ error: 'later' }, { status: 503 })
    if (requests % 11 === 0) throw new TypeError('fetch failed')
    return source.community.fetch(request)
  }
  const report = await pullFrom(source, target, { respond: trouble })
  expect(await given(target)).toEqual(await given(source.storage))
  expect(report.requests).toBe(requests)
})

test('a pull waits until the limit of the server is renewed, and is never refused', async () => {
  const source = await seededSource()
  const timing = jumpingTiming()
  const [perMinute, statuses] = [20, new Set<number>()]
  let window = { ends: 0, left: 0 }
  const client = clientOf(
    source,
    async (request) => {
      if (timing.now() >= window.ends) window = { ends: timing.now() + 60_000, left: perMinute }
      window.left--
      const limited = window.left < 0
      const response = limited ? Response.json({}, { status: 429 }) : await source.community.fetch(request)
      statuses.add(response.status)
      const seconds = String(Math.ceil((window.ends - timing.now()) / 1000))
      response.headers.set('ratelimit-remaining', String(Math.max(0, window.left)))
      response.headers.set('ratelimit-reset', seconds)
      return response
    },
    timing,
  )
  const report = await pullFrom(source, memoryStorage(), { source: client })
  expect([...statuses]).toEqual([200])
  expect(report.waited_seconds).toBeGreaterThan(60)
})

test.each([
  ['seconds', () => '900000000', 3_600_000],
  ['the moment in seconds', (now: number) => String(Math.floor(now / 1000) + 7), 7000],
  ['the moment in milliseconds', (now: number) => String(now + 8000), 8000],
])('the time of RateLimit-Reset, as %s, is a wait of at most an hour', async (_, reset, wait) => {
  const source = await seededSource()
  const timing = jumpingTiming()
  const respond = async (request: Request) => {
    const response = await source.community.fetch(request)
    response.headers.set('x-ratelimit-remaining', '0')
    response.headers.set('x-ratelimit-reset', reset(timing.now()))
    return response
  }
  await pullFrom(source, memoryStorage(), { source: clientOf(source, respond, timing), only: ['tags'] })
  expect(timing.waits.length).toBeGreaterThan(1)
  expect(Math.max(...timing.waits)).toBe(wait)
})

test('a list that the token may not read is reported, and its rows stay', async () => {
  const source = await seededSource()
  const target = memoryStorage()
  await pullFrom(source, target)
  const token = await source.newToken(['members:read', 'networks:read', 'spaces:read'])
  const report = await pullFrom({ ...source, token }, target)
  expect(report.lists.find(({ list }) => list === 'tags')).toMatchObject({ unread: 'refused', removed: 0 })
  expect(report.lists.find(({ list }) => list === 'spaces')).toMatchObject({ unread: null, read: 4 })
  expect(await given(target)).toEqual(await given(source.storage))
})

test('only the named groups come, with those that they refer to', async () => {
  const source = await seededSource()
  const report = await pullFrom(source, memoryStorage(), { only: ['spaces'] })
  expect(report.lists.map(({ list }) => list)).toEqual(['members', 'collections', 'spaces', 'members of spaces'])
})

test('since: what was changed before stays as it is, and its own lists are not requested', async () => {
  const source = await seededSource()
  const target = memoryStorage()
  const first = await pullFrom(source, target)
  source.clock.advance(60_000)
  await source.send('posts.update', { params: { id: '401' }, body: { title: 'Hello again' } })
  const since = new Date(source.clock.now()).toISOString()
  const report = await pullFrom(source, target, { since })
  expect(changesIn(report)).toMatchObject([{ list: 'posts', changed: 1 }])
  expect(report.requests).toBeLessThan(first.requests / 2)
})

test('since: a removed tag is seen, and a removed comment of an unchanged post by a run without it', async () => {
  const source = await seededSource()
  const target = memoryStorage()
  await pullFrom(source, target)
  source.clock.advance(60_000)
  const since = new Date(source.clock.now()).toISOString()
  await source.send('tags.delete', { params: { id: '304' } })
  await source.send('comments.delete', { params: { post_id: '401', id: '502' } })
  expect(changesIn(await pullFrom(source, target, { since }))).toMatchObject([{ list: 'tags', removed: 1 }])
  expect(changesIn(await pullFrom(source, target))).toMatchObject([{ list: 'comments', removed: 1 }])
  expect(await given(target)).toEqual(await given(source.storage))
})

test('ids that a storage cannot hold are replaced by the same ones each time, and requested by their own', async () => {
  const source = await seededSource()
  const foreign = '18446744073709550101'
  const respond: Responder = async (request) => {
    const response = await source.community.fetch(new Request(request.url.replace(foreign, '101'), request))
    return new Response((await response.text()).replaceAll('"101"', `"${foreign}"`), response)
  }
  const target = memoryStorage()
  await pullFrom(source, target, { respond })
  const rows = await everything(target)
  const id = rows['members']?.find((row) => Object(row).first_name === 'Grace')?.id ?? ''
  expect([isStorableId(id), id === '101']).toEqual([true, false])
  const carried = rows['member_segments']?.filter((row) => Object(row).member_id === id)
  expect(carried?.length).toBe(9)
  expect(changesIn(await pullFrom(source, target, { respond }))).toEqual([])
})

test('a server with ids as numbers gives the same rows', async () => {
  const source = await seededSource()
  const respond: Responder = async (request) => {
    const response = await source.community.fetch(request)
    return new Response((await response.text()).replaceAll(/"(\w*id)":"(\d+)"/g, '"$1":$2'), response)
  }
  const target = memoryStorage()
  await pullFrom(source, target, { respond })
  expect(await given(target)).toEqual(await given(source.storage))
})

test('a target that holds the network from elsewhere is refused', async () => {
  const source = await seededSource()
  const other = await createTestCommunity({ storage: memoryStorage() })
  await expect(pullFrom(source, other.storage)).rejects.toThrow(/holds network 1 \(demo\), which was not pulled/)
  const target = memoryStorage()
  await pullFrom(source, target)
  await expect(pullFrom(source, target, { from: 'https://other.test network 1' })).rejects.toThrow(
    /holds network 1 \(demo\) from https:\/\/source.test network 1/,
  )
})

test('hidden and masked addresses are not taken for addresses, and the copy responds as the source does', async () => {
  const source = await seededSource()
  await consent(source.storage, false, '103')
  await source.community.networks.update('1', { member_email_visibility: false })
  const target = memoryStorage()
  expect((await pullFrom(source, target)).addresses).toBe('masked')
  const rows = await everything(target)
  const shown = (id: string) => rows['members']?.find((row) => row.id === id)
  expect(shown('101')).toMatchObject({ email: '', email_key: null, commercial_email_consent: true })
  expect(shown('103')).toMatchObject({ email: '', email_key: null, commercial_email_consent: false })
  expect(rows['networks']).toMatchObject([{ member_email_visibility: false }])
})
