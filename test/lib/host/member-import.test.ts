/** Members from a file: each row by the operations, a hundred in a transaction, twice is once. */
import { expect, test } from 'vitest'
import type { ImportRefusal, ImportRow } from '../../../lib/index.ts'
import { Conflict, type OutboxWriter, type Storage } from '../../../lib/storage/contract.ts'
import { createTestCommunity, type TestCommunity } from '../../support/community.ts'
import { testStorage } from '../../support/engines.ts'
import { createMembers } from '../../support/members.ts'
import { newSpace, typesOf } from '../../support/records.ts'

const network = '1'
const open = { privacy: 'public', response_by: 'individual_member' } as const
const person = (name: string, more: ImportRow = {}): ImportRow => ({ email: `${name}@example.org`, first_name: name, ...more })

async function importing({ community }: TestCommunity, rows: readonly ImportRow[], options: object = {}) {
  const refused: ImportRefusal[] = []
  const report = await community.members.import('demo', rows, { onRefused: (each) => refused.push(each), ...options })
  return { report, refused }
}

const active = async ({ community }: TestCommunity) =>
  (await community.members.list(network, { state: 'active' })).items.map(({ first_name }) => first_name).toSorted()

test('rows become members with their profile, tags, answers, spaces and events', async () => {
  const run = await createTestCommunity()
  const { community } = run
  const space = await newSpace(run)
  const town = await community.call('custom_fields.create', {
    network,
    body: { title: 'Town', response_type: 'text_short', ...open },
  })
  run.newEvents()
  const rows = [
    person('grace', { last_name: 'Oak', Town: ' Ulm ', bio: 'Paints', tags: 'Founder; Gardener', role: 'Moderator', Shoe: '43' }),
    { Email: 'ben@example.org', name: 'Ben van Blue', commercial_email_consent: 'yes', last_visited_at: '2026-10-01T00:00:00Z' },
  ]
  const { report, refused } = await importing(run, rows, { name: 'Spring', space_ids: [space.id] })
  expect(refused).toEqual([])
  expect(report).toEqual({
    name: 'Spring',
    rows: 2,
    created: 2,
    updated: 0,
    known: 0,
    refused: 0,
    ignored: ['Shoe'],
    refusals: [],
  })
  const events = typesOf(run.newEvents())
  expect(events.filter((type) => type === 'MemberJoinedHook')).toHaveLength(4)
  expect(events).not.toContain('WelcomeEmailRequestedHook')
  const listed = (await community.members.list(network, { q: 'grace oak' })).items
  const grace = await community.members.get(network, listed[0]?.id ?? '')
  expect(grace).toMatchObject({ role: 'moderator', last_name: 'Oak', bio: 'Paints' })
  expect(grace.tags.items.map(({ name }) => name).toSorted()).toEqual(['Founder', 'Gardener', 'Spring'])
  expect(grace.answers.items).toMatchObject([{ field: town.title, answer: { text: 'Ulm' } }])
  expect(grace.spaces.items).toMatchObject([{ id: space.id }])
  const [ben] = (await community.members.list(network, { q: 'blue' })).items
  expect(await community.members.get(network, ben?.id ?? '')).toMatchObject({
    ...{ first_name: 'Ben', last_name: 'van Blue', commercial_email_consent: true },
    last_visited_at: '2026-10-01T00:00:00.000Z',
  })
  const lines = (await community.audit.list({ network, action: 'members.imported' })).items
  expect(lines.map(({ details }) => details)).toMatchObject([
    { stage: 'ended', name: 'Spring', created: 2, quiet: false },
    { stage: 'started' },
  ])
})

test('an address is imported once, in one file and in two', async () => {
  const run = await createTestCommunity()
  const rows = [person('grace'), person('GRACE'), person('ben')]
  expect((await importing(run, rows)).report).toMatchObject({ created: 2, known: 1 })
  run.newEvents()
  expect((await importing(run, rows)).report).toMatchObject({ created: 0, known: 3, refused: 0 })
  expect(run.newEvents()).toEqual([])
  expect(await active(run)).toEqual(['Ada', 'ben', 'grace'])
})

/** A storage in which every transaction that writes loses its first race, after its work. */
function losing(storage: Storage): Storage {
  let writes = 0
  const transaction: Storage['transaction'] = (work, options) =>
    storage.transaction(async (tx) => {
      const result = await work(tx)
      if (options?.readOnly !== true && writes++ % 2 === 0) throw new Conflict('members 1')
      return result
    }, options)
  return { ...storage, transaction }
}

test('a batch that loses a race imports every row when it runs again', async () => {
  const outbox: OutboxWriter = { append: async () => {}, close: async () => {} }
  const run = await createTestCommunity({ storage: losing(await testStorage(outbox)) })
  const rows = Array.from({ length: 150 }, (_, n) => person(`m${n}`, { tags: `Founder; Row ${n % 3}` }))
  const { report, refused } = await importing(run, rows, { name: 'Spring' })
  expect(refused).toEqual([])
  expect(report).toMatchObject({ rows: 150, created: 150, known: 0 })
  const tags = (await run.community.tags.list(network, { kind: 'tag' })).items
  expect(Object.fromEntries(tags.map(({ title, member_count }) => [title, member_count]))).toEqual({
    ...{ Spring: 150, Founder: 150 },
    ...{ 'Row 0': 50, 'Row 1': 50, 'Row 2': 50 },
  })
})

test('two imports of one file at the same time import each row once, and refuse none', async () => {
  const run = await createTestCommunity()
  const rows = Array.from({ length: 250 }, (_, n) => person(`m${n}`, { tags: 'Founder' }))
  const both = await Promise.all([importing(run, rows, { name: 'Spring' }), importing(run, rows, { name: 'Spring' })])
  expect(both.flatMap(({ refused }) => refused)).toEqual([])
  expect(both.reduce((sum, { report }) => sum + report.created, 0)).toBe(250)
  expect(both.map(({ report }) => report.created + report.known)).toEqual([250, 250])
})

test('with update a member who is there gets what the row says', async () => {
  const run = await createTestCommunity()
  await createMembers(run, 'Grace')
  const { report } = await importing(run, [person('grace', { last_name: 'Oak', location: 'Ulm' })], { update: true })
  expect(report).toMatchObject({ created: 0, updated: 1 })
  const [grace] = (await run.community.members.list(network, { q: 'grace@example.org' })).items
  expect(await run.community.members.get(network, grace?.id ?? '')).toMatchObject({ last_name: 'Oak', location: 'Ulm' })
})

test('a row that is refused names its column and reason, and stops no other row', async () => {
  const run = await createTestCommunity()
  const [eve] = await createMembers(run, 'Eve')
  await run.community.members.ban(network, eve.id)
  await run.community.call('custom_fields.create', { network, body: { title: 'Age', response_type: 'number', ...open } })
  run.newEvents()
  const { report, refused } = await importing(run, [
    person('grace'),
    { first_name: 'Nobody' },
    person('eve'),
    { email: 'no address', first_name: 'X' },
    person('fay', { role: 'queen' }),
    person('gus', { commercial_email_consent: 'perhaps' }),
    person('hal', { age: 'old' }),
    person('ida'),
  ])
  expect(report).toMatchObject({ rows: 8, created: 3, refused: 5 })
  expect(refused.map(({ row, column, is_imported }) => [row, column, is_imported])).toEqual([
    [2, 'email', false],
    [3, 'email', false],
    [4, 'email', false],
    [5, 'role', false],
    [6, 'commercial_email_consent', false],
    [7, 'Age', true],
  ])
  expect(refused[5]?.reason).toBe('Age must be a whole number, got "old"')
  expect(await active(run)).toEqual(['Ada', 'grace', 'hal', 'ida'])
  expect(typesOf(run.newEvents()).filter((type) => type === 'MemberJoinedHook')).toHaveLength(3)
})

test('the other values of a profile are taken when one is refused', async () => {
  const run = await createTestCommunity()
  const wrong = { avatar: 'none', location: 'x'.repeat(300) }
  const rows = [person('grace', { bio: 'Paints', commercial_email_consent: '1', ...wrong })]
  const { report, refused } = await importing(run, rows)
  expect(report).toMatchObject({ created: 1, refused: 0 })
  expect(refused.map(({ column, is_imported }) => [column, is_imported]).toSorted()).toEqual([
    ['avatar', true],
    ['location', true],
  ])
  const [grace] = (await run.community.members.list(network, { q: 'grace@example.org' })).items
  expect(await run.community.members.get(network, grace?.id ?? '')).toMatchObject({
    ...{ bio: 'Paints', commercial_email_consent: true, avatar: null, location: null },
  })
})

test('lists and objects of NDJSON are read as titles and as JSON', async () => {
  const run = await createTestCommunity()
  for (const [title, response_type] of [
    ['Places', 'multi_location'],
    ['Vegan', 'boolean'],
  ] as const)
    await run.community.call('custom_fields.create', { network, body: { title, response_type, ...open } })
  const Places = [{ label: 'Ulm', latitude: 48.4, longitude: 10 }]
  const { refused } = await importing(run, [
    person('grace', { tags: ['Founder', 'a; b'], Places, Vegan: true }),
    person('ben', { tags: [], Places: JSON.stringify(Places), Vegan: '1' }),
    person('eve', { location: { town: 'Ulm' }, Vegan: 'N' }),
  ])
  expect(refused).toEqual([])
  const exported: ImportRow[] = []
  for await (const row of run.community.export(network, { what: 'members', trueAddresses: true })) exported.push(row)
  const named = (name: string) => exported.find(({ first_name }) => first_name === name)
  expect(String(named('grace')?.['tags'])).toMatch(/Founder; "a; b"/)
  for (const name of ['grace', 'ben']) expect(named(name)).toMatchObject({ Places: JSON.stringify(Places), Vegan: 'true' })
  expect(named('eve')).toMatchObject({ location: '{"town":"Ulm"}', Vegan: 'false' })
})

test('a quiet import sends no event, and the audit says so', async () => {
  const run = await createTestCommunity()
  const { report } = await importing(run, [person('grace'), person('ben')], { quiet: true })
  expect(report.created).toBe(2)
  expect(run.newEvents()).toEqual([])
  const [line] = (await run.community.audit.list({ network, action: 'members.imported' })).items
  expect(line?.details).toMatchObject({ quiet: true })
})

test('an import shows its progress and stops after the rows that it is at; a second one goes on', async () => {
  const run = await createTestCommunity()
  const rows = Array.from({ length: 250 }, (_, n) => person(`m${n}`))
  const stop = new AbortController()
  const seen: number[] = []
  const onProgress = (report: { rows: number }) => {
    seen.push(report.rows)
    stop.abort()
  }
  const first = await importing(run, rows, { onProgress, signal: stop.signal })
  expect(seen).toEqual([100])
  expect(first.report).toMatchObject({ rows: 100, created: 100 })
  expect((await importing(run, rows)).report).toMatchObject({ rows: 250, created: 150, known: 100 })
})

test('no one from a file has consented to mail unless the file says so, whatever the option for new members is', async () => {
  const run = await createTestCommunity({ newMembersConsent: true })
  await importing(run, [person('grace'), person('ben', { commercial_email_consent: 'yes' })])
  const consentOf = async (q: string) => {
    const [found] = (await run.community.members.list(network, { q })).items
    return (await run.community.members.get(network, found?.id ?? '')).commercial_email_consent
  }
  expect(await consentOf('grace@example.org')).toBe(false)
  expect(await consentOf('ben@example.org')).toBe(true)
})

test('a hook may veto a row', async () => {
  const before = ({ id, body }: { id: string; body: unknown }) => {
    if (id === 'members.create' && JSON.stringify(body).includes('eve@')) throw new Error('vetoed')
  }
  const run = await createTestCommunity({ hooks: { before } })
  await expect(importing(run, [person('grace'), person('eve')])).rejects.toThrow('vetoed')
  expect(await active(run)).toEqual(['Ada'])
})

test('an import in several calls has one beginning and one end in the audit, and counts on', async () => {
  const run = await createTestCommunity()
  const counts = { rows: 2, created: 1, updated: 0, known: 0, refused: 1 }
  const first = await importing(run, [person('grace'), { first_name: 'Nobody' }], { name: 'Spring', more: true })
  expect(first.report).toMatchObject(counts)
  const last = await importing(run, [{ first_name: 'Nobody' }, person('grace')], { name: 'Spring', before: counts })
  expect(last.report).toMatchObject({ rows: 4, created: 1, known: 1, refused: 2 })
  expect(last.refused.map(({ row }) => row)).toEqual([3])
  const lines = async () =>
    (await run.community.audit.list({ network, action: 'members.imported' })).items.map(({ details }) => details)
  expect(await lines()).toMatchObject([{ stage: 'ended', rows: 4, created: 1, known: 1, refused: 2 }, { stage: 'started' }])
  // One that ends amid its calls and is repeated: it began twice, and ended once.
  await importing(run, [person('ben')], { name: 'Spring', more: true })
  await importing(run, [person('ben'), person('ida')], { name: 'Spring' })
  expect((await lines()).slice(0, 3)).toMatchObject([
    { stage: 'ended', rows: 2, created: 1, known: 1 },
    { stage: 'started' },
    { stage: 'started' },
  ])
})

test('wrong options are refused before anything is read', async () => {
  const run = await createTestCommunity()
  await expect(importing(run, [person('grace')], { name: ' ' })).rejects.toMatchObject({ status: 422 })
  await expect(importing(run, [person('grace')], { plans: ['1'] })).rejects.toThrow(TypeError)
  const before = { rows: -1, created: 0, updated: 0, known: 0, refused: 0 }
  await expect(importing(run, [person('grace')], { before })).rejects.toMatchObject({ status: 422 })
  await expect(run.community.members.import('nope', [])).rejects.toMatchObject({ status: 404 })
  expect(await active(run)).toEqual(['Ada'])
})

test('a plan or a space that no row could have is refused before the first row', async () => {
  const run = await createTestCommunity()
  const { community } = run
  const paid = await community.notify.plan({ network, name: 'Patron', pricing_type: 'subscription' })
  const old = await community.notify.plan({ network, name: 'Founder', pricing_type: 'free' })
  await community.call('plans.archive', { network, params: { id: old.id } })
  const wrong = [
    [{ plan_ids: [paid.id] }, `plan_ids: plan ${paid.id} must be paid for (subscription)`],
    [{ plan_ids: [old.id] }, `plan_ids: plan ${old.id} is archived`],
    [{ plan_ids: ['4711'] }, 'plan_ids: there is no plan 4711'],
    [{ space_ids: ['4711'] }, 'space_ids: there is no space 4711'],
  ] as const
  for (const [options, sentence] of wrong)
    await expect(importing(run, [person('grace')], options)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining(sentence),
    })
  expect(await active(run)).toEqual(['Ada'])
  expect((await community.audit.list({ network, action: 'members.imported' })).items).toEqual([])
})

test('a last visit may be a day, and a wrong one is refused by the name of its column', async () => {
  const run = await createTestCommunity()
  const rows = [person('grace', { last_visited_at: '2026-05-01' }), person('ben', { last_visited_at: '2026-02-30' })]
  const { report, refused } = await importing(run, rows)
  expect([report.created, report.refused]).toEqual([2, 0])
  expect(refused).toMatchObject([
    { row: 2, column: 'last_visited_at', reason: expect.stringMatching(/^last_visited_at must be a/), is_imported: true },
  ])
  const { items } = await run.community.members.list(network, { last_visited_before: '2026-05-01T00:00:01Z', state: 'active' })
  expect(items.map(({ first_name }) => first_name)).toEqual(['grace'])
})
