import { expect, test } from 'vitest'
import { scoped } from '../../../lib/storage/scoped.ts'
import { courseworks } from '../../../lib/storage/tables/content.ts'
import { spaceMemberships, spaces } from '../../../lib/storage/tables/members.ts'
import { planSpaces, plans } from '../../../lib/storage/tables/plans.ts'
import { createTestCommunity, nobody, type TestCommunity } from '../../support/community.ts'
import { idsOf, neighbour, newCollection, newMember, newPoll, newPost, newSpace, now } from '../../support/records.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

test('a space is created with a name and belongs to no collection', async () => {
  const { send, newEvents } = await createTestCommunity()
  const created = await send('spaces.create', { body: { name: 'Garden', collection_id: 5, unknown: true } })
  expect(created.status).toBe(201)
  const record = { id: expect.stringMatching(/^\d+$/), created_at: now, updated_at: now, name: 'Garden', collection_id: null }
  expect(created.body).toEqual(record)
  expect((await send('spaces.show', { params: { id: created.body.id } })).body).toEqual(created.body)
  expect(newEvents()).toEqual([])
})

test.each([
  [{}, 'name is required'],
  [{ name: null }, 'name must be a text'],
  [{ name: 5 }, 'name must be a text'],
  [{ name: '  ' }, "name can't be blank"],
  [{ name: 'x'.repeat(256) }, 'name must have at most 255 characters'],
])('a space of %o is refused', async (body, error) => {
  const { send } = await createTestCommunity()
  expect(await send('spaces.create', { body })).toMatchObject({ status: 422, body: { error } })
})

test('spaces are listed in ascending order of id, without those of other networks', async () => {
  const test = await createTestCommunity()
  const theirs = await neighbour(test)
  const [first, second] = [await newSpace(test, 'B'), await newSpace(test, 'A')]
  expect((await test.send('spaces.list')).body.items).toEqual([first, second])
  expect(await test.send('spaces.show', { params: { id: theirs.space.id } })).toMatchObject({
    status: 404,
    body: { error: 'Space not found' },
  })
})

test('the spaces of a member are listed in ascending order of id', async () => {
  const test = await createTestCommunity()
  const member = await newMember(test, 'grace')
  const [first, , third] = [await newSpace(test, 'A'), await newSpace(test, 'B'), await newSpace(test, 'C')]
  for (const { id } of [third, first])
    await test.send('space_members.create', { params: { space_id: id }, query: { user_id: member.id } })
  const listed = await test.send('member_spaces.list', { params: { member_id: member.id } })
  expect(listed.body).toEqual({
    items: [first, third],
    links: { self: `https://api.test/admin/v1/networks/1/members/${member.id}/spaces`, next: null },
  })
  expect(await test.send('member_spaces.list', { params: { member_id: nobody } })).toMatchObject({
    status: 404,
    body: { error: 'Member not found' },
  })
})

test.each(['spaces.update', 'spaces.replace'])('%s with one field leaves the other', async (operation) => {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const collection = await newCollection(test, 'Rooms')
  test.clock.advance(1000)
  const moved = await test.send(operation, { params: { id: space.id }, body: { collection_id: Number(collection.id) } })
  expect(moved.status).toBe(200)
  expect(moved.body).toEqual({ ...space, collection_id: collection.id, updated_at: '2026-11-20T10:00:01.000Z' })
  const named = await test.send(operation, { params: { id: space.id }, body: { name: 'Greenhouse' } })
  expect(named.body).toEqual({ ...moved.body, name: 'Greenhouse' })
  expect(test.newEvents()).toEqual([])
})

test('a space moves to the end of another collection, and the one it leaves closes the gap', async () => {
  const test = await createTestCommunity()
  const [from, to] = [await newCollection(test, 'From'), await newCollection(test, 'To')]
  const made = [await newSpace(test, 'A'), await newSpace(test, 'B'), await newSpace(test, 'C'), await newSpace(test, 'D')]
  const move = (index: number, collection_id: string | null) =>
    test.send('spaces.update', { params: { id: made[index].id }, body: { collection_id } })
  for (const index of [0, 1, 2]) await move(index, from.id)
  await move(3, to.id)
  expect(await placesIn(test)).toEqual({ A: [from.id, 1], B: [from.id, 2], C: [from.id, 3], D: [to.id, 1] })
  await move(0, to.id)
  expect(await placesIn(test)).toEqual({ A: [to.id, 2], B: [from.id, 1], C: [from.id, 2], D: [to.id, 1] })
  // Where it is already: nothing moves.
  await move(3, to.id)
  expect(await placesIn(test)).toMatchObject({ A: [to.id, 2], D: [to.id, 1] })
  await move(1, null)
  expect(await placesIn(test)).toMatchObject({ B: [null, null], C: [from.id, 1] })
})

test('a space cannot move to a collection that is not there, nor to that of another network', async () => {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const { network } = await neighbour(test)
  const theirs = await test.community.call('collections.create', { network: network.id, body: { name: 'Theirs' } })
  for (const collection_id of [nobody, theirs.id]) {
    const refused = await test.send('spaces.update', { params: { id: space.id }, body: { name: 'New', collection_id } })
    expect(refused).toMatchObject({ status: 422, body: { error: 'collection_id: there is no such collection in this network' } })
  }
  expect((await test.send('spaces.show', { params: { id: space.id } })).body).toEqual(space)
})

test.each([
  [{ name: '' }, "name can't be blank"],
  [{ collection_id: 'first' }, 'collection_id must be an id'],
  [{ collection_id: true }, 'collection_id must be an id'],
])('a change to %o is refused', async (body, error) => {
  const test = await createTestCommunity()
  const { id } = await newSpace(test)
  expect(await test.send('spaces.update', { params: { id }, body })).toMatchObject({ status: 422, body: { error } })
})

test('a space is deleted with its memberships and its course; the plans that opened it stay', async () => {
  const test = await createTestCommunity()
  const { network } = test
  const collection = await newCollection(test, 'Rooms')
  const [space, next] = [await newSpace(test, 'A'), await newSpace(test, 'B')]
  for (const { id } of [space, next]) await test.send('spaces.update', { params: { id }, body: { collection_id: collection.id } })
  const member = await newMember(test, 'grace')
  await test.send('space_members.create', { params: { space_id: space.id }, query: { user_id: member.id } })
  const { body: section } = await test.send('courseworks.create', { params: { space_id: space.id }, body: { type: 'section' } })
  await test.send('courseworks.create', { params: { space_id: space.id }, body: { type: 'lesson', parent_id: section.id } })
  await test.storage.transaction(async (tx) => {
    const stamp = { created_at: now, updated_at: now }
    await scoped(tx, network.id).insert(plans, { ...stamp, id: '501', name: 'Plan' })
    await scoped(tx, network.id).insert(planSpaces, { ...stamp, id: '502', plan_id: '501', space_id: space.id })
  })
  test.newEvents()

  expect(await test.send('spaces.delete', { params: { id: space.id } })).toMatchObject({ status: 204, body: undefined })

  expect(test.newEvents()).toEqual([])
  expect(idsOf(await test.send('spaces.list'))).toEqual([next.id])
  expect(idsOf(await test.send('member_spaces.list', { params: { member_id: member.id } }))).toEqual([])
  expect(idsOf(await test.send('plans.list'))).toEqual(['501'])
  expect(await placesIn(test)).toEqual({ B: [collection.id, 1] })
  const left = await test.storage.transaction(async (storage) => {
    const tx = scoped(storage, network.id)
    return [await tx.count(spaceMemberships, {}), await tx.count(courseworks, {}), await tx.count(planSpaces, {})]
  })
  expect(left).toEqual([0, 0, 0])
  expect((await test.send('spaces.delete', { params: { id: space.id } })).status).toBe(404)
})

test('a space that holds posts or polls cannot be deleted', async () => {
  const test = await createTestCommunity()
  const { id } = await newSpace(test)
  const refused = { status: 422, body: { error: 'The space still holds posts, polls or events. Delete them first' } }
  const post = await newPost(test, id)
  expect(await test.send('spaces.delete', { params: { id } })).toMatchObject(refused)
  await test.send('posts.delete', { params: { id: post.id } })
  const poll = await newPoll(test, id)
  expect(await test.send('spaces.delete', { params: { id } })).toMatchObject(refused)
  await test.send('polls.delete', { params: { id: poll.id } })
  expect((await test.send('spaces.delete', { params: { id } })).status).toBe(204)
})

test.each([
  ['spaces.show', {}],
  ['spaces.update', { body: {} }],
  ['spaces.replace', { body: {} }],
  ['spaces.delete', {}],
])('%s of a space that is not there, or is another network’s, is a 404', async (operation, parts) => {
  const test = await createTestCommunity()
  const theirs = await neighbour(test)
  const missing = { status: 404, body: { error: 'Space not found' } }
  for (const id of [nobody, theirs.space.id])
    expect(await test.send(operation, { params: { id }, ...parts })).toMatchObject(missing)
  const { network } = theirs
  expect(await test.community.call('spaces.show', { network: network.id, params: { id: theirs.space.id } })).toEqual(theirs.space)
})

/** Collection and place of every space, by its name. */
async function placesIn({ storage, network }: TestCommunity) {
  const rows = await storage.transaction((tx) => scoped(tx, network.id).find(spaces, {}))
  return Object.fromEntries(rows.map(({ name, collection_id, position }) => [name, [collection_id, position]]))
}

test('what goes with a deleted record sends no event', async () => {
  const test = await createSeededCommunity()
  const gone = [
    await test.send('space_members.create', { params: { space_id: seeded.emptySpace }, query: { user_id: seeded.loner } }),
    await test.send('spaces.delete', { params: { id: seeded.emptySpace } }),
    await test.send('options.delete', { params: { custom_field_id: seeded.dropdown, id: seeded.option } }),
    await test.send('custom_fields.delete', { params: { id: seeded.textField } }),
    await test.send('posts.delete', { params: { id: seeded.post } }),
  ]
  expect(gone.map(({ status }) => status)).toEqual([200, 204, 204, 204, 204])
  expect(test.newEvents().map(({ event_type }) => event_type)).toEqual(['MemberJoinedHook'])
})
