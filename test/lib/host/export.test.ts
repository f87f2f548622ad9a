/** Exports: flat rows of each subject, addresses by the rules of the API, and members that an import brings back. */
import { expect, test } from 'vitest'
import { readTable, writeCsv } from '../../../lib/csv/table.ts'
import { exportSubjects } from '../../../lib/host/export/export.ts'
import { type ExportQuery, type ExportRow, isApiError } from '../../../lib/index.ts'
import { createTestCommunity, type TestCommunity } from '../../support/community.ts'
import { createMembers } from '../../support/members.ts'
import { neighbour, newComment, newMember, newPost, newSpace } from '../../support/records.ts'

const network = '1'
const open = { privacy: 'public', response_by: 'individual_member' } as const

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const row of rows) found.push(row)
  return found
}

const exported = ({ community }: TestCommunity, query: ExportQuery) => all(community.export(network, query))
const refusalOf = (run: TestCommunity, query: ExportQuery) =>
  exported(run, query).then(
    () => 'accepted',
    (error: unknown) => (isApiError(error) ? `${error.status} ${error.message}` : String(error)),
  )

const field = ({ community }: TestCommunity, title: string, response_type: string, more: object = {}) =>
  community.call('custom_fields.create', { network, body: { title, response_type, ...open, ...more } as never })

/** What an import is to bring back: ids, times of the import and its tag are its own. */
const comparable = (rows: readonly ExportRow[]) =>
  rows
    .map(
      ({ id, created_at, updated_at, tags, ...row }): ExportRow => ({
        ...row,
        tags: String(tags)
          .split('; ')
          .filter((title) => title !== 'Moved')
          .toSorted(),
      }),
    )
    .toSorted((one, other) => String(one['email']).localeCompare(String(other['email'])))

const texts: readonly ExportRow[] = [
  { email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak', role: 'moderator', commercial_email_consent: 'yes' },
  { email: 'ben@example.org', first_name: '=SUM(A1)', last_name: "'=x", bio: 'two\nlines, "quoted"; and\ta tab', location: '-1' },
  { email: 'ida@example.org', first_name: 'Ида', tags: 'Founder; "a; b"; """q"""', last_visited_at: '2026-10-01T00:00:00Z' },
  {
    email: 'jo@example.org',
    first_name: 'Jo',
    member_type: 'full',
    time_zone: 'Europe/Berlin',
    avatar: 'https://x.example/a.png',
  },
]
const answers: ExportRow = {
  ...{ Town: '+49 is no sum', Age: '42', Vegan: 'yes', Born: '2001-02-03', Away: '2026-12-01/2026-12-24', Day: '02-29' },
  ...{ Home: '52.5,13.4', Site: 'https://grace.example/', Colour: 'Red; dark', Hobbies: '"Sing; dance"; Paint' },
  Places: '[{"label":"Ulm","latitude":48.4,"longitude":10}]',
}

async function withFields(run: TestCommunity) {
  for (const [title, type] of [
    ...([
      ['Town', 'text_short'],
      ['Age', 'number'],
      ['Vegan', 'boolean'],
      ['Born', 'date'],
      ['Away', 'date_range'],
    ] as const),
    ...([
      ['Day', 'recurring_date'],
      ['Home', 'location'],
      ['Site', 'url'],
      ['Places', 'multi_location'],
    ] as const),
  ])
    await field(run, title, type)
  await field(run, 'Colour', 'dropdown_single_select', { options: ['Red; dark', 'Blue'] })
  await field(run, 'Hobbies', 'dropdown_multi_select', { options: ['Sing; dance', 'Paint', 'Read'] })
}

test.each(['csv', 'ndjson'] as const)('an import of an export as %s gives the same members', async (format) => {
  const [from, to] = [await createTestCommunity(), await createTestCommunity()]
  for (const each of [from, to]) await withFields(each)
  const refused: unknown[] = []
  const options = { name: 'Moved', onRefused: (refusal: unknown) => refused.push(refusal) }
  await from.community.members.import(network, [{ ...texts[0], ...answers }, ...texts.slice(1)], options)
  const [gone] = await createMembers(from, 'Eve')
  await from.community.members.ban(network, gone.id)

  const rows = await exported(from, { what: 'members', trueAddresses: true })
  expect(rows).toHaveLength(6)
  const columns = Object.keys(rows[0] ?? {})
  const file = format === 'csv' ? writeCsv(columns, rows, true) : rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const report = await to.community.members.import(network, readTable([file], format), options)
  expect(report).toMatchObject({ created: 4, known: 1, refused: 1 })
  expect(refused).toMatchObject([{ email: 'eve@example.org', column: 'state', is_imported: false }])

  const members = { what: 'members', trueAddresses: true, filter: { state: 'active' } } as const
  expect(comparable(await exported(to, members))).toEqual(comparable(await exported(from, members)))
  const grace = (await exported(to, members)).find(({ email }) => email === 'grace@example.org')
  expect(grace).toMatchObject({ ...answers, Vegan: 'true', Day: '2-29', role: 'moderator' })
})

test('a custom field whose title is taken has its id in the column, and an import reads it back', async () => {
  const run = await createTestCommunity()
  const [first, second, third] = [
    await field(run, 'Town', 'text_short'),
    await field(run, 'town', 'text_short'),
    await field(run, 'Email', 'text_short'),
  ]
  const row = { Town: 'Ulm', [`town (${second.id})`]: 'Bonn', [`Email (${third.id})`]: 'work' }
  await run.community.members.import(network, [{ email: 'grace@example.org', first_name: 'Grace', ...row }])
  const [grace] = await exported(run, { what: 'members', trueAddresses: true, filter: { q: 'grace' } })
  expect(grace).toMatchObject({ email: 'grace@example.org', ...row })
  const given = await run.send('answers.list', { params: { custom_field_id: first.id, member_id: String(grace?.['id']) } })
  expect(given.body.items).toMatchObject([{ text: 'Ulm' }])
})

test('addresses are those that the API shows, unless true ones are meant, which the audit says', async () => {
  const run = await createTestCommunity()
  const [grace] = await createMembers(run, 'Grace', 'Ben')
  await run.community.notify.emailConsent({ network, member_id: grace.id, consent: true })
  const space = await newSpace(run)
  await newPost(run, space.id)
  await run.community.call('invites.create', { network, body: { recipient_email: 'new@example.org' } as never })
  const addresses = async (query: ExportQuery) => (await exported(run, query)).map((row) => row['email'])
  expect(await addresses({ what: 'members' })).toEqual(['', 'grace@example.org', ''])
  for (const what of exportSubjects) expect(JSON.stringify(await exported(run, { what }))).not.toMatch(/ben@|host@/)
  const lines = async () => (await run.community.audit.list({ network, action: 'export.true_addresses' })).items
  expect(await lines()).toEqual([])
  const query = { what: 'members', trueAddresses: true, filter: { q: 'example.org' } } as const
  expect(await addresses(query)).toEqual(['host@example.org', 'grace@example.org', 'ben@example.org'])
  expect(await lines()).toMatchObject([{ subject: { type: 'network' }, details: { what: 'members', filter: ['q'] } }])
  expect(JSON.stringify(await lines())).not.toContain('example.org')
})

test('every subject is exported with names beside ids, and without what only the storage needs', async () => {
  const run = await createTestCommunity()
  const { send, community } = run
  const space = await newSpace(run)
  const post = await newPost(run, space.id)
  await newComment(run, post.id)
  const times = { starts_at: '2026-12-01T10:00:00Z', ends_at: '2026-12-01T11:00:00Z', time_zone: 'UTC' }
  const event = (
    await send('events.create', { body: { space_id: space.id, title: 'Fair', event_type: 'local_meetup', ...times } })
  ).body
  const grace = await newMember(run, 'grace')
  await community.call('rsvps.create', { network, params: { event_id: event.id }, body: { member_id: grace.id, status: 'yes' } })
  const filtered = async (what: ExportQuery['what'], filter: object) =>
    (await exported(run, { what, filter })).map(({ title }) => title)
  expect(await filtered('posts', { q: 'hel' })).toEqual(['Hello'])
  expect(await filtered('posts', { space_id: space.id })).toEqual(['Hello', 'Fair'])
  expect(await filtered('posts', { creator_id: grace.id })).toEqual([])
  expect(await filtered('events', { starts_before: times.starts_at })).toEqual([])
  expect(await filtered('events', { starts_after: times.starts_at, space_id: space.id })).toEqual(['Fair'])
  const of = (what: ExportQuery['what']) => exported(run, { what })
  expect(await of('posts')).toMatchObject([{ title: 'Hello', space_name: 'Garden', creator_name: 'Ada Host' }, { title: 'Fair' }])
  expect(await of('comments')).toMatchObject([{ text: 'Well said', post_title: 'Hello', author_name: 'Ada Host' }])
  expect(await of('events')).toMatchObject([{ id: event.id, title: 'Fair', space_name: 'Garden', creator_name: 'Ada Host' }])
  expect(await of('rsvps')).toMatchObject([{ event_title: 'Fair', member_name: 'grace Test', status: 'yes' }])
  for (const what of exportSubjects)
    for (const row of await of(what))
      expect(Object.keys(row).filter((name) => /network_id|_key$|twin_id|hash/.test(name))).toEqual([])
})

test('fields choose columns and their order, and what does not exist is refused by name', async () => {
  const run = await createTestCommunity()
  const rows = await exported(run, { what: 'members', fields: ['last_name', 'id'] })
  expect(rows.map((row) => Object.keys(row))).toEqual([['last_name', 'id']])
  expect(await refusalOf(run, { what: 'members', fields: ['shoe'] })).toContain('422 fields: there is no column "shoe"')
  expect(await refusalOf(run, { what: 'posts', filter: { role: 'host' } })).toContain('422 role is no filter of posts')
  expect(await refusalOf(run, { what: 'members', filter: { role: 'queen' as never } })).toMatch(/^422 role/)
  expect(await refusalOf(run, { what: 'all' as never })).toMatch(/^422 what/)
})

test('a walk takes each row once, whatever comes and goes between its pages, and nothing of another network', async () => {
  const run = await createTestCommunity()
  const { community } = run
  const { network: other } = await neighbour(run)
  const people = Array.from({ length: 230 }, (_, n) => ({ email: `m${n}@example.org`, first_name: `m${n}`, last_name: '' }))
  await community.members.import(network, people, { quiet: true })
  const first = await community.exportPage(network, { what: 'members' })
  expect([first.rows.length, first.next]).toEqual([100, first.rows.at(-1)?.['id']])
  const seen: unknown[] = []
  for await (const row of community.export(network, { what: 'members' })) {
    seen.push(row['id'])
    if (seen.length === 50) await community.members.remove(network, String(row['id']))
    if (seen.length === 60) await newMember(run, 'late')
  }
  expect(new Set(seen).size).toBe(232)
  expect(await all(community.export(other.id, { what: 'members' }))).toHaveLength(1)
})
