/** `folkmoot push`, within one process: what arrives, what a second run sends, and what happens to a run that is cut. */
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { memoryJournal, openJournal } from '../../../../daemon/server/moving/push/journal.ts'
import { comments, courseworks, posts } from '../../../../lib/storage/tables/content.ts'
import { segments } from '../../../../lib/storage/tables/custom-fields.ts'
import { events, rsvps } from '../../../../lib/storage/tables/events.ts'
import { members } from '../../../../lib/storage/tables/members.ts'
import { createTestCommunity } from '../../../support/community.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { type Answer, everything, picture, pushTo, seededSource, sharedContent } from './support.ts'

/** A network with its host alone, the same person as the host of the seeded network. */
const emptyTarget = () => createTestCommunity({ storage: memoryStorage() })

type Report = Awaited<ReturnType<typeof pushTo>>

/** The results for the rows of a list: `sent 5, matched 1`. */
const fate = (report: Report, name: string): string =>
  Object.entries(report.lists.find(({ list }) => list === name) ?? {})
    .flatMap(([key, value]) => (key === 'list' || key === 'here' || !value ? [] : [`${key} ${value}`]))
    .join(', ')

const leftIn = ({ left }: Report): string[] => left.map(({ list, count, reason }) => `${list}: ${count} × ${reason}`)

test('every record that the API makes is on the server once, with its values and its relations', async () => {
  const source = await seededSource()
  const target = await emptyTarget()
  const journal = memoryJournal()
  const report = await pushTo(target, source.storage, { journal })
  const { here, there } = await sharedContent(source.storage, target.storage, journal)
  expect(there).toEqual(here)
  expect(Object.keys(here).length).toBe(15)
  expect(fate(report, 'members')).toBe('sent 5, matched 1')
  expect(report.left.filter(({ refused }) => refused)).toEqual([])
})

test('the report counts what the API does not take', async () => {
  const source = await seededSource()
  const target = await emptyTarget()
  await source.storage.transaction(async (tx) => {
    await tx.update(posts, '402', { status: 'draft' })
    await tx.update(members, '104', { state: 'removed' })
    await tx.update(members, '103', { email: '', email_key: null })
  })
  const report = await pushTo(target, source.storage)
  expect(leftIn(report)).toEqual([
    'members: 1 × their e-mail address is not known',
    'members: 1 × they have left the network',
    'posts: 1 × a draft post would be published immediately',
    'rsvps: 1 × a record that it needs is not on the server (members)',
    'reactions to posts: 2 × the API lets only the member of the token react',
    'reactions to comments: 2 × the API lets only the member of the token react',
    'mutes: 1 × a record that it needs is not on the server (members)',
  ])
  const lost = Object.fromEntries(report.not_taken.map(({ table, rows, columns }) => [table, rows ?? columns]))
  expect(lost).toMatchObject({
    ...{ plans: 3, plan_spaces: 3, plan_memberships: 7, subscriptions: 3, purchases: 3, abuse_reports: 3 },
    ...{ canceled_instances: 3, assets: 3 },
    members: { time_zone: 1, bio: 1, avatar: 1, location: 1, referral_count: 1, commercial_email_consent: 4 },
    // The host of the token has made one of nine.
    posts: { images: 9, creator_id: 8 },
    comments: { author_id: 3 },
  })
  expect(Object.keys(lost).filter((table) => ['spaces', 'tags', 'events', 'answers', 'rsvps'].includes(table))).toEqual([])
})

test('comments keep their markup, and the report counts those that the server does not keep', async () => {
  const source = await seededSource()
  const target = await emptyTarget()
  const kept = '<p>One &amp; <a class="mighty-mention" data-user-id="7">two</a><br>three</p>'
  const texts = [kept, 'four<br>&lt;five&gt;', '<p style="color:red">six</p>']
  const first = await source.storage.transaction(async (tx) => {
    const rows = await tx.find(comments, {})
    for (const [index, { id }] of rows.entries()) await tx.update(comments, id, { text: texts[index] ?? 'more' })
    return rows.length
  })
  expect(first).toBeGreaterThanOrEqual(texts.length)
  const report = await pushTo(target, source.storage)
  const sent = await target.storage.transaction((tx) => tx.find(comments, {}))
  expect(sent.map(({ text }) => text)).toEqual(expect.arrayContaining([kept, 'four<br>&lt;five&gt;', '<p>six</p>']))
  expect(report.not_taken.find(({ table }) => table === 'comments')).toMatchObject({ columns: { markup: 1 } })
})

test('the report names a missing record by the list of the API that has it', async () => {
  const source = await seededSource()
  await source.storage.transaction(async (tx) => {
    for (const { id } of await tx.find(segments, { where: { kind: 'badge' } }))
      await tx.update(segments, id, { avatar_url: null })
    for (const { id } of await tx.find(posts, { where: { family: 'event' } })) await tx.update(posts, id, { status: 'draft' })
  })
  const left = leftIn(await pushTo(await emptyTarget(), source.storage))
  expect(left.filter((sentence) => sentence.includes('is not on the server'))).toEqual([
    expect.stringMatching(/^badges of members: \d+ × a record that it needs is not on the server \(badges\)$/),
    expect.stringMatching(/^rsvps: \d+ × a record that it needs is not on the server \(events\)$/),
  ])
})

test('the picture of a badge that is an upload comes from the directory of uploads', async () => {
  const source = await seededSource()
  await source.storage.transaction(async (tx) => {
    const badges = await tx.find(segments, { where: { kind: 'badge' } })
    for (const [index, { id }] of badges.entries())
      await tx.update(segments, id, {
        avatar_url: ['/assets/sun.png', '/assets/gone.png', '/assets/../sun.png/..'][index] ?? null,
      })
  })
  const assets = await temporaryDirectory()
  writeFileSync(join(assets, 'sun.png'), picture)
  const report = await pushTo(await emptyTarget(), source.storage, { assets })
  expect([fate(report, 'badges'), leftIn(report).filter((sentence) => sentence.startsWith('badges: '))]).toEqual([
    'sent 1, left 3',
    [
      'badges: 2 × its picture is not in the directory of uploads, which --assets names',
      'badges: 1 × a badge needs a picture, and its own has no address',
    ],
  ])
})

test('a second run sends nothing, and a later one sends what is new or has changed, field by field', async () => {
  const source = await seededSource()
  const target = await emptyTarget()
  const journal = memoryJournal()
  await pushTo(target, source.storage, { journal })
  const before = await everything(target.storage)
  const writes: string[] = []
  const answer: Answer = async (request) => {
    const { pathname } = new URL(request.url)
    if (request.method !== 'GET')
      writes.push(`${request.method} ${pathname.replace(/\d{6,}/g, 'ID')} ${await request.clone().text()}`)
    return target.community.fetch(request)
  }
  const second = await pushTo(target, source.storage, { journal, answer })
  expect(writes).toEqual([])
  expect(await everything(target.storage)).toEqual(before)
  expect([second.resumed, fate(second, 'members'), fate(second, 'posts')]).toEqual([true, 'unchanged 6', 'unchanged 3'])

  const { send } = source
  await send('members.update', { params: { id: '101' }, body: { last_name: 'Murray' } })
  await send('posts.update', { params: { id: '401' }, body: { title: 'Hello again' } })
  await send('tags.create', { body: { title: 'Weaver' } })
  await send('answers.upsert', { params: { custom_field_id: '352', member_id: '101' }, body: { text: 'Steady' } })
  const third = await pushTo(target, source.storage, { journal, answer })
  const root = '/admin/v1/networks/1'
  expect(writes).toEqual([
    `PATCH ${root}/members/ID/ {"last_name":"Murray"}`,
    `POST ${root}/tags {"title":"Weaver"}`,
    `POST ${root}/custom_fields/ID/members/ID/answers {"text":"Steady"}`,
    `PATCH ${root}/posts/ID/ {"title":"Hello again"}`,
  ])
  expect([fate(third, 'members'), fate(third, 'tags')]).toEqual(['changed 1, unchanged 5', 'sent 1, unchanged 4'])
  const { here, there } = await sharedContent(source.storage, target.storage, journal)
  expect(there).toEqual(here)
})

test('answers to occurrences go to other dates with their event, and by themselves', async () => {
  const source = await seededSource()
  const target = await emptyTarget()
  const journal = memoryJournal()
  const { send } = source
  const times = { starts_at: '2026-12-01T18:00', ends_at: '2026-12-01T20:00', time_zone: 'Europe/Berlin', frequency: 'weekly' }
  const event = { title: 'Choir', event_type: 'local_meetup', space_id: '201', ...times }
  const { body } = await send('events.create', { body: event })
  const params = { event_id: body.id }
  const ids: string[] = []
  for (const instance_at of ['2026-12-08T18:00', '2026-12-15T18:00', '2026-12-29T18:00']) {
    const made = await send('rsvps.create', { params, body: { member_id: '104', status: 'yes', instance_at } })
    ids.push(made.body.id)
  }
  await pushTo(target, source.storage, { journal })

  await send('events.update', { params: { id: body.id }, body: { starts_at: '2026-12-01T19:00' } })
  await send('rsvps.update', { params: { ...params, id: ids[2] ?? '' }, body: { instance_at: '2027-01-05T19:00' } })
  await pushTo(target, source.storage, { journal })
  const shared = await sharedContent(source.storage, target.storage, journal)
  expect(shared.there).toEqual(shared.here)

  // A closed event takes no change of an answer. The server moves them along by itself.
  await send('events.update', { params: { id: body.id }, body: { rsvp_closed: true } })
  await pushTo(target, source.storage, { journal })
  await send('events.update', { params: { id: body.id }, body: { starts_at: '2026-12-02T19:00', ends_at: '2026-12-02T20:00' } })
  const report = await pushTo(target, source.storage, { journal })
  const closed = await sharedContent(source.storage, target.storage, journal)
  expect(closed.there).toEqual(closed.here)
  expect(report.left.filter(({ refused }) => refused)).toEqual([])
})

test('a run that is cut at any request continues there, and each record is on the server once', async () => {
  const source = await seededSource()
  let cuts = 0
  for (let cutAt = 3; ; cutAt += cutAt < 12 ? 1 : 29) {
    const target = await emptyTarget()
    const state = join(temporaryDirectory(), 'state.jsonl')
    let requests = 0
    let isDead = false
    // Every second time the server does the work first: only its answer is lost.
    const cut: Answer = async (request) => {
      if (!isDead && ++requests < cutAt) return target.community.fetch(request)
      if (!isDead && cutAt % 2 === 0) await target.community.fetch(request)
      isDead = true
      throw new TypeError('fetch failed')
    }
    const run = async (answer?: Answer) => {
      const journal = await openJournal(state, 'network 1', 'there')
      try {
        return await pushTo(target, source.storage, { journal, ...(answer ? { answer } : {}) })
      } finally {
        await journal.close()
      }
    }
    const isWhole = await run(cut).then(
      () => true,
      () => false,
    )
    if (isWhole) break
    cuts++
    await run()
    const journal = await openJournal(state, 'network 1', 'there')
    const { here, there } = await sharedContent(source.storage, target.storage, journal)
    await journal.close()
    expect(there).toEqual(here)
  }
  expect(cuts).toBeGreaterThan(10)
})

test('a request that was cut is sent again unchanged, even if its row has changed since', async () => {
  const source = await seededSource()
  const target = await emptyTarget()
  const state = join(temporaryDirectory(), 'state.jsonl')
  let isDead = false
  const cut: Answer = async (request) => {
    const isPost = request.method === 'POST' && request.url.endsWith('/posts')
    const answer = isDead ? undefined : await target.community.fetch(request)
    if (answer && !isPost) return answer
    isDead = true
    throw new TypeError('fetch failed')
  }
  const first = await openJournal(state, 'network 1', 'there')
  await expect(pushTo(target, source.storage, { journal: first, answer: cut })).rejects.toThrow(/connection/)
  await first.close()
  await source.send('posts.update', { params: { id: '401' }, body: { title: 'Hello again' } })
  const second = await openJournal(state, 'network 1', 'there')
  await pushTo(target, source.storage, { journal: second })
  await second.close()
  const titles = (await everything(target.storage))['posts']?.map((row) => Object(row).title)
  expect(titles?.filter((title) => /Hello/.test(title))).toEqual(['Hello again'])
})

test('429, 503 and lost connections cost time and nothing else', async () => {
  const source = await seededSource()
  const target = await emptyTarget()
  const journal = memoryJournal()
  let requests = 0
  const trouble: Answer = async (request) => {
    requests++
    if (requests % 5 === 0) return Response.json({ error: 'slow down' }, { status: 429, headers: { 'retry-after': '2' } })
    if (requests % 7 === 0) return Response.json({ error: 'later' }, { status: 503 })
    if (requests % 11 === 0) throw new TypeError('fetch failed')
    const response = await target.community.fetch(request)
    if (requests % 13 === 0) throw new TypeError('the answer was lost')
    return response
  }
  await pushTo(target, source.storage, { journal, answer: trouble })
  const { here, there } = await sharedContent(source.storage, target.storage, journal)
  expect(there).toEqual(here)
})

test('a member whose address is taken is matched, after a 422 as after a 409, and keeps the name', async () => {
  const source = await seededSource()
  for (const status of [422, 409]) {
    const target = await emptyTarget()
    const known = { email: 'Grace@example.org', first_name: 'G.', last_name: 'H.' }
    const grace = (await target.send('members.create', { body: known })).body
    const journal = memoryJournal()
    const answer: Answer = async (request) => {
      const response = await target.community.fetch(request)
      return response.status === 422 ? new Response(await response.text(), { status }) : response
    }
    const report = await pushTo(target, source.storage, { journal, answer })
    expect(fate(report, 'members')).toBe('sent 4, matched 2')
    expect(journal.get('members 101')?.to).toBe(grace.id)
    const shown = await target.send('members.show', { params: { id: grace.id } })
    expect(shown.body).toMatchObject({ first_name: 'G.', last_name: 'H.' })
  }
})

test('RSVPs come to an event that is closed, which is closed on the server afterwards', async () => {
  const source = await seededSource()
  await source.storage.transaction((tx) => tx.update(events, '421', { rsvp_closed: true }))
  const target = await emptyTarget()
  const report = await pushTo(target, source.storage)
  expect(fate(report, 'rsvps')).toBe('sent 3')
  const rows = await everything(target.storage)
  expect(rows['events']?.map((row) => Object(row).rsvp_closed)).toEqual([true, false, false])
  expect(rows[rsvps.name]?.length).toBe(3)
})

test('the list of posts keeps its order over posts, polls and events', async () => {
  const source = await createTestCommunity({ storage: memoryStorage() })
  const { send } = source
  const space_id = (await send('spaces.create', { body: { name: 'Feed' } })).body.id
  const times = { starts_at: '2027-01-04T10:00:00Z', ends_at: '2027-01-04T11:00:00Z', event_type: 'local' }
  await send('events.create', { body: { space_id, title: 'First', ...times } })
  await send('posts.create', { body: { space_id, title: 'Second' } })
  await send('polls.create', { body: { space_id, title: 'Third', poll_type: 'question' } })
  await send('events.create', { body: { space_id, title: 'Fourth', ...times } })
  await send('posts.create', { body: { space_id, title: 'Fifth' } })
  const target = await emptyTarget()
  const report = await pushTo(target, source.storage)
  const { items } = (await target.send('posts.list')).body
  expect(items.map(({ title }: { title: string }) => title)).toEqual(['Fifth', 'Fourth', 'Third', 'Second', 'First'])
  expect(['posts', 'polls', 'events'].map((name) => fate(report, name))).toEqual(['sent 2', 'sent 1', 'sent 2'])

  const other = await emptyTarget()
  const error = { error: 'forbidden', message: 'The API token lacks the scope polls:write.', status: 403 }
  const isPoll = ({ url, method }: Request) => method === 'POST' && new URL(url).pathname.endsWith('/polls')
  const answer: Answer = (request) => (isPoll(request) ? Response.json(error, { status: 403 }) : other.community.fetch(request))
  const partial = await pushTo(other, source.storage, { answer })
  expect(['posts', 'polls', 'events'].map((name) => fate(partial, name))).toEqual(['sent 2', 'unsent refused', 'sent 2'])
})

test('a course keeps its tree, its order and the title of its overview', async () => {
  const source = await createTestCommunity({ storage: memoryStorage() })
  const { send } = source
  const space = (await send('spaces.create', { body: { name: 'Course' } })).body
  const params = { space_id: space.id }
  const make = async (body: object) => (await send('courseworks.create', { params, body })).body
  const late = await make({ type: 'section', title: 'Comes second' })
  const first = await make({ type: 'section', title: 'Comes first' })
  await make({ type: 'lesson', title: 'Lesson', parent_id: first.id, status: 'posted', completion_criteria: 'visited' })
  await source.storage.transaction(async (tx) => {
    await tx.update(courseworks, late.id, { position: 2 })
    await tx.update(courseworks, first.id, { position: 1 })
    await tx.update(courseworks, first.parent_id, { title: 'All about colour' })
  })
  const target = await emptyTarget()
  const journal = memoryJournal()
  await pushTo(target, source.storage, { journal })
  const rows: readonly { id: string; title: string; position: number; parent_id: string }[] = (
    (await everything(target.storage))['courseworks'] ?? []
  ).map((row) => Object(row))
  const titleOf = (id: string) => rows.find((row) => row.id === id)?.title
  expect(rows.map(({ title, position, parent_id }) => [title, position, titleOf(parent_id)])).toEqual([
    ['All about colour', 1, undefined],
    ['Comes first', 1, 'All about colour'],
    ['Lesson', 1, 'Comes first'],
    ['Comes second', 2, 'All about colour'],
  ])
  expect((await pushTo(target, source.storage, { journal })).lists.filter(({ changed, sent }) => changed + sent > 0)).toEqual([])
})

test('a dry run counts the same and sends nothing', async () => {
  const source = await seededSource()
  const target = await emptyTarget()
  const writes: string[] = []
  const answer: Answer = (request) => {
    if (request.method !== 'GET') writes.push(request.url)
    return target.community.fetch(request)
  }
  const dry = await pushTo(target, source.storage, { isDry: true, answer })
  expect(writes).toEqual([])
  const wet = await pushTo(target, source.storage)
  const sent = ({ lists }: Report) => lists.map(({ list, sent: some, matched }) => [list, some + matched])
  // The member of the token is found when the members are sent.
  const known = (lists: (string | number)[][]) => lists.filter(([list]) => !String(list).startsWith('reactions'))
  expect(known(sent(dry))).toEqual(known(sent(wet)))
  expect(dry.requests).toBe(1)
})

test('a record that the server refuses is left out with the sentence of the server, and sent when it is right', async () => {
  const source = await seededSource()
  await source.storage.transaction((tx) => tx.update(members, '104', { first_name: ' ' }))
  const target = await emptyTarget()
  const journal = memoryJournal()
  const report = await pushTo(target, source.storage, { journal })
  expect(report.left).toContainEqual({
    list: 'members',
    reason: "422: first_name can't be blank",
    refused: true,
    count: 1,
    ids: ['104'],
  })
  await source.send('members.update', { params: { id: '104' }, body: { first_name: 'Barbara' } })
  expect(fate(await pushTo(target, source.storage, { journal }), 'members')).toBe('sent 1, unchanged 5')
})

test('a list that the token may not write is named, and the others go', async () => {
  const source = await seededSource()
  const target = await emptyTarget()
  const token = await target.newToken(['*:read', 'members:write', 'spaces:write', 'collections:write'])
  const report = await pushTo({ ...target, token }, source.storage)
  expect(report.lists.filter(({ unsent }) => unsent).map(({ list, unsent }) => [list, unsent])).toContainEqual([
    'tags',
    'refused',
  ])
  expect(fate(report, 'spaces')).toBe('sent 4')
})

test('a fault of the server about one record leaves that one out; five in a row end the push', async () => {
  const source = await seededSource()
  const target = await emptyTarget()
  const failing =
    ({ community }: typeof target, fails: (body: string) => boolean): Answer =>
    async (request) =>
      request.method === 'POST' && request.url.endsWith('/members') && fails(await request.clone().text())
        ? Response.json({ error: 'Internal server error' }, { status: 500 })
        : community.fetch(request)
  const report = await pushTo(target, source.storage, { answer: failing(target, (body) => body.includes('Turing')) })
  expect(leftIn(report)).toContain('members: 1 × 500: Internal server error')
  const all = await emptyTarget()
  const never = pushTo(all, source.storage, { answer: failing(all, () => true) })
  await expect(never).rejects.toThrow(/500 Internal server error/)
})

test('only the named groups go, with those that they refer to; invites only if they are named', async () => {
  const source = await seededSource()
  const lists = async (only?: readonly ('tags' | 'invites')[]) =>
    (await pushTo(await emptyTarget(), source.storage, { only })).lists.map(({ list }) => list)
  expect(await lists(['tags'])).toEqual([
    ...['collections', 'spaces', 'order of spaces', 'members', 'members of spaces', 'tags', 'tags of members'],
  ])
  expect(await lists(['invites'])).toEqual(['invites'])
  expect(await lists()).not.toContain('invites')
})

test('a state file continues behind a line that was cut, and is refused for another push or if it is damaged', async () => {
  const path = join(temporaryDirectory(), 'state.jsonl')
  const journal = await openJournal(path, 'network 1', 'there')
  await journal.add([['members 1', { to: '7', sent: { email: 'hash' } }]])
  await expect(openJournal(path, 'network 1', 'there')).rejects.toThrow(/is held by this process/)
  await journal.close()
  appendFileSync(path, '{"label":"members 2","to"')
  const again = await openJournal(path, 'network 1', 'there')
  expect([again.id, again.get('members 1'), again.get('members 2')]).toEqual([
    journal.id,
    { to: '7', sent: { email: 'hash' } },
    undefined,
  ])
  await again.add([['members 3', { to: '9', sent: {} }]])
  await again.close()
  expect(readFileSync(path, 'utf8').split('\n').length).toBe(4)
  await expect(openJournal(path, 'network 1', 'elsewhere')).rejects.toThrow(/not of network 1 to elsewhere: name another file/)
  truncateSync(path, 20)
  appendFileSync(path, '\n')
  await expect(openJournal(path, 'network 1', 'there')).rejects.toThrow(/line 1, is not of a push/)
})
