import { expect, test } from 'vitest'
import { nobody } from '../../support/community.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

test('giving a badge gets a 201 and sends an event; given again it changes nothing', async () => {
  const { send, newEvents, network } = await createSeededCommunity()
  const params = { member_id: seeded.loner }
  const { body: badge } = await send('badges.show', { params: { id: seeded.badge } })
  const { body: member } = await send('members.show', { params: { id: seeded.loner } })
  const given = await send('member_badges.create', { params, body: { badge_id: seeded.badge } })
  expect({ status: given.status, body: given.body }).toEqual({ status: 201, body: badge })
  expect(newEvents().map(({ event_type, payload }) => ({ event_type, payload }))).toEqual([
    { event_type: 'MemberBadgeAddedHook', payload: { member, badge, network_id: network.id } },
  ])
  expect((await send('member_badges.create', { params, body: { badge_id: seeded.badge } })).status).toBe(201)
  expect(newEvents()).toEqual([])
  expect((await send('member_badges.list', { params })).body.items).toEqual([badge])
  expect((await send('member_badges.show', { params: { ...params, badge_id: badge.id } })).body).toEqual(badge)
})

test('removing a badge sends its event and is counted', async () => {
  const { send, newEvents } = await createSeededCommunity()
  const params = { member_id: seeded.member, badge_id: seeded.badge }
  const { body: badge } = await send('badges.show', { params: { id: seeded.badge } })
  expect((await send('member_badges.delete', { params })).status).toBe(204)
  expect(newEvents()).toMatchObject([{ event_type: 'MemberBadgeRemovedHook', payload: { badge } }])
  const option = { custom_field_id: badge.custom_field_id, id: badge.id }
  expect((await send('options.show', { params: option })).body.member_count).toBe(0)
  expect(await send('member_badges.show', { params })).toMatchObject({ status: 404, body: { error: 'Badge not found' } })
})

test.each([
  [nobody, seeded.badge, 'Member not found'],
  [seeded.loner, nobody, 'Badge not found'],
  [seeded.loner, seeded.tag, 'Badge not found'],
  [seeded.loner, seeded.spareBadge, 'Badge not found'],
])('taking from member %s the badge %s is 404: %s', async (member_id, badge_id, error) => {
  const { send, newEvents } = await createSeededCommunity()
  expect(await send('member_badges.delete', { params: { member_id, badge_id } })).toMatchObject({ status: 404, body: { error } })
  expect(newEvents()).toEqual([])
})
