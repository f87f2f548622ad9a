import { expect, test } from 'vitest'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

test('the ids of later events sort behind those of earlier ones', async () => {
  const { send, events, clock } = await createSeededCommunity()
  for (let post = 0; post < 20; post++) {
    await send('posts.create', { body: { space_id: seeded.space, title: 'Hello' } })
    clock.advance(1)
  }
  const ids = events().map(({ event_id }) => event_id)
  expect(ids).toHaveLength(20)
  expect(ids).toEqual(ids.toSorted())
})
