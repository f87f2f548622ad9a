import { expect, test } from 'vitest'
import { nobody } from '../../support/community.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

const member = { member_id: seeded.loner }

test('a tag put on a member gets a 200, sends one event, and is counted once', async () => {
  const { send, newEvents, network } = await createSeededCommunity()
  const given = await send('member_tags.create', { params: member, body: { tag_id: seeded.tag } })
  const tag = (await send('tags.show', { params: { id: seeded.tag } })).body
  const { body: person } = await send('members.show', { params: { id: seeded.loner } })
  expect({ status: given.status, body: given.body }).toEqual({ status: 200, body: tag })
  expect(newEvents().map(({ event_type, payload }) => ({ event_type, payload }))).toEqual([
    { event_type: 'MemberTagAddedHook', payload: { member: person, tag, network_id: network.id } },
  ])
  expect((await send('member_tags.create', { params: member, body: { tag_id: Number(seeded.tag) } })).status).toBe(200)
  expect(newEvents()).toEqual([])
  const option = await send('options.show', { params: { custom_field_id: tag.custom_field_id, id: seeded.tag } })
  expect(option.body.member_count).toBe(2)
  expect((await send('member_tags.list', { params: member })).body.items).toEqual([tag])
  expect((await send('member_tags.show', { params: { ...member, tag_id: seeded.tag } })).body).toEqual(tag)
})

test('removing a tag from a member sends its event and is counted; a second time it is a 404', async () => {
  const { send, newEvents } = await createSeededCommunity()
  const params = { member_id: seeded.member, tag_id: seeded.tag }
  expect(await send('member_tags.delete', { params })).toMatchObject({ status: 204, body: undefined })
  expect(newEvents()).toMatchObject([{ event_type: 'MemberTagRemovedHook', payload: { tag: { id: seeded.tag } } }])
  expect(await send('member_tags.delete', { params })).toMatchObject({ status: 404, body: { error: 'Tag not found' } })
  expect(newEvents()).toEqual([])
  const { body: tag } = await send('tags.show', { params: { id: seeded.tag } })
  const option = await send('options.show', { params: { custom_field_id: tag.custom_field_id, id: seeded.tag } })
  expect(option.body.member_count).toBe(0)
})

test('unknown members and tags are 404, in the order of the path', async () => {
  const { send } = await createSeededCommunity()
  const create = (member_id: string, tag_id: string) =>
    send('member_tags.create', { params: { member_id }, body: { tag_id } }).then(({ status, body }) => [status, body.error])
  expect(await create(nobody, nobody)).toEqual([404, 'Member not found'])
  expect(await create(seeded.loner, nobody)).toEqual([404, 'Tag not found'])
  expect(await create(seeded.loner, seeded.badge)).toEqual([404, 'Tag not found'])
  expect(await create(seeded.loner, 'x')).toEqual([422, 'tag_id must be an id'])
})

test('removing a member removes their tags', async () => {
  const { send } = await createSeededCommunity()
  const { body: tag } = await send('tags.show', { params: { id: seeded.tag } })
  await send('members.delete', { params: { id: seeded.member } })
  const option = await send('options.show', { params: { custom_field_id: tag.custom_field_id, id: seeded.tag } })
  expect(option.body.member_count).toBe(0)
  expect(await send('member_tags.list', { params: { member_id: seeded.member } })).toMatchObject({
    status: 404,
    body: { error: 'Member not found' },
  })
})
