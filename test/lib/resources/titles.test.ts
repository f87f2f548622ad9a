/** Titles of tags, badges and options: each field has one once, and finding it costs the same however many there are. */
import { expect, test } from 'vitest'
import { titleKey } from '../../../lib/rules/titles.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { type ScopedTx, scoped } from '../../../lib/storage/scoped.ts'
import { customFields, segments } from '../../../lib/storage/tables/custom-fields.ts'
import { createTestCommunity, type TestCommunity } from '../../support/community.ts'
import { testStorage } from '../../support/engines.ts'
import { wrappedStorage } from '../../support/storage.ts'

const at = '2026-11-20T10:00:00.000Z'
const stamp = (id: number) => ({ id: String(id), created_at: at, updated_at: at })

/** A storage that counts how often it is called, and the rows that it gives. */
async function countingStorage() {
  const counts = { calls: 0, rows: 0 }
  const counted = <T extends readonly unknown[] | unknown>(result: T): T => {
    counts.calls++
    counts.rows += Array.isArray(result) ? result.length : 1
    return result
  }
  const behind = await testStorage({ append: async () => {}, close: async () => {} })
  const storage = wrappedStorage(behind, {
    tx: (tx) => ({
      get: async (table, id) => counted(await tx.get(table, id)),
      find: async (table, query) => counted(await tx.find(table, query)),
      insert: async (table, row) => counted(await tx.insert(table, row)),
      update: async (table, id, patch, guard) => counted(await tx.update(table, id, patch, guard)),
      increment: async (table, id, by, guard) => counted(await tx.increment(table, id, by, guard)),
      lock: async (table, id, strength) => counted(await tx.lock(table, id, strength)),
    }),
  })
  return { storage, counts }
}

const inNetwork = <T>({ storage }: { readonly storage: Storage }, work: (tx: ScopedTx) => Promise<T>): Promise<T> =>
  storage.transaction((tx) => work(scoped(tx, '1')))

/** A dropdown with rows as they stand in a database. @param isPulled as they come from another server, which may have titles twice */
async function fieldWith(test: Pick<TestCommunity, 'storage'>, titles: readonly string[], isPulled = false) {
  await inNetwork(test, async (tx) => {
    const response_type = 'dropdown_single_select'
    await tx.insert(customFields, { ...stamp(900), title: 'Company', response_type, allow_ad_hoc: true })
    for (const [place, title] of titles.entries()) {
      const of = { ...stamp(1001 + place), kind: 'option', custom_field_id: '900', creator_id: '1' } as const
      const row = { ...of, title, title_key: titleKey(title), twin_id: isPulled ? of.id : '0' }
      await tx.insert(segments, row)
    }
  })
  return { custom_field_id: '900' }
}

const companies = (count: number) => Array.from({ length: count }, (_, n) => `Company ${n}`)

test('an answer by text costs the same in a field of many options', async () => {
  const costs: unknown[] = []
  for (const options of [100, 3_000]) {
    const { storage, counts } = await countingStorage()
    const test = await createTestCommunity({ storage })
    const field = await fieldWith(test, companies(options))
    const cost = async (operation: string, params: object, body: object) => {
      const before = { ...counts }
      const { status } = await test.send(operation, { params: { ...field, ...params }, body })
      costs.push([operation, status, counts.calls - before.calls, counts.rows - before.rows])
    }
    const member = { member_id: test.owner.id }
    await cost('answers.upsert', member, { text: 'Company 77' })
    await cost('answers.upsert', member, { text: 'Another one' })
    await cost('options.create', {}, { title: 'One more' })
    await cost('options.create', {}, { title: 'company 99' })
    await cost('options.update', { id: '1001' }, { title: 'Renamed' })
    await cost('options.update', { id: '1001' }, { title: 'company 50' })
  }
  const half = costs.length / 2
  expect(costs.slice(half)).toEqual(costs.slice(0, half))
  expect(costs.slice(0, half).map((cost) => Object(cost)[1])).toEqual([200, 200, 201, 422, 200, 422])
})

test('a search reads no further than its page', async () => {
  const { storage, counts } = await countingStorage()
  const test = await createTestCommunity({ storage })
  const params = await fieldWith(test, companies(2_000))
  const before = counts.rows
  const { body } = await test.send('options.list', { params, query: { term: 'company 1', per_page: 50 } })
  expect(body.items).toHaveLength(50)
  expect(counts.rows - before).toBeLessThan(700)
  const titles: string[] = []
  for (let query = { term: 'COMPANY 19', per_page: '50' } as Record<string, string>; ; ) {
    const page = (await test.send('options.list', { params, query })).body
    titles.push(...page.items.map(({ title }: { title: string }) => title))
    if (page.links.next === null) break
    query = Object.fromEntries(new URL(page.links.next).searchParams)
  }
  expect(titles).toEqual(companies(2_000).filter((title) => title.includes('y 19')))
  const third = await test.send('options.list', { params, query: { term: 'company 19', per_page: 50, page: 3 } })
  expect(third.body.items.map(({ title }: { title: string }) => title)).toEqual(titles.slice(100, 150))
})

test.each([
  ['istanbul', 'İstanbul'],
  ['SAO', 'São Paulo'],
  ['strasse', 'Straße'],
  ['STRAẞE', 'Straße'],
  ['ﬁne', 'Fine wine'],
  ['lodz', 'Łódź'],
  ['résumé', 'Resume'],
  ['पानी', 'पानी'],
])('the term %s finds %s', async (term, title) => {
  const { send, ...test } = await createTestCommunity()
  const params = await fieldWith(test, [title, 'Other'])
  const { body } = await send('options.list', { params, query: { term } })
  expect(body.items.map((option: { title: string }) => option.title)).toEqual([title])
})

const alike = ['VIP', 'VIP\u200b', 'V\u200bIP', 'VI\u00adP', 'VIP\ufe0f', '\u202aVIP\u202c', 'V\u2060I\u{e0041}P']

test('titles that differ by invisible characters are one', async () => {
  const { send } = await createTestCommunity()
  const statuses = async (operation: string, bodyOf: (title: string) => object) => {
    const made: number[] = []
    for (const title of alike) made.push((await send(operation, { body: bodyOf(title) })).status)
    return made
  }
  const once = [201, 422, 422, 422, 422, 422, 422]
  expect(await statuses('tags.create', (title) => ({ title }))).toEqual(once)
  expect(await statuses('collections.create', (name) => ({ name }))).toEqual(once)
})

test('titles that differ by an accent are two', async () => {
  const { send, ...test } = await createTestCommunity()
  const params = await fieldWith(test, ['Resume'])
  expect(await send('options.create', { params, body: { title: 'Résumé' } })).toMatchObject({ status: 201 })
  expect(await send('options.create', { params, body: { title: 're\u0301sume\u0301' } })).toMatchObject({ status: 422 })
})

test('twins of another server stay, and each can be changed', async () => {
  const test = await createTestCommunity()
  const params = await fieldWith(test, ['VIP', ' vip', 'VIP', 'Guest'], true)
  const create = async (title: string) => (await test.send('options.create', { params, body: { title } })).status
  const update = async (id: number, title: string) =>
    (await test.send('options.update', { params: { ...params, id }, body: { title } })).status
  expect((await test.send('options.list', { params, query: { term: 'vip' } })).body.items).toHaveLength(3)
  expect(await create('Vip')).toBe(422)
  // A twin may keep its title, written in another way, and take a free one; not that of another row.
  expect(await update(1002, 'Vip')).toBe(200)
  expect(await update(1002, 'guest')).toBe(422)
  expect(await update(1001, 'Regular')).toBe(200)
  expect(await create('VIP')).toBe(422)
  expect(await update(1002, 'Standby')).toBe(200)
  expect(await create('VIP')).toBe(422)
  expect(await update(1003, 'Crew')).toBe(200)
  expect(await create('VIP')).toBe(201)
})

test.each([
  ['tags', { title: 'VIP' }, 'title is already a tag of this network'],
  ['badges', { title: 'VIP', avatar_id: '601' }, 'title is already a badge of this network'],
])('of %s each title is there once, written in whatever way', async (group, body, error) => {
  const { send, storage } = await createTestCommunity()
  await inNetwork({ storage }, async (tx) => {
    const { assets } = await import('../../../lib/storage/tables/content.ts')
    const asset = { type: 'image', asset_style: 'badge', content_type: 'image/png', byte_size: 1 }
    await tx.insert(assets, { ...stamp(601), ...asset, url: 'https://cdn.example.org/a.png' })
  })
  const made = await Promise.all(
    ['VIP', 'vip ', ' Vip', 'VIP'].map((title) => send(`${group}.create`, { body: { ...body, title } })),
  )
  expect(made.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422])
  expect(made.find(({ status }) => status === 422)?.body).toEqual({ error })
  const first = made.find(({ status }) => status === 201)?.body
  const { body: other } = await send(`${group}.create`, { body: { ...body, title: ' Guest ' } })
  expect(other.title).toBe('Guest')
  const rename = (id: string, title: string) => send(`${group}.update`, { params: { id }, body: { title } })
  expect(await rename(other.id, 'vIP')).toMatchObject({ status: 422, body: { error } })
  expect(await rename(first.id, 'vIP')).toMatchObject({ status: 200, body: { title: 'vIP' } })
  const renamed = await Promise.all([rename(first.id, 'Gold'), rename(other.id, 'gold')])
  expect(renamed.map(({ status }) => status).sort()).toEqual([200, 422])
  // By the option of the network's own field, it is the same tag.
  const option = { custom_field_id: first.custom_field_id, id: first.id }
  if (group === 'tags')
    expect(
      await send('options.update', { params: option, body: { title: renamed[0]?.status === 200 ? 'guest' : 'GOLD' } }),
    ).toMatchObject({
      status: 422,
      body: { error },
    })
})

test('many concurrent answers with one new text add one option', async () => {
  const test = await createTestCommunity()
  const params = await fieldWith(test, [])
  const member_ids = [test.owner.id]
  for (let n = 0; n < 8; n++) {
    const { body } = await test.send('members.create', {
      body: { email: `m${n}@example.org`, first_name: `M${n}`, last_name: '' },
    })
    member_ids.push(body.id)
  }
  const answered = await Promise.all(
    member_ids.map((member_id, n) =>
      test.send('answers.upsert', { params: { ...params, member_id }, body: { text: n % 2 === 0 ? 'Acme' : 'ACME' } }),
    ),
  )
  expect(answered.map(({ status }) => status)).toEqual(answered.map(() => 200))
  const { body } = await test.send('options.list', { params })
  expect(body.items).toMatchObject([{ member_count: 9 }])
})

test('the choices of a poll differ from each other', async () => {
  const test = await createTestCommunity()
  const { body: space } = await test.send('spaces.create', { body: { name: 'Room' } })
  const create = (choices: readonly string[]) =>
    test.send('polls.create', { body: { space_id: space.id, title: 'Ready?', poll_type: 'multiple_choice', choices } })
  for (const choices of [
    ['Yes', 'yes'],
    [' Yes', 'Yes'],
    ['é', 'e\u0301'],
  ])
    expect(await create(choices)).toMatchObject({ status: 422, body: { error: 'choices must differ from each other' } })
  const { body } = await create([' Yes ', 'No'])
  expect(body.choices.map(({ text }: { text: string }) => text)).toEqual(['Yes', 'No'])
})
