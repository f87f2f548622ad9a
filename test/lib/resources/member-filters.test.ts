/** Filters, order and count of the list of members. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Patch } from '../../../lib/storage/contract.ts'
import { hostScoped } from '../../../lib/storage/scoped.ts'
import { segments } from '../../../lib/storage/tables/custom-fields.ts'
import { type MemberRow, members } from '../../../lib/storage/tables/members.ts'
import { createTestCommunity, request, type TestCommunity } from '../../support/community.ts'
import type { Json } from '../../support/json.ts'
import { neighbour, newMember, newSpace } from '../../support/records.ts'

/** Changes a row as the host would. */
const change = (run: Pick<TestCommunity, 'storage'>, id: string, patch: Patch<MemberRow>) =>
  run.storage.transaction((tx) => hostScoped(tx, '1').update(members, id, patch))

const list = async ({ send }: Pick<TestCommunity, 'send'>, query: Readonly<Record<string, string | number | boolean>>) =>
  (await send('members.list', { query })).body
const names = async (run: Pick<TestCommunity, 'send'>, query: Readonly<Record<string, string | number | boolean>>) =>
  (await list(run, query)).items.map(({ first_name }: Json) => first_name)

const day = (number: number) => `2026-11-${String(number).padStart(2, '0')}T00:00:00.000Z`

/** The host Ada, and four members of whom each filter leaves some. */
async function people() {
  const run = await createTestCommunity()
  await change(run, (await list(run, {})).items[0].id, { created_at: day(1), last_visited_at: day(9) })
  const space = await newSpace(run)
  const members = {
    zoe: await newMember(run, 'zoe', { first_name: 'Zoë', last_name: 'Ångström', role: 'moderator' }),
    ben: await newMember(run, 'ben', { first_name: 'Ben', last_name: 'Blue', member_type: 'limited', space_ids: [space.id] }),
    cleo: await newMember(run, 'cleo', { first_name: 'Cleo', last_name: 'Blue-Ash' }),
    dan: await newMember(run, 'dan', { first_name: 'Dan', last_name: '' }),
  }
  await change(run, members.zoe.id, { created_at: day(2), commercial_email_consent: true, last_visited_at: day(5) })
  await change(run, members.ben.id, { created_at: day(3), last_visited_at: day(5) })
  await change(run, members.cleo.id, { created_at: day(4) })
  await change(run, members.dan.id, { created_at: day(5) })
  return { ...run, space, members }
}

test('words find members by every part of the name, without regard to case and accents', async () => {
  const run = await people()
  expect(await names(run, { q: 'blue' })).toEqual(['Ben', 'Cleo'])
  expect(await names(run, { q: '  ASH   blue ' })).toEqual(['Cleo'])
  expect(await names(run, { q: 'angstrom zoe' })).toEqual(['Zoë'])
  expect(await names(run, { q: 'ÅNGSTRÖM' })).toEqual(['Zoë'])
  expect(await names(run, { q: 'nobody' })).toEqual([])
  // A word is within one name.
  expect(await names(run, { q: 'benb' })).toEqual([])
  expect(await names(run, { q: '%' })).toEqual([])
})

test.each([
  ['STRASSE', 'Straße'],
  ['straẞe', 'STRASSE'],
  ['IŞIK', 'Işık'],
  ['istanbul', 'İSTANBUL'],
  ['ΠΑΠΑΣ', 'Παπασταύρου'],
  ['νίκος', 'ΝΙΚΟΣ'],
  ['soren', 'Søren'],
  ['№5', 'no5'],
])('the search for %s finds %s', async (q, first_name) => {
  const run = await createTestCommunity()
  await newMember(run, 'one', { first_name, last_name: '' })
  expect(await names(run, { q })).toEqual([first_name])
})

test('a search finds the addresses that records show, and no others', async () => {
  const run = await people()
  expect(await names(run, { q: 'zoe@example.org' })).toEqual(['Zoë'])
  expect(await names(run, { q: '@example' })).toEqual(['Zoë'])
  expect(await names(run, { q: 'ben@example.org' })).toEqual([])
  await run.community.networks.update('1', { member_email_visibility: false })
  expect(await names(run, { q: '@example' })).toEqual([])
  expect(await names(run, { q: 'zoe' })).toEqual(['Zoë'])
})

test('no search tells apart two networks that differ only in hidden addresses', async () => {
  const run = await createTestCommunity()
  const { id } = await newMember(run, 'hidden', { first_name: 'Ann', last_name: 'Other' })
  const alphabet = fc.constantFrom(...'annother hidde@xmpl.og_%\\\u0301', ' ')
  const word = fc.string({ unit: alphabet, minLength: 1, maxLength: 6 }).filter((text) => text.trim() !== '')
  const piece = fc
    .integer({ min: 0, max: 17 })
    .chain((from) => fc.integer({ min: 1, max: 19 }).map((length) => 'hidden@example.org'.slice(from, from + length)))
  for (const member_email_visibility of [true, false]) {
    await run.community.networks.update('1', { member_email_visibility })
    // With consent, a network that shows no addresses masks them.
    await change(run, id, { commercial_email_consent: !member_email_visibility })
    await fc.assert(
      fc.asyncProperty(fc.oneof(word, piece), fc.constantFrom('hidden@example.org', 'x@y.zz'), async (q, other) => {
        await change(run, id, { email: 'hidden@example.org' })
        const found = await list(run, { q, count: true })
        await change(run, id, { email: other })
        expect(await list(run, { q, count: true })).toEqual(found)
      }),
      { numRuns: 40 },
    )
  }
})

test('role, kind, space, plan, tag and badge leave the members who have it', async () => {
  const run = await people()
  const { send, members, space, community } = run
  expect(await names(run, { role: 'host' })).toEqual(['Ada'])
  expect(await names(run, { role: 'moderator' })).toEqual(['Zoë'])
  expect(await names(run, { member_type: 'limited' })).toEqual(['Ben'])
  expect(await names(run, { member_type: 'full', role: 'contributor' })).toEqual(['Cleo', 'Dan'])
  expect(await names(run, { space_id: space.id })).toEqual(['Ben'])
  const tag = (await send('tags.create', { body: { title: 'Blue' } })).body
  const badge = await run.storage.transaction(async (tx) => {
    const row = await tx.get(segments, tag.id)
    if (!row) throw new Error('the tag is gone')
    return tx.insert(segments, {
      ...row,
      id: '77',
      kind: 'badge',
      title: 'Gold',
      title_key: 'gold',
      twin_id: '77',
      member_count: 0,
    })
  })
  for (const member of [members.cleo, members.ben])
    await send('member_tags.create', { params: { member_id: member.id }, body: { tag_id: tag.id } })
  await send('member_badges.create', { params: { member_id: members.cleo.id }, body: { badge_id: badge.id } })
  expect(await names(run, { tag_id: tag.id })).toEqual(['Ben', 'Cleo'])
  expect(await names(run, { badge_id: badge.id })).toEqual(['Cleo'])
  expect(await names(run, { tag_id: tag.id, badge_id: badge.id })).toEqual(['Cleo'])
  expect(await names(run, { tag_id: tag.id, member_type: 'limited', q: 'ben', space_id: space.id })).toEqual(['Ben'])
  // A badge is no tag.
  expect(await names(run, { tag_id: badge.id })).toEqual([])
  expect(await names(run, { plan_id: '404' })).toEqual([])
  expect(await names(run, { tag_id: '18446744073709551615' })).toEqual([])
  await send('members.delete', { params: { id: members.ben.id } })
  expect(await names(run, { tag_id: tag.id })).toEqual(['Cleo'])
  const { network } = await neighbour(run)
  const theirs = await community.call('members.list', { network: network.id, query: { tag_id: tag.id } })
  expect(theirs.items).toEqual([])
})

test('a key needs the scope of tags and badges to filter by them', async () => {
  const { community, send } = await people()
  const tag = (await send('tags.create', { body: { title: 'Blue' } })).body
  const status = async (scopes: string[], query: string) => {
    const { token } = await community.keys.create({ network: '1', name: 'narrow', scopes })
    const headers = { authorization: `Bearer ${token}` }
    return (await request(community, 'GET', `/admin/v1/networks/1/members?${query}`, { headers })).status
  }
  expect(await status(['members:read'], `tag_id=${tag.id}`)).toBe(403)
  expect(await status(['members:read'], `badge_id=${tag.id}`)).toBe(403)
  expect(await status(['members:read', 'tags:read'], `tag_id=${tag.id}`)).toBe(200)
  expect(await status(['*:read'], `tag_id=${tag.id}&badge_id=${tag.id}`)).toBe(200)
  expect(await status(['members:read'], 'role=host&q=a')).toBe(200)
})

test('times are ranges from a moment up to another one; who never visited is in none', async () => {
  const run = await people()
  expect(await names(run, { created_after: day(3) })).toEqual(['Ben', 'Cleo', 'Dan'])
  expect(await names(run, { created_before: day(3) })).toEqual(['Ada', 'Zoë'])
  expect(await names(run, { created_after: day(2), created_before: day(4) })).toEqual(['Zoë', 'Ben'])
  expect(await names(run, { created_after: '2026-11-03T02:00:00+02:00' })).toEqual(['Ben', 'Cleo', 'Dan'])
  expect(await names(run, { last_visited_before: day(30) })).toEqual(['Zoë', 'Ben', 'Ada'])
  expect(await names(run, { last_visited_after: day(6) })).toEqual(['Ada'])
  expect(await names(run, { last_visited_after: day(1), last_visited_before: day(9), role: 'moderator' })).toEqual(['Zoë'])
})

test('the list is sorted by creation, last visit or name, with members who never visited first', async () => {
  const run = await people()
  expect(await names(run, { sort: 'name' })).toEqual(['Ada', 'Ben', 'Cleo', 'Dan', 'Zoë'])
  expect(await names(run, { sort: '-name' })).toEqual(['Zoë', 'Dan', 'Cleo', 'Ben', 'Ada'])
  expect(await names(run, { sort: '-created_at' })).toEqual(['Dan', 'Cleo', 'Ben', 'Zoë', 'Ada'])
  expect(await names(run, { sort: 'last_visited_at' })).toEqual(['Cleo', 'Dan', 'Zoë', 'Ben', 'Ada'])
  expect(await names(run, { sort: '-last_visited_at', role: 'contributor' })).toEqual(['Ben', 'Dan', 'Cleo'])
})

test('pages of every order and filter follow each other without a gap, nulls included', async () => {
  const run = await people()
  const { send, members, space } = run
  for (const [place, name] of ['Ben', 'Ann', 'Ben', 'Eve'].entries()) {
    const { id } = await newMember(run, `more${place}`, { first_name: name, last_name: 'Blue' })
    if (place > 1) await change(run, id, { last_visited_at: day(5) })
  }
  await send('space_members.create', { params: { space_id: space.id }, query: { user_id: members.zoe.id } })
  const filters = [{}, { q: 'blue' }, { created_after: day(2) }, { space_id: space.id }, { last_visited_before: day(9) }]
  for (const sort of ['', 'created_at', '-created_at', 'last_visited_at', '-last_visited_at', 'name', '-name'])
    for (const filter of filters) {
      const query = { ...filter, ...(sort === '' ? {} : { sort }) }
      const whole = (await list(run, { ...query, per_page: 100 })).items
      for (const per_page of [1, 2, 3]) {
        const walked: Json[] = []
        for (let next: string | null = `?${new URLSearchParams({ ...query, per_page: String(per_page) } as never)}`; next; ) {
          const { items, links } = await list(run, Object.fromEntries(new URL(next, 'https://example.org').searchParams))
          walked.push(...items)
          next = links.next
        }
        expect(walked, JSON.stringify({ ...query, per_page })).toEqual(whole)
      }
      const second = await list(run, { ...query, per_page: 2, page: 2 })
      expect(second.items).toEqual(whole.slice(2, 4))
    }
})

test('count gives the numbers of the whole list, whichever the page', async () => {
  const run = await people()
  expect((await list(run, {})).meta).toBeUndefined()
  expect((await list(run, { count: false })).meta).toBeUndefined()
  expect((await list(run, { count: true, per_page: 2 })).meta).toEqual({
    current_page: 1,
    per_page: 2,
    total_count: 5,
    total_pages: 3,
  })
  expect((await list(run, { count: '1', q: 'blue', page: 2, per_page: 1 })).meta).toEqual({
    current_page: 2,
    per_page: 1,
    total_count: 2,
    total_pages: 2,
  })
  expect((await list(run, { count: true, q: 'nobody' })).meta).toMatchObject({ total_count: 0, total_pages: 0 })
  expect((await list(run, { count: true, page: 99 })).meta).toMatchObject({ current_page: 99, total_count: 5 })
})

test('a wrong value is refused with its name', async () => {
  const run = await people()
  const refused = async (query: Readonly<Record<string, string>>) => {
    const { status, body } = await run.send('members.list', { query })
    return [status, body.error]
  }
  expect(await refused({ q: ' ' })).toEqual([422, 'q must be a text of 1 to 200 characters'])
  expect(await refused({ q: 'x'.repeat(201) })).toEqual([422, 'q must be a text of 1 to 200 characters'])
  // A text without a word would find everyone.
  for (const q of ['\u0301', '\u00b4', '\u00a0'])
    expect(await refused({ q })).toEqual([422, 'q must be a text of 1 to 200 characters'])
  for (const q of ['\0', '\0abc', 'abc\0def'])
    expect(await refused({ q })).toEqual([422, 'q must be well-formed Unicode without NUL'])
  expect((await refused({ q: '\u{1f98a}'.repeat(200) }))[0]).toBe(200)
  expect(await refused({ role: 'admin' })).toEqual([422, 'role must be one of host, moderator, contributor'])
  expect(await refused({ member_type: '' })).toEqual([422, 'member_type must be one of full, limited'])
  expect(await refused({ tag_id: 'blue' })).toEqual([422, 'tag_id must be an id'])
  expect(await refused({ created_after: '2026-02-30T00:00:00Z' })).toEqual([
    422,
    'created_after must be a date and time that exists',
  ])
  expect(await refused({ last_visited_before: 'June' })).toEqual([422, 'last_visited_before must be a date and time in ISO 8601'])
  expect(await refused({ sort: 'age' })).toEqual([
    422,
    'sort must be one of created_at, -created_at, last_visited_at, -last_visited_at, name, -name',
  ])
  expect(await refused({ count: 'some' })).toEqual([422, 'count must be true or false'])
  const place = 'after must be copied unchanged from links.next'
  expect(await refused({ sort: 'name', after: '12' })).toEqual([400, place])
  expect(await refused({ after: 'ada_12' })).toEqual([400, place])
  expect(await refused({ sort: 'name', after: 'ada_' })).toEqual([400, place])
  expect(await refused({ sort: 'name', after: 'ada_9007199254740991' })).toEqual([400, place])
  // PostgreSQL does not even compare such a text.
  for (const sort of ['name', '-name', 'created_at', 'last_visited_at'])
    expect(await refused({ sort, after: 'a\0_5' })).toEqual([400, place])
})

test('an extension that comes twice or as a list is refused, and of other parameters the last one counts', async () => {
  const run = await people()
  const seen = async (path: string) => {
    const headers = { authorization: `Bearer ${run.token}` }
    const { status, body } = await request(run.community, 'GET', `/admin/v1/networks/1/${path}`, { headers })
    return [status, body.error ?? body.items.length]
  }
  const once = (name: string) => [422, `${name} must be given once, and not as a list`]
  expect(await seen('members?q=ben&q=dan')).toEqual(once('q'))
  expect(await seen('members?q%5B%5D=ben')).toEqual(once('q'))
  expect(await seen('members?tag_id[0]=1&sort=name')).toEqual(once('tag_id'))
  expect(await seen('members?sort=name&per_page=2&sort=-name')).toEqual(once('sort'))
  expect(await seen('tags?count=true&count=false')).toEqual(once('count'))
  expect(await seen('events?starts_after=2026-11-20T10:00:00Z&starts_after=2026-11-21T10:00:00Z')).toEqual(once('starts_after'))
  expect(await seen('members?per_page=5&per_page=2&page=1&page=1')).toEqual([200, 2])
  expect(await seen('members?email=ben@example.org&email=dan@example.org&email[]=x&quality[]=1&__proto__=1')).toEqual([200, 1])
  expect(await seen('posts?space_id=1&space_id=2')).toEqual([200, 0])
})

test('a place of another filter leaves out what the filter leaves out', async () => {
  const run = await people()
  for (const sort of ['-created_at', 'created_at'])
    for (const after of [`${day(30)}_1`, `${day(1)}_1`]) {
      const found = await names(run, { sort, after, created_after: day(2), created_before: day(4) })
      expect(found.filter((name: string) => name !== 'Zoë' && name !== 'Ben')).toEqual([])
    }
  expect(await names(run, { sort: '-created_at', after: `${day(30)}_1`, created_before: day(4) })).toEqual(['Ben', 'Zoë', 'Ada'])
})
