import { expect, test } from 'vitest'
import type { Json } from '../../support/json.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

/** Every id and reference to one in a value, by its place. */
const idsIn = (value: Json, place = ''): [string, unknown][] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    const here = `${place}.${key}`
    // The choice of a poll is named within its poll, not as a record of the network; an event's id is a UUID.
    if (/(?:^|_)id$/.test(key) && !/choice|event_id/.test(here)) return inner === null ? [] : [[here, inner]]
    return idsIn(inner as Json, here)
  })
}

const calls = [
  ['members.list', {}],
  ['polls.list', {}],
  ['posts.create', { body: { space_id: seeded.space, title: 'Hello' } }],
  ['polls.create', { body: { space_id: Number(seeded.space), title: 'Well?', poll_type: 'hot_cold', choices: ['a', 'b'] } }],
  ['post_reactions.list', { params: { post_id: seeded.post } }],
  ['member_badges.create', { params: { member_id: seeded.member }, body: { badge_id: Number(seeded.spareBadge) } }],
  ['members.update', { params: { id: seeded.member }, body: { first_name: 'Amazing' } }],
  ['me.show', {}],
  ['custom_fields.list', {}],
] as const

test.each(['string', 'number'] as const)('with ids as %s every id in records and payloads is one', async (ids) => {
  const { send, events, community } = await createSeededCommunity({ ids })
  let seen = 0
  for (const [id, parts] of calls) {
    const response = await send(id, parts)
    expect(response.status, `${id} ${JSON.stringify(response.body)}`).toBeLessThan(300)
    const found = idsIn(response.body)
    seen += found.length
    expect(found.filter(([, value]) => typeof value !== ids).map(([place]) => `${id}${place}`)).toEqual([])
  }
  expect(events().map(({ event_type }) => event_type)).toEqual([
    'PostCreatedHook',
    'HotColdPollCreatedHook',
    'MemberBadgeAddedHook',
    'MemberUpdatedHook',
  ])
  for (const { event_type, payload } of events())
    expect(
      idsIn(payload)
        .filter(([, value]) => typeof value !== ids)
        .map(([place]) => `${event_type}${place}`),
    ).toEqual([])
  expect(seen).toBeGreaterThan(50)
  const direct = await community.call('members.show', { network: '1', params: { id: seeded.member } })
  expect(typeof direct.id).toBe(ids)
})

test('numbers lose nothing: the largest id is kept', async () => {
  const { send } = await createSeededCommunity({ ids: 'number' })
  const created = await send('tags.create', { body: { title: 'x' } })
  expect(Number.isSafeInteger(created.body.id)).toBe(true)
  expect((await send('tags.show', { params: { id: created.body.id } })).body).toEqual(created.body)
})

test('requests may send ids as numbers or as texts; one with a leading zero names nothing', async () => {
  const { send } = await createSeededCommunity()
  for (const space_id of ['201', 201])
    expect((await send('posts.create', { body: { space_id, title: 'Hello' } })).body.space_id).toBe('201')
  for (const space_id of ['0201', '18446744073709551615', 9007199254740991])
    expect((await send('posts.create', { body: { space_id, title: 'Hello' } })).status).toBe(404)
  for (const space_id of ['-1', '1.5', 1.5, -1, 1e21, '', ' 1', 'x', true, null, [201], { id: 201 }])
    expect((await send('posts.create', { body: { space_id, title: 'Hello' } })).status, JSON.stringify(space_id)).toBe(422)
})
