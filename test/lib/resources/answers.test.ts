import { expect, test } from 'vitest'
import { nobody } from '../../support/community.ts'
import type { Json } from '../../support/json.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

const asked = { title: 'Question', privacy: 'public', response_by: 'individual_member' }

/** A seeded network with a new field of a kind, and ways to answer it for a member without answers. */
async function withField(response_type: string, more: object = {}) {
  const network = await createSeededCommunity()
  const { send } = network
  const { body: field } = await send('custom_fields.create', { body: { ...asked, response_type, ...more } })
  const { body: options } = await send('options.list', { params: { custom_field_id: field.id } })
  const params = { custom_field_id: field.id, member_id: seeded.loner }
  const { body: member } = await send('members.show', { params: { id: seeded.loner } })
  return {
    ...network,
    field,
    member,
    params,
    options: options.items as Json[],
    answer: (body: object) => send('answers.upsert', { params, body }),
    list: async (): Promise<Json[]> => (await send('answers.list', { params })).body.items,
  }
}

const nothing = {
  text: null,
  segments: [],
  number: null,
  boolean_value: null,
  date: null,
  start_date: null,
  end_date: null,
  month: null,
  day: null,
  url: null,
  phone_number: null,
  latitude: null,
  longitude: null,
  member_id: null,
  locations: [],
}

test('a first answer is made, a second one replaces it, an empty one clears it, and each sends its event', async () => {
  const { answer, list, send, field, member, params, newEvents } = await withField('text_short')
  const made = await answer({ text: 'Slow' })
  const record = {
    id: expect.any(String),
    created_at: '2026-11-20T10:00:00.000Z',
    updated_at: '2026-11-20T10:00:00.000Z',
    user_id: seeded.loner,
    custom_field_id: field.id,
    last_edited_at: '2026-11-20T10:00:00.000Z',
    ...nothing,
    text: 'Slow',
  }
  expect({ status: made.status, body: made.body }).toEqual({ status: 200, body: record })
  expect(await list()).toEqual([made.body])
  expect((await send('answers.show', { params: { ...params, id: made.body.id } })).body).toEqual(made.body)

  const replaced = await answer({ text: 'Steady' })
  expect(replaced).toMatchObject({ status: 200, body: { ...made.body, text: 'Steady' } })

  const cleared = await answer({ text: '' })
  expect({ status: cleared.status, body: cleared.body }).toEqual({ status: 204, body: undefined })
  expect(await list()).toEqual([])
  expect((await answer({ text: null })).status).toBe(204)

  const about = { member, custom_field: field, network_id: '1' }
  expect(newEvents().map(({ event_type, payload }) => ({ event_type, payload }))).toEqual([
    { event_type: 'CustomFieldResponseCreatedHook', payload: { ...about, text: 'Slow', segments: [] } },
    {
      event_type: 'CustomFieldResponseUpdatedHook',
      payload: { ...about, previous_text: 'Slow', new_text: 'Steady', previous_segments: [], new_segments: [] },
    },
    { event_type: 'CustomFieldResponseRemovedHook', payload: { ...about, text: 'Steady', segments: [] } },
  ])
})

test.each([
  ['text_short', {}, { text: 'x'.repeat(255) }, {}, 'x'.repeat(255)],
  ['text_short', {}, { text: '🌱'.repeat(255) }, {}, '🌱'.repeat(255)],
  ['text_long', {}, { text: 'x'.repeat(300) }, {}, 'x'.repeat(300)],
  ['number', { min_value: 3, max_value: 5 }, { number: 5 }, {}, '5'],
  ['number', {}, { number: 0 }, {}, '0'],
  ['boolean', {}, { boolean_value: false }, {}, 'false'],
  ['date', {}, { date: '2024-02-29' }, {}, '2024-02-29'],
  ['date_range', {}, { start_date: '2026-01-31', end_date: '2026-01-31' }, {}, '2026-01-31/2026-01-31'],
  ['recurring_date', {}, { month: 2, day: 29 }, {}, '2-29'],
  ['url', {}, { url: 'https://example.org/a?b=c' }, {}, 'https://example.org/a?b=c'],
  ['phone_number', {}, { phone_number: '+49 (30) 901820' }, { phone_number: '+4930901820' }, '+4930901820'],
  ['location', {}, { latitude: -33.87, longitude: 151.21 }, {}, '-33.87,151.21'],
] as const)('a %s field %j is answered by %j', async (kind, more, body, stored, text) => {
  const { answer, list, newEvents } = await withField(kind, more)
  const { status, body: made } = await answer(body)
  expect(status).toBe(200)
  expect(made).toMatchObject({ ...nothing, ...body, ...stored })
  expect(await list()).toEqual([made])
  expect(newEvents()).toMatchObject([{ event_type: 'CustomFieldResponseCreatedHook', payload: { text, segments: [] } }])
})

test.each([
  ['text_short', { text: 'x'.repeat(256) }, 'text must have at most 255 characters'],
  ['text_long', { text: 'x'.repeat(100_001) }, 'text must have at most 100000 characters'],
  ['number', { number: 2 }, 'number must be at least 3'],
  ['number', { number: 6 }, 'number must be at most 5'],
  ['number', { number: 3.5 }, 'number must be a whole number from 0 to 9007199254740991'],
  ['number', { number: '4' }, 'number must be a whole number from 0 to 9007199254740991'],
  ['boolean', { boolean_value: 'true' }, 'boolean_value must be true or false'],
  ['date', { date: '2026-02-29' }, 'date must be a date like 2026-11-20'],
  ['date', { date: '20.11.2026' }, 'date must be a date like 2026-11-20'],
  ['date_range', { start_date: '2026-02-02', end_date: '2026-02-01' }, 'end_date must not be before start_date'],
  ['date_range', { start_date: '2026-02-02' }, 'end_date is required together with start_date'],
  ['date_range', { start_date: null, end_date: '2026-02-02' }, 'start_date is required together with end_date'],
  ['recurring_date', { month: 2, day: 30 }, 'day must be a day that month 2 has'],
  ['recurring_date', { month: 4, day: 31 }, 'day must be a day that month 4 has'],
  ['recurring_date', { month: 13, day: 1 }, 'month must be a whole number from 1 to 12'],
  ['url', { url: 'javascript:alert(1)' }, 'url must be an http or https URL'],
  ['url', { url: 'example.org' }, 'url must be an http or https URL'],
  ['phone_number', { phone_number: '030 901820' }, 'phone_number must be an international phone number like +49 30 901820'],
  ['phone_number', { phone_number: '+49 1' }, 'phone_number must be an international phone number like +49 30 901820'],
  [
    'phone_number',
    { phone_number: 'call +49 30 901820' },
    'phone_number must be an international phone number like +49 30 901820',
  ],
  ['location', { latitude: 91, longitude: 0 }, 'latitude must be a number from -90 to 90'],
  ['location', { latitude: 0, longitude: -180.1 }, 'longitude must be a number from -180 to 180'],
  ['location', { latitude: 0 }, 'longitude is required together with latitude'],
  [
    'multi_location',
    { locations: [{ label: 'Here', latitude: 91, longitude: 0 }] },
    'locations.0.latitude must be a number from -90 to 90',
  ],
  ['multi_location', { locations: [{ label: ' ', latitude: 1, longitude: 0 }] }, "locations.0.label can't be blank"],
  ['text_short', {}, 'text is required for a text_short field; null clears the answer'],
  ['date_range', { text: 'x' }, 'start_date and end_date are required for a date_range field; null clears the answer'],
  ['dropdown_multi_select', {}, 'segment_ids is required for a dropdown_multi_select field; an empty list clears the answer'],
])('a %s field refuses %j: %s', async (kind, body, error) => {
  const { answer, list, newEvents } = await withField(kind, kind === 'number' ? { min_value: 3, max_value: 5 } : {})
  expect(await answer(body)).toMatchObject({ status: 422, body: { error } })
  expect(await list()).toEqual([])
  expect(newEvents()).toEqual([])
})

test('an answer of several places names the member and has no id', async () => {
  const { answer, list, newEvents } = await withField('multi_location', { location_granularity: 'city' })
  const locations = [
    { label: 'Berlin', latitude: 52.52, longitude: 13.4 },
    { label: 'New York', latitude: 40.71, longitude: -74 },
  ]
  const { status, body } = await answer({ locations })
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { ...nothing, id: null, member_id: seeded.loner, user_id: seeded.loner, locations },
  })
  expect(await list()).toEqual([body])
  expect(newEvents()).toMatchObject([{ payload: { text: 'Berlin; New York' } }])
  expect((await answer({ locations: [] })).status).toBe(204)
})

test('a single choice replaces the one before, and the options count who has chosen them', async () => {
  const { answer, send, options, params, field, newEvents } = await withField('dropdown_single_select', {
    options: ['Rose', 'Fern'],
  })
  const [rose, fern] = options
  const counts = async () =>
    (await send('options.list', { params: { custom_field_id: field.id } })).body.items.map(
      (option: { member_count: number }) => option.member_count,
    )
  const first = await answer({ segment_ids: [rose.id, rose.id] })
  const { id, title, created_at, updated_at } = rose
  const segment = { id, title, created_at, updated_at, description: null, color: null, custom_field_id: field.id }
  expect(first.body).toEqual({ ...first.body, ...nothing, segments: [segment] })
  expect(await counts()).toEqual([1, 0])
  await answer({ segment_ids: [fern.id] })
  expect(await counts()).toEqual([0, 1])
  expect(await answer({ segment_ids: [rose.id, fern.id] })).toMatchObject({
    status: 422,
    body: { error: 'segment_ids must have at most 1 of the field’s options' },
  })
  expect((await answer({ segment_ids: [] })).status).toBe(204)
  expect(await counts()).toEqual([0, 0])
  expect(await send('answers.list', { params })).toMatchObject({ body: { items: [] } })
  expect(newEvents()).toMatchObject([
    { event_type: 'CustomFieldResponseCreatedHook', payload: { text: null, segments: [{ id: rose.id }] } },
    {
      event_type: 'CustomFieldResponseUpdatedHook',
      payload: {
        previous_text: null,
        new_text: null,
        previous_segments: [{ id: rose.id }],
        new_segments: [{ id: fern.id }],
      },
    },
    { event_type: 'CustomFieldResponseRemovedHook', payload: { text: null, segments: [{ id: fern.id }] } },
  ])
})

test('several choices go up to max_responses, and stay when they are chosen again', async () => {
  const { answer, options } = await withField('dropdown_multi_select', { max_responses: 2, options: ['A', 'B', 'C'] })
  const [a, b, c] = options.map(({ id }) => id)
  expect((await answer({ segment_ids: [c, a] })).body.segments.map(({ id }: Json) => id)).toEqual([a, c])
  expect((await answer({ segment_ids: [a, b] })).body.segments.map(({ id }: Json) => id)).toEqual([a, b])
  expect(await answer({ segment_ids: [a, b, c] })).toMatchObject({
    status: 422,
    body: { error: 'segment_ids must have at most 2 of the field’s options' },
  })
})

test('options of another field, tags and unknown ids are no choices', async () => {
  const { answer } = await withField('dropdown_multi_select', { options: ['A'] })
  for (const id of [seeded.option, seeded.tag, nobody, '18446744073709551615'])
    expect(await answer({ segment_ids: [id] })).toMatchObject({
      status: 422,
      body: { error: `segment_ids: ${id} is not an option of this field` },
    })
})

test('a text becomes a separate option where the field allows it, and is found again by its title', async () => {
  const { answer, send, field } = await withField('dropdown_multi_select', { allow_ad_hoc: true, options: ['Rose'] })
  const made = await answer({ text: 'Moss' })
  expect(made.body).toMatchObject({ text: null, segments: [{ title: 'Moss', custom_field_id: field.id }] })
  const list = async () => (await send('options.list', { params: { custom_field_id: field.id } })).body.items
  expect(await list()).toMatchObject([
    { title: 'Rose', is_ad_hoc: false, member_count: 0 },
    { title: 'Moss', is_ad_hoc: true, member_count: 1, creator_id: seeded.loner },
  ])
  const other = { custom_field_id: field.id, member_id: seeded.member }
  const [rose] = await list()
  const second = await send('answers.upsert', { params: other, body: { segment_ids: [rose.id], text: ' MOSS ' } })
  expect(second.body.segments.map(({ title }: Json) => title)).toEqual(['Rose', 'Moss'])
  expect((await list()).map(({ member_count }: Json) => member_count)).toEqual([1, 2])
})

test('a text that becomes an option is a title of one line', async () => {
  const { answer } = await withField('dropdown_single_select', { allow_ad_hoc: true })
  for (const text of ['Moss\nFern', 'Moss\u0007'])
    expect(await answer({ text })).toMatchObject({
      status: 422,
      body: { error: expect.stringMatching('text must be one line, without control characters') },
    })
  expect(await answer({ text: '\u200b' })).toMatchObject({ status: 204 })
})

test('a text is refused where the field takes no options but its own', async () => {
  const { answer } = await withField('dropdown_single_select', { options: ['Rose'] })
  expect(await answer({ text: 'Moss' })).toMatchObject({
    status: 422,
    body: { error: 'text: this field accepts only its existing options; name them in segment_ids' },
  })
})

test('the choice in the primary dropdown becomes the categories of the member', async () => {
  const { send, newEvents } = await createSeededCommunity()
  const params = { custom_field_id: seeded.dropdown, member_id: seeded.loner }
  await send('answers.upsert', { params, body: { segment_ids: ['322', '321'] } })
  const categories = [
    { id: '321', title: 'Gardeners' },
    { id: '322', title: 'Cooks' },
  ]
  expect((await send('members.show', { params: { id: seeded.loner } })).body.categories).toEqual(categories)
  expect(newEvents()).toMatchObject([{ payload: { member: { id: seeded.loner, categories } } }])
  await send('answers.delete', { params })
  expect((await send('members.show', { params: { id: seeded.loner } })).body.categories).toEqual([])
})

test('a deleted answer is announced; a second time it is missing', async () => {
  const { send, newEvents } = await createSeededCommunity()
  const params = { custom_field_id: seeded.textField, member_id: seeded.member }
  expect(await send('answers.delete', { params })).toMatchObject({ status: 204, body: undefined })
  expect(newEvents()).toMatchObject([{ event_type: 'CustomFieldResponseRemovedHook', payload: { text: 'Slow and steady' } }])
  expect(await send('answers.delete', { params })).toMatchObject({ status: 404, body: { error: 'Answer not found' } })
  expect(newEvents()).toEqual([])
})

test('tags and badges are not given by answers', async () => {
  const { send } = await createSeededCommunity()
  const { body: tag } = await send('tags.show', { params: { id: seeded.tag } })
  const params = { custom_field_id: tag.custom_field_id, member_id: seeded.member }
  const refusal = { status: 422, body: { error: 'custom_field_id: a tag is given to members directly, not by an answer' } }
  expect(await send('answers.upsert', { params, body: { segment_ids: [seeded.tag] } })).toMatchObject(refusal)
  expect(await send('answers.delete', { params })).toMatchObject(refusal)
  expect(await send('answers.list', { params })).toMatchObject({ status: 200, body: { items: [] } })
})

test('members answer for themselves, where hosts leave it to them, and for nobody else', async () => {
  const { community, send, sendAs } = await createSeededCommunity()
  const { token } = await community.keys.create({ network: '1', name: 'k', scopes: ['*'], member_id: seeded.loner })
  const act = sendAs(token)
  const own = { custom_field_id: seeded.textField, member_id: seeded.loner }
  expect((await act('answers.upsert', { params: own, body: { text: 'Mine' } })).status).toBe(200)
  expect((await act('answers.delete', { params: own })).status).toBe(204)
  const refusal = { status: 403, body: { error: expect.stringContaining('act as the member or as a host') } }
  const others = { ...own, member_id: seeded.member }
  expect(await act('answers.upsert', { params: others, body: { text: 'Yours' } })).toMatchObject(refusal)
  expect(await act('answers.delete', { params: others })).toMatchObject(refusal)
  const body = { ...asked, response_type: 'text_short', response_by: 'hosts_only' }
  const { body: field } = await send('custom_fields.create', { body })
  const params = { custom_field_id: field.id, member_id: seeded.loner }
  expect(await act('answers.upsert', { params, body: { text: 'Mine' } })).toMatchObject(refusal)
  expect((await send('answers.upsert', { params, body: { text: 'Theirs' } })).status).toBe(200)
})

test.each([
  [nobody, nobody, '361', 'Custom field not found'],
  [seeded.dropdown, nobody, '361', 'Member not found'],
  [seeded.dropdown, seeded.member, nobody, 'Answer not found'],
  [seeded.textField, seeded.member, '361', 'Answer not found'],
  [seeded.dropdown, seeded.loner, '361', 'Answer not found'],
])('of field %s, member %s, the answer %s is 404: %s', async (custom_field_id, member_id, id, error) => {
  const { send } = await createSeededCommunity()
  expect(await send('answers.show', { params: { custom_field_id, member_id, id } })).toMatchObject({
    status: 404,
    body: { error },
  })
})

test('phone numbers need the port for them, and say so', async () => {
  const { send } = await createSeededCommunity({ ports: {} })
  const { body: field } = await send('custom_fields.create', { body: { ...asked, response_type: 'phone_number' } })
  const params = { custom_field_id: field.id, member_id: seeded.loner }
  expect(await send('answers.upsert', { params, body: { phone_number: '+4930901820' } })).toMatchObject({
    status: 422,
    body: { error: 'phone_number needs option `ports.phoneNumbers`, which this service does not have' },
  })
})

test('both answers of an upsert are published', async () => {
  const { community } = await createSeededCommunity()
  const { paths } = community.openapi() as Json
  const { responses } = paths['/admin/v1/networks/{network_id}/custom_fields/{custom_field_id}/members/{member_id}/answers'].post
  expect(responses['204']).toMatchObject({ description: 'The answer was cleared.' })
  expect(responses['204']).not.toHaveProperty('content')
  expect(responses['200'].content['application/json'].schema).toEqual({ $ref: '#/components/schemas/CustomFieldAnswerResponse' })
})

test('of two concurrent first answers the second one replaces the first', async () => {
  const { answer, list, newEvents } = await withField('text_short')
  expect((await Promise.all([answer({ text: 'a' }), answer({ text: 'b' })])).map(({ status }) => status)).toEqual([200, 200])
  expect(await list()).toHaveLength(1)
  expect(newEvents().map(({ event_type }) => event_type)).toEqual([
    'CustomFieldResponseCreatedHook',
    'CustomFieldResponseUpdatedHook',
  ])
})
