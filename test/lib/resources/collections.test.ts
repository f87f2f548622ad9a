import { expect, test } from 'vitest'
import { scoped } from '../../../lib/storage/scoped.ts'
import { collections } from '../../../lib/storage/tables/members.ts'
import { createTestCommunity, nobody, request } from '../../support/community.ts'
import { neighbour, newCollection, newSpace, now } from '../../support/records.ts'

test('a collection is created last, and visible unless the request hides it', async () => {
  const { send, newEvents } = await createTestCommunity()
  const first = await send('collections.create', { body: { name: 'Rooms' } })
  expect(first.status).toBe(201)
  expect(first.body).toEqual({
    id: expect.stringMatching(/^\d+$/),
    created_at: now,
    updated_at: now,
    name: 'Rooms',
    description: null,
    visible_to_members: true,
    position: 1,
    explorable: false,
  })
  const second = await send('collections.create', { body: { name: 'Attic', description: 'Old', visible_to_members: false } })
  expect(second.body).toMatchObject({ name: 'Attic', description: 'Old', visible_to_members: false, position: 2 })
  expect((await send('collections.list')).body.items).toEqual([first.body, second.body])
  expect((await send('collections.show', { params: { id: second.body.id } })).body).toEqual(second.body)
  expect(newEvents()).toEqual([])
})

test.each([
  [{}, 'name is required'],
  [{ name: '' }, "name can't be blank"],
  [{ name: 5 }, 'name must be a text'],
  [{ name: 'New', visible_to_members: 'yes' }, 'visible_to_members must be true or false'],
  [{ name: 'New', description: 5 }, 'description must be a text'],
  [{ name: ' rOOMS ' }, 'name has already been taken'],
])('a collection of %o is refused', async (body, error) => {
  const test = await createTestCommunity()
  await newCollection(test, 'Rooms')
  expect(await test.send('collections.create', { body })).toMatchObject({ status: 422, body: { error } })
})

test('of many concurrent requests for one name, one gets it', async () => {
  const { send } = await createTestCommunity()
  const responses = await Promise.all(
    ['Rooms', 'rooms', 'ROOMS', 'RooMs'].map((name) => send('collections.create', { body: { name } })),
  )
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422])
})

test('another network may use the same name', async () => {
  const test = await createTestCommunity()
  await newCollection(test, 'Rooms')
  const { network } = await neighbour(test)
  const theirs = await test.community.call('collections.create', { network: network.id, body: { name: 'Rooms' } })
  expect(theirs).toMatchObject({ name: 'Rooms', position: 1 })
})

test('there is an end to how many collections a network may have', async () => {
  const test = await createTestCommunity()
  const row = { created_at: now, updated_at: now }
  await test.storage.transaction(async (storage) => {
    const tx = scoped(storage, test.network.id)
    for (let place = 1; place <= 1000; place++)
      await tx.insert(collections, { ...row, id: String(place), name: `C${place}`, name_key: `c${place}`, position: place })
  })
  expect(await test.send('collections.create', { body: { name: 'One too many' } })).toMatchObject({
    status: 422,
    body: { error: 'A network has at most 1000 collections. Delete one first' },
  })
})

test.each(['collections.create', 'collections.update', 'collections.order'])('%s takes no broken JSON', async (operation) => {
  const test = await createTestCommunity()
  const { id } = await newCollection(test, 'Rooms')
  const paths: Record<string, [string, string]> = {
    'collections.create': ['POST', '/collections'],
    'collections.update': ['PATCH', `/collections/${id}/`],
    'collections.order': ['PUT', `/collections/${id}/order`],
  }
  const [method, path] = paths[operation] ?? ['', '']
  const response = await request(test.community, method, `/admin/v1/networks/1${path}`, {
    body: '{"name":',
    headers: { authorization: `Bearer ${test.token}`, 'content-type': 'application/json' },
  })
  expect(response).toMatchObject({ status: 400, body: { error: 'The body is not valid JSON' } })
})

test.each(['collections.update', 'collections.replace'])('%s with one field leaves the others', async (operation) => {
  const test = await createTestCommunity()
  const { body: before } = await test.send('collections.create', { body: { name: 'Rooms', description: 'Bright' } })
  test.clock.advance(1000)
  const params = { id: before.id }
  const changed = await test.send(operation, { params, body: { visible_to_members: false } })
  expect(changed.status).toBe(200)
  expect(changed.body).toEqual({ ...before, visible_to_members: false, updated_at: '2026-11-20T10:00:01.000Z' })
  expect((await test.send(operation, { params, body: { description: null } })).body.description).toBeNull()
  expect((await test.send(operation, { params, body: { name: 'ROOMS' } })).body.name).toBe('ROOMS')
})

test('a collection cannot take the name of another, and gives its old one free', async () => {
  const test = await createTestCommunity()
  const [rooms, attic] = [await newCollection(test, 'Rooms'), await newCollection(test, 'Attic')]
  const rename = (id: string, name: string) => test.send('collections.update', { params: { id }, body: { name } })
  expect(await rename(attic.id, 'rooms')).toMatchObject({ status: 422, body: { error: 'name has already been taken' } })
  expect((await rename(rooms.id, 'Cellar')).status).toBe(200)
  expect((await rename(attic.id, 'rooms')).status).toBe(200)
})

test('only a collection without spaces is deleted', async () => {
  const test = await createTestCommunity()
  const { id } = await newCollection(test, 'Rooms')
  const space = await newSpace(test)
  await test.send('spaces.update', { params: { id: space.id }, body: { collection_id: id } })
  expect(await test.send('collections.delete', { params: { id } })).toMatchObject({
    status: 422,
    body: { error: 'The collection still holds spaces. Move or delete them first' },
  })
  await test.send('spaces.update', { params: { id: space.id }, body: { collection_id: null } })
  expect(await test.send('collections.delete', { params: { id } })).toMatchObject({ status: 204, body: undefined })
  expect((await test.send('collections.show', { params: { id } })).status).toBe(404)
  expect((await newCollection(test, 'Rooms')).name).toBe('Rooms')
})

test.each([
  ['collections.show', {}],
  ['collections.update', { body: {} }],
  ['collections.replace', { body: {} }],
  ['collections.delete', {}],
  ['collections.order', { body: { spaces: [] } }],
])('%s of a collection that is not there, or is another network’s, is a 404', async (operation, parts) => {
  const test = await createTestCommunity()
  const { network } = await neighbour(test)
  const theirs = await test.community.call('collections.create', { network: network.id, body: { name: 'Theirs' } })
  const missing = { status: 404, body: { error: 'Collection not found' } }
  for (const id of [nobody, theirs.id]) expect(await test.send(operation, { params: { id }, ...parts })).toMatchObject(missing)
})

/** A collection with the spaces A to E in the places 1 to 5. */
async function collectionOfFive() {
  const test = await createTestCommunity()
  const { id } = await newCollection(test, 'Rooms')
  const spaces: Record<string, string> = {}
  for (const name of ['A', 'B', 'C', 'D', 'E']) {
    const space = await newSpace(test, name)
    spaces[name] = space.id
    await test.send('spaces.update', { params: { id: space.id }, body: { collection_id: id } })
  }
  const order = (assignments: readonly (readonly [name: string, position: unknown])[], query = {}) =>
    test.send('collections.order', {
      params: { id },
      query,
      body: { spaces: assignments.map(([name, position]) => ({ space_id: spaces[name] ?? name, position })) },
    })
  const names = async () => (await order([])).body.items.map(({ name }: { name: string }) => name).join('')
  return { test, id, spaces, order, names }
}

test('ordering a whole collection returns its spaces by place', async () => {
  const { test, id, spaces, order } = await collectionOfFive()
  const ordered = await order([
    ['A', 5],
    ['B', 4],
    ['C', 3],
    ['D', 2],
    ['E', 1],
  ])
  expect(ordered.status).toBe(200)
  expect(ordered.body).toEqual({
    items: ['E', 'D', 'C', 'B', 'A'].map((name, index) => ({ id: spaces[name], name, position: index + 1 })),
    links: { self: `https://api.test/admin/v1/networks/1/collections/${id}/order`, next: null },
  })
  expect(test.newEvents()).toEqual([])
})

test('spaces that are not named keep their order in the places that are left', async () => {
  const { order, names } = await collectionOfFive()
  await order([['E', 2]])
  expect(await names()).toBe('AEBCD')
  await order([
    ['A', 5],
    ['D', 1],
  ])
  expect(await names()).toBe('DEBCA')
})

test('the response to an order has every space, whatever page is requested', async () => {
  const { test, id, order } = await collectionOfFive()
  for (let place = 6; place <= 30; place++) {
    const space = await newSpace(test, `S${place}`)
    await test.send('spaces.update', { params: { id: space.id }, body: { collection_id: id } })
  }
  const { body } = await order([['A', 5]], { per_page: 2 })
  const names = body.items.map(({ name }: { name: string }) => name)
  expect(names.slice(0, 6)).toEqual(['B', 'C', 'D', 'E', 'A', 'S6'])
  expect(body.items.map(({ position }: { position: number }) => position)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1))
  expect(body.links.next).toBeNull()
  // Who counts pages up to an empty one comes to an end.
  expect(await order([['A', 5]], { page: 2 })).toMatchObject({ body: { items: [], links: { next: null } } })
  expect(await order([['A', 5]], { page: 0 })).toMatchObject({ status: 400 })
})

test.each([
  [
    'a space that is not there',
    [
      ['A', 2],
      [nobody, 1],
    ] as const,
    `spaces: space ${nobody} is not in this collection`,
  ],
  [
    'a place beyond the end',
    [
      ['A', 2],
      ['B', 6],
    ] as const,
    'spaces: position must be a whole number from 1 to 5',
  ],
  ['a place before the first', [['A', 0]] as const, 'spaces.0.position must be 1 or more'],
  ['half a place', [['A', 1.5]] as const, 'spaces.0.position must be a whole number'],
  ['a place that is a text', [['A', '2']] as const, 'spaces.0.position must be a whole number'],
  ['no place', [['A', undefined]] as const, 'spaces.0.position is required'],
  [
    'one place for two',
    [
      ['A', 2],
      ['B', 2],
    ] as const,
    'spaces: position 2 is given twice',
  ],
])('an order with %s is refused, and nothing moves', async (_, assignments, error) => {
  const { order, names } = await collectionOfFive()
  expect(await order(assignments)).toMatchObject({ status: 422, body: { error } })
  expect(await names()).toBe('ABCDE')
})

test('an order that names a space twice, or one of another collection, is refused', async () => {
  const { test, spaces, order, names } = await collectionOfFive()
  const twice = await order([
    ['A', 2],
    ['A', 3],
  ])
  expect(twice).toMatchObject({ status: 422, body: { error: `spaces: space ${spaces['A']} is named twice` } })
  const elsewhere = await newSpace(test, 'Elsewhere')
  expect(await order([[elsewhere.id, 1]])).toMatchObject({
    status: 422,
    body: { error: `spaces: space ${elsewhere.id} is not in this collection` },
  })
  expect(await names()).toBe('ABCDE')
})

test.each([
  [{}, 'spaces is required'],
  [{ spaces: 'A' }, 'spaces must be a list'],
  [{ spaces: [5] }, 'spaces.0 must be a JSON object'],
  [{ spaces: [{ position: 1 }] }, 'spaces.0.space_id is required'],
])('an order of %o is refused', async (body, error) => {
  const { test, id } = await collectionOfFive()
  expect(await test.send('collections.order', { params: { id }, body })).toMatchObject({ status: 422, body: { error } })
})

test('orders at the same time leave every space with a different place', async () => {
  const { order, names } = await collectionOfFive()
  await Promise.all(['A', 'B', 'C', 'D', 'E'].map((name) => order([[name, 1]])))
  expect([...(await names())].sort().join('')).toBe('ABCDE')
})
