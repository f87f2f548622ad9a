/** Times of events in the interface description. */
import { expect, test } from 'vitest'
import { createSeededCommunity, seeded } from '../support/seed.ts'

test('times that may be without an offset have no format that requires one', async () => {
  const network = await createSeededCommunity()
  const body = {
    title: 'x',
    event_type: 'local',
    space_id: seeded.space,
    starts_at: '2027-03-01T18:00:00',
    ends_at: '2027-03-01T19:00',
  }
  expect((await network.send('events.create', { body: { ...body, time_zone: 'Europe/Berlin' } })).status).toBe(200)
  const { components } = JSON.parse(JSON.stringify(network.community.openapi()))
  for (const name of ['EventCreateRequest', 'EventUpdateRequest'])
    for (const field of ['starts_at', 'ends_at', 'recur_until']) {
      const { format, pattern } = components.schemas[name].properties[field]
      expect(format).toBeUndefined()
      for (const text of [body.starts_at, body.ends_at, '2027-03-01t18:00:00.5+01:00', '2027-03-01 18:00Z'])
        expect(text).toMatch(new RegExp(pattern, 'u'))
    }
})
