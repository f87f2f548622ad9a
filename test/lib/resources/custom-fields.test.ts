import { expect, test } from 'vitest'
import { ResponseType } from '../../../lib/records/custom-field.ts'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

const asked = { privacy: 'public', response_by: 'individual_member' }
const categoriesOf = async (send: Awaited<ReturnType<typeof createSeededCommunity>>['send'], id: string) =>
  (await send('members.show', { params: { id } })).body.categories

test('a new dropdown has its options, made by the caller', async () => {
  const { send, owner, newEvents } = await createTestCommunity()
  const body = { ...asked, title: 'Plant', response_type: 'dropdown_single_select', options: ['Rose', 'Fern'] }
  const created = await send('custom_fields.create', { body })
  expect({ status: created.status, body: created.body }).toEqual({
    status: 201,
    body: {
      id: expect.any(String),
      created_at: '2026-11-20T10:00:00.000Z',
      updated_at: '2026-11-20T10:00:00.000Z',
      title: 'Plant',
      response_type: 'dropdown_single_select',
      location_granularity: null,
    },
  })
  const { body: options } = await send('options.list', { params: { custom_field_id: created.body.id } })
  expect(options.items).toMatchObject([
    { title: 'Rose', member_count: 0, is_ad_hoc: false, creator_id: owner.id, custom_field_id: created.body.id },
    { title: 'Fern', member_count: 0, is_ad_hoc: false, creator_id: owner.id, custom_field_id: created.body.id },
  ])
  expect((await send('custom_fields.show', { params: { id: created.body.id } })).body).toEqual(created.body)
  expect(newEvents()).toEqual([])
})

test('every kind of field can be made and filtered by; unknown kinds are ignored', async () => {
  const { send } = await createTestCommunity()
  const kinds = ResponseType.options
  for (const response_type of kinds.slice(2))
    expect((await send('custom_fields.create', { body: { ...asked, title: response_type, response_type } })).status).toBe(201)
  for (const response_type of kinds) {
    const { body } = await send('custom_fields.list', { query: { response_type } })
    expect(body.items.map((field: { response_type: string }) => field.response_type)).toEqual([response_type])
  }
  for (const response_type of ['', 'no_such_kind', 'Tag', 'toString'])
    expect((await send('custom_fields.list', { query: { response_type } })).body.items).toHaveLength(kinds.length)
})

test.each([
  ['title is required', { title: undefined }],
  ['privacy must be one of public, private, admin', { privacy: 'secret' }],
  ['response_by must be one of hosts_only, individual_member', { response_by: 'nobody' }],
  ['options is only for dropdown_single_select and dropdown_multi_select', { options: ['a'] }],
  ['allow_ad_hoc is only for dropdown_single_select and dropdown_multi_select', { allow_ad_hoc: true }],
  ['max_responses is only for dropdown_multi_select', { response_type: 'dropdown_single_select', max_responses: 2 }],
  ['max_responses must be a whole number from 2 to 40', { response_type: 'dropdown_multi_select', max_responses: 41 }],
  ['max_responses must be a whole number from 2 to 40', { response_type: 'dropdown_multi_select', max_responses: 1 }],
  ['min_value is only for number', { min_value: 1 }],
  ['max_value must not be below min_value', { response_type: 'number', min_value: 5, max_value: 4 }],
  ['location_granularity is only for location and multi_location', { location_granularity: 'city' }],
  ['location_granularity must be one of address, city, state, country', { response_type: 'location', location_granularity: 'x' }],
  ['options must differ from each other', { response_type: 'dropdown_multi_select', options: ['Rose', 'rosE'] }],
  ["options.1 can't be blank", { response_type: 'dropdown_multi_select', options: ['Rose', ' '] }],
])('a field is refused: %s', async (error, changes) => {
  const { send } = await createTestCommunity()
  const body = { ...asked, title: 'Field', response_type: 'text_short', ...changes }
  expect(await send('custom_fields.create', { body })).toMatchObject({ status: 422, body: { error } })
  expect((await send('custom_fields.list')).body.items).toHaveLength(2)
})

test('tag and badge are no kinds that a host can make', async () => {
  const { send } = await createTestCommunity()
  for (const response_type of ['tag', 'badge', 'essay'])
    expect(await send('custom_fields.create', { body: { ...asked, title: 'x', response_type } })).toMatchObject({
      status: 422,
      body: { error: expect.stringMatching(/^response_type must be one of dropdown_single_select, .*, phone_number$/) },
    })
})

test('PATCH and PUT change what they name', async () => {
  const { send } = await createSeededCommunity()
  const params = { id: seeded.textField }
  const { body: before } = await send('custom_fields.show', { params })
  for (const id of ['custom_fields.update', 'custom_fields.replace'])
    expect(await send(id, { params, body: { title: 'Maxim', status: 'hidden', placeholder: null } })).toMatchObject({
      status: 200,
      body: { ...before, title: 'Maxim', updated_at: '2026-11-20T10:00:00.000Z' },
    })
})

test("the network's own two fields can be neither changed nor deleted", async () => {
  const { send } = await createTestCommunity()
  const { body: fields } = await send('custom_fields.list')
  const refusal = {
    status: 403,
    body: { error: 'The fields of tags and badges belong to the network: they can be neither changed nor deleted' },
  }
  for (const { id } of fields.items) {
    expect(await send('custom_fields.update', { params: { id }, body: { title: 'Mine' } })).toMatchObject(refusal)
    expect(await send('custom_fields.delete', { params: { id } })).toMatchObject(refusal)
  }
  expect((await send('custom_fields.list')).body).toEqual(fields)
})

test('notify_all_members has the host notify everyone, once the field can be seen', async () => {
  const { send, events } = await createSeededCommunity()
  const params = { id: seeded.textField }
  await send('custom_fields.update', { params, body: { status: 'hidden', notify_all_members: true } })
  await send('custom_fields.update', { params, body: { status: 'visible', notify_all_members: false } })
  expect(events('host')).toEqual([])
  const { body: custom_field } = await send('custom_fields.update', { params, body: { notify_all_members: true } })
  expect(events('host').map(({ event_type, payload }) => ({ event_type, payload }))).toEqual([
    { event_type: 'CustomFieldNotificationRequestedHook', payload: { custom_field, network_id: '1' } },
  ])
})

test('the categories of members follow the one primary field', async () => {
  const { send } = await createSeededCommunity()
  const body = { ...asked, title: 'Plant', response_type: 'dropdown_single_select', options: ['Rose', 'Fern'] }
  const { body: plant } = await send('custom_fields.create', { body })
  const [rose] = (await send('options.list', { params: { custom_field_id: plant.id } })).body.items
  const answer = { params: { custom_field_id: plant.id, member_id: seeded.loner }, body: { segment_ids: [rose.id] } }
  await send('answers.upsert', answer)
  expect(await categoriesOf(send, seeded.loner)).toEqual([])

  await send('custom_fields.update', { params: { id: plant.id }, body: { primary: true } })
  expect(await categoriesOf(send, seeded.loner)).toEqual([{ id: rose.id, title: 'Rose' }])
  expect(await categoriesOf(send, seeded.member)).toEqual([])

  await send('custom_fields.update', { params: { id: seeded.dropdown }, body: { primary: true } })
  expect(await categoriesOf(send, seeded.loner)).toEqual([])
  expect((await categoriesOf(send, seeded.member)).map(({ id }: { id: string }) => id)).toEqual(['321', '322', '323'])

  await send('custom_fields.update', { params: { id: seeded.dropdown }, body: { primary: false } })
  expect(await categoriesOf(send, seeded.member)).toEqual([])
})

test('only a dropdown can be primary', async () => {
  const { send } = await createSeededCommunity()
  expect(await send('custom_fields.update', { params: { id: seeded.textField }, body: { primary: true } })).toMatchObject({
    status: 422,
    body: { error: 'primary is for dropdowns only' },
  })
})

test('a deleted field takes its options, answers and categories along, and emits nothing', async () => {
  const { send, newEvents } = await createSeededCommunity()
  await send('custom_fields.update', { params: { id: seeded.dropdown }, body: { primary: true } })
  const params = { id: seeded.dropdown }
  expect(await send('custom_fields.delete', { params })).toMatchObject({ status: 204, body: undefined })
  expect(newEvents()).toEqual([])
  expect(await categoriesOf(send, seeded.member)).toEqual([])
  const gone = { status: 404, body: { error: 'Custom field not found' } }
  expect(await send('custom_fields.show', { params })).toMatchObject(gone)
  expect(await send('options.list', { params: { custom_field_id: seeded.dropdown } })).toMatchObject(gone)
  expect(await send('custom_fields.delete', { params })).toMatchObject(gone)
  // Nothing of it is left to be counted when the member leaves.
  expect((await send('members.delete', { params: { id: seeded.member } })).status).toBe(204)
})

test('an unknown field is 404', async () => {
  const { send } = await createTestCommunity()
  const gone = { status: 404, body: { error: 'Custom field not found' } }
  expect(await send('custom_fields.show', { params: { id: nobody } })).toMatchObject(gone)
  expect(await send('custom_fields.update', { params: { id: nobody }, body: {} })).toMatchObject(gone)
})
