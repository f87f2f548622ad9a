import { expect, test } from 'vitest'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

async function withTag() {
  const community = await createTestCommunity()
  const body = { title: 'Gardening', color: '#00FF00', description: 'Green' }
  const { body: tag } = await community.send('tags.create', { body })
  return { ...community, tag }
}

test('a new tag belongs to the field of tags and is listed', async () => {
  const { send, tag, newEvents } = await withTag()
  const { body: fields } = await send('custom_fields.list', { query: { response_type: 'tag' } })
  expect(tag).toEqual({
    id: expect.any(String),
    created_at: '2026-11-20T10:00:00.000Z',
    updated_at: '2026-11-20T10:00:00.000Z',
    title: 'Gardening',
    description: 'Green',
    color: '#00FF00',
    custom_field_id: fields.items[0].id,
  })
  expect((await send('tags.list')).body.items).toEqual([tag])
  expect((await send('tags.show', { params: { id: tag.id } })).body).toEqual(tag)
  expect(newEvents()).toEqual([])
})

test('PUT with one field leaves the others, and null clears', async () => {
  const { send, tag } = await withTag()
  const updated = await send('tags.replace', { params: { id: tag.id }, body: { title: 'Garden' } })
  expect(updated.body).toEqual({ ...tag, title: 'Garden' })
  const cleared = await send('tags.update', { params: { id: tag.id }, body: { color: null, description: null } })
  expect(cleared.body).toEqual({ ...tag, title: 'Garden', color: null, description: null })
})

test.each([
  ['title is required', {}],
  ["title can't be blank", { title: ' ' }],
  ['title must have at most 255 characters', { title: 'x'.repeat(256) }],
  ['color must be a colour like #FF5733', { title: 'x', color: '#FF573' }],
])('a tag is refused: %s', async (error, body) => {
  const { send } = await createTestCommunity()
  expect(await send('tags.create', { body })).toMatchObject({ status: 422, body: { error } })
})

test('deleting a tag takes it from every member, each with an event', async () => {
  const { send, tag, newEvents, network } = await withTag()
  const join = async (name: string) => {
    const body = { email: `${name}@example.org`, first_name: name, last_name: 'X', send_welcome_email: false }
    return (await send('members.create', { body })).body
  }
  const people = [await join('ann'), await join('ben')]
  for (const { id } of people) await send('member_tags.create', { params: { member_id: id }, body: { tag_id: tag.id } })
  newEvents()
  expect(await send('tags.delete', { params: { id: tag.id } })).toMatchObject({ status: 204, body: undefined })
  expect(newEvents().map(({ event_type, payload }) => [event_type, payload.member.id, payload.tag, payload.network_id])).toEqual(
    people.map(({ id }) => ['MemberTagRemovedHook', id, tag, network.id]),
  )
  for (const { id } of people) expect((await send('member_tags.list', { params: { member_id: id } })).body.items).toEqual([])
  expect(await send('tags.delete', { params: { id: tag.id } })).toMatchObject({ status: 404, body: { error: 'Tag not found' } })
})

test('a badge is no tag, and neither is the tag of another network', async () => {
  const { community, send } = await createSeededCommunity()
  const other = await community.networks.create({
    subdomain: 'other',
    title: 'Other',
    owner: { email: 'o@example.org', first_name: 'O', last_name: 'O' },
  })
  const theirs = await community.call('tags.create', { network: other.network.id, body: { title: 'Theirs' } })
  for (const id of [nobody, seeded.badge, theirs.id]) {
    const responses = [
      await send('tags.show', { params: { id } }),
      await send('tags.update', { params: { id }, body: { title: 'Mine' } }),
      await send('tags.delete', { params: { id } }),
    ]
    expect(responses.map(({ status, body }) => ({ status, body }))).toEqual(
      Array.from({ length: 3 }, () => ({ status: 404, body: { error: 'Tag not found' } })),
    )
  }
  expect(await community.call('tags.show', { network: other.network.id, params: { id: theirs.id } })).toEqual(theirs)
})
