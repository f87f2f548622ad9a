import { expect, test } from 'vitest'
import { nobody } from '../../support/community.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

const field = { custom_field_id: seeded.dropdown }
const titles = (body: { items: { title: string }[] }): string[] => body.items.map(({ title }) => title)

test('term searches titles, whatever their case and however their accents are written', async () => {
  const { send } = await createSeededCommunity()
  await send('options.create', { params: field, body: { title: 'Bäcker' } })
  const search = async (term: string) => titles((await send('options.list', { params: field, query: { term } })).body)
  expect(await search('')).toEqual(['Gardeners', 'Cooks', 'Readers', 'Singers', 'Bäcker'])
  expect(await search('ERS')).toEqual(['Gardeners', 'Readers', 'Singers'])
  expect(await search('ba\u0308CK')).toEqual(['Bäcker'])
  expect(await search('nothing')).toEqual([])
})

test('a search is paged as every list is', async () => {
  const { send } = await createSeededCommunity()
  const first = (await send('options.list', { params: field, query: { term: 'ers', per_page: 2 } })).body
  expect(titles(first)).toEqual(['Gardeners', 'Readers'])
  const next = new URL(first.links.next)
  const second = (await send('options.list', { params: field, query: Object.fromEntries(next.searchParams) })).body
  expect({ titles: titles(second), next: second.links.next }).toEqual({ titles: ['Singers'], next: null })
})

test('the options of the fields of tags and badges are the tags and badges, with who carries them', async () => {
  const { send, owner } = await createSeededCommunity()
  for (const [kind, id] of [
    ['tag', seeded.tag],
    ['badge', seeded.badge],
  ] as const) {
    const { body: shown } = await send(`${kind}s.show`, { params: { id } })
    const { body } = await send('options.list', { params: { custom_field_id: shown.custom_field_id } })
    expect(body.items.map((option: { member_count: number }) => option.member_count)).toEqual([1, 1, 1, 0])
    expect(body.items[0]).toEqual({
      id,
      created_at: shown.created_at,
      updated_at: shown.updated_at,
      title: shown.title,
      description: shown.description,
      custom_field_id: shown.custom_field_id,
      member_count: 1,
      is_ad_hoc: false,
      creator_id: owner.id,
    })
  }
})

test('an option is added, changed and shown', async () => {
  const { send, owner, newEvents } = await createSeededCommunity()
  const created = await send('options.create', { params: field, body: { title: 'Bakers', description: 'Up early' } })
  expect({ status: created.status, body: created.body }).toEqual({
    status: 201,
    body: {
      id: expect.any(String),
      created_at: '2026-11-20T10:00:00.000Z',
      updated_at: '2026-11-20T10:00:00.000Z',
      title: 'Bakers',
      description: 'Up early',
      custom_field_id: seeded.dropdown,
      member_count: 0,
      is_ad_hoc: false,
      creator_id: owner.id,
    },
  })
  const params = { ...field, id: created.body.id }
  const changed = await send('options.replace', { params, body: { description: null } })
  expect(changed).toMatchObject({ status: 200, body: { ...created.body, description: null } })
  expect((await send('options.show', { params })).body).toEqual(changed.body)
  expect(newEvents()).toEqual([])
})

test('a dropdown has each title once', async () => {
  const { send } = await createSeededCommunity()
  const refusal = { status: 422, body: { error: 'title is already an option of this field' } }
  expect(await send('options.create', { params: field, body: { title: ' cooks ' } })).toMatchObject(refusal)
  const params = { ...field, id: seeded.option }
  expect(await send('options.update', { params, body: { title: 'COOKS' } })).toMatchObject(refusal)
  expect(await send('options.update', { params, body: { title: 'GARDENERS' } })).toMatchObject({ status: 200 })
})

test('only dropdowns have options', async () => {
  const { send } = await createSeededCommunity()
  const { body: tag } = await send('tags.show', { params: { id: seeded.tag } })
  for (const [custom_field_id, kind] of [
    [seeded.textField, 'text_short'],
    [tag.custom_field_id, 'tag'],
  ])
    expect(await send('options.create', { params: { custom_field_id }, body: { title: 'x' } })).toMatchObject({
      status: 422,
      body: { error: `custom_field_id: a field of the kind ${kind} has no own options` },
    })
})

test('a renamed option of the primary field renames the categories of who has chosen it', async () => {
  const { send } = await createSeededCommunity()
  await send('options.update', { params: { ...field, id: seeded.option }, body: { title: 'Growers' } })
  const { body: member } = await send('members.show', { params: { id: seeded.member } })
  expect(member.categories[0]).toEqual({ id: seeded.option, title: 'Growers' })
})

test('a deleted option is taken out of answers and categories; an answer with no choice left goes', async () => {
  const { send, newEvents } = await createSeededCommunity()
  const answers = { params: { ...field, member_id: seeded.member } }
  const chosen = async () =>
    (await send('answers.list', answers)).body.items.map((answer: { segments: { id: string }[] }) =>
      answer.segments.map(({ id }) => id),
    )
  expect(await chosen()).toEqual([['321', '322', '323']])
  expect(await send('options.delete', { params: { ...field, id: '321' } })).toMatchObject({ status: 204, body: undefined })
  expect(await chosen()).toEqual([['322', '323']])
  expect((await send('members.show', { params: { id: seeded.member } })).body.categories).toEqual([
    { id: '322', title: 'Cooks' },
    { id: '323', title: 'Readers' },
  ])
  for (const id of ['322', '323']) await send('options.delete', { params: { ...field, id } })
  expect(await chosen()).toEqual([])
  expect(newEvents()).toEqual([])
})

test('a tag deleted as an option is taken from its members, each with an event', async () => {
  const { send, newEvents } = await createSeededCommunity()
  const { body: tag } = await send('tags.show', { params: { id: seeded.tag } })
  await send('options.delete', { params: { custom_field_id: tag.custom_field_id, id: tag.id } })
  expect(newEvents()).toMatchObject([{ event_type: 'MemberTagRemovedHook', payload: { member: { id: seeded.member }, tag } }])
})

test.each([
  [nobody, seeded.option, 'Custom field not found'],
  [seeded.dropdown, nobody, 'Option not found'],
  [seeded.textField, seeded.option, 'Option not found'],
  [seeded.dropdown, seeded.tag, 'Option not found'],
])('of field %s the option %s is 404: %s', async (custom_field_id, id, error) => {
  const { send } = await createSeededCommunity()
  for (const operation of ['options.show', 'options.delete'])
    expect(await send(operation, { params: { custom_field_id, id } })).toMatchObject({ status: 404, body: { error } })
})
