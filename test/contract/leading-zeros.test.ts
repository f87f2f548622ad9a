/** An id with a zero before it is that of no record, wherever it stands. */
import { expect, test } from 'vitest'
import { createSeededCommunity, seeded } from '../support/seed.ts'

test('an id with a leading zero names nothing in paths, bodies and queries', async () => {
  const network = await createSeededCommunity()
  const zero = `0${seeded.space}`
  const body = { title: 'Hello', description: 'x', post_type: 'post', space_id: zero }
  expect((await network.send('spaces.show', { params: { id: zero } })).status).toBe(404)
  expect((await network.send('posts.create', { body })).status).toBe(404)
  expect((await network.send('posts.create', { body: { ...body, space_id: seeded.space } })).status).toBe(201)
  const listed = async (space_id: string) => (await network.send('posts.list', { query: { space_id } })).body.items.length
  expect([await listed(zero), (await listed(seeded.space)) > 0]).toEqual([0, true])
  expect(network.faults).toEqual([])
})
