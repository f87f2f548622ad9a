import { expect, test } from 'vitest'
import { nobody } from '../../support/community.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

test('a badge shows the image of an asset', async () => {
  const { send, newEvents } = await createSeededCommunity()
  const body = { title: 'Early bird', description: 'Up at five', color: '#FFD700', avatar_id: seeded.asset }
  const created = await send('badges.create', { body })
  const { body: fields } = await send('custom_fields.list', { query: { response_type: 'badge' } })
  expect({ status: created.status, body: created.body }).toEqual({
    status: 201,
    body: {
      id: expect.any(String),
      created_at: '2026-11-20T10:00:00.000Z',
      updated_at: '2026-11-20T10:00:00.000Z',
      title: 'Early bird',
      description: 'Up at five',
      color: '#FFD700',
      custom_field_id: fields.items[0].id,
      avatar_url: 'https://cdn.example.org/badge.png',
    },
  })
  expect((await send('badges.show', { params: { id: created.body.id } })).body).toEqual(created.body)
  expect((await send('badges.list')).body.items).toContainEqual(created.body)
  expect(newEvents()).toEqual([])
})

test('PATCH with another asset shows its image and leaves the rest', async () => {
  const { send } = await createSeededCommunity()
  const { body: badge } = await send('badges.show', { params: { id: seeded.badge } })
  for (const id of ['badges.update', 'badges.replace'])
    expect(await send(id, { params: { id: seeded.badge }, body: { avatar_id: 602 } })).toMatchObject({
      status: 200,
      body: { ...badge, avatar_url: 'https://cdn.example.org/other.png', updated_at: '2026-11-20T10:00:00.000Z' },
    })
})

test('an asset that the network does not have is refused', async () => {
  const { send } = await createSeededCommunity()
  const refusal = { status: 422, body: { error: `avatar_id: there is no asset ${nobody} in this network` } }
  expect(await send('badges.create', { body: { title: 'x', avatar_id: nobody } })).toMatchObject(refusal)
  expect(await send('badges.update', { params: { id: seeded.badge }, body: { avatar_id: nobody } })).toMatchObject(refusal)
  expect(await send('badges.create', { body: { title: 'x' } })).toMatchObject({
    status: 422,
    body: { error: 'avatar_id is required' },
  })
})

test('deleting a badge takes it from every member, each with an event', async () => {
  const { send, newEvents } = await createSeededCommunity()
  const { body: badge } = await send('badges.show', { params: { id: seeded.badge } })
  await send('member_badges.create', { params: { member_id: seeded.loner }, body: { badge_id: badge.id } })
  newEvents()
  expect((await send('badges.delete', { params: { id: badge.id } })).status).toBe(204)
  expect(newEvents().map(({ event_type, payload }) => [event_type, payload.member.id, payload.badge])).toEqual([
    ['MemberBadgeRemovedHook', seeded.member, badge],
    ['MemberBadgeRemovedHook', seeded.loner, badge],
  ])
  const left = await send('member_badges.list', { params: { member_id: seeded.member } })
  expect(left.body.items.map(({ id }: { id: string }) => id)).toEqual(['312', '313'])
  expect(await send('badges.show', { params: { id: badge.id } })).toMatchObject({
    status: 404,
    body: { error: 'Badge not found' },
  })
})

test('a tag is no badge', async () => {
  const { send } = await createSeededCommunity()
  const params = { id: seeded.tag }
  const responses = [
    await send('badges.show', { params }),
    await send('badges.update', { params, body: { title: 'x' } }),
    await send('badges.delete', { params }),
  ]
  expect(responses.map(({ status, body }) => ({ status, body }))).toEqual(
    Array.from({ length: 3 }, () => ({ status: 404, body: { error: 'Badge not found' } })),
  )
})
