/** An update that changes nothing leaves the record alone, `updated_at` and all, and emits nothing. */
import { expect, test } from 'vitest'
import { createSeededCommunity, seeded } from '../support/seed.ts'
import { exampleOf, routeIds, sendExample } from './support.ts'

/** Sending an invite again is what this one is for. */
const acts = ['plan_invites.resend_patch', 'plan_invites.resend_put']

const updates = routeIds.filter((id) => ['PATCH', 'PUT'].includes(exampleOf(id).route.method) && !acts.includes(id))

/** The events of mail that the host sends on request. */
const askedFor = ['CustomFieldNotificationRequestedHook']

async function setUp() {
  const t = await createSeededCommunity()
  const told = () => [...t.events(), ...t.events('host')].filter(({ event_type }) => !askedFor.includes(event_type)).length
  return { ...t, told }
}

test.each(updates)('%s with what the record has already changes nothing', async (id) => {
  const t = await setUp()
  const first = await sendExample(t, id)
  const told = t.told()
  t.clock.advance(60_000)
  const second = await sendExample(t, id)
  expect([second.status, second.body]).toEqual([first.status, first.body])
  expect(t.told()).toBe(told)
  expect(t.faults).toEqual([])
})

const partial = updates.filter((id) => id !== 'collections.order')

test.each(partial)('%s with an empty body, or with unknown fields only, changes nothing', async (id) => {
  const t = await setUp()
  t.clock.advance(60_000)
  const [empty, unknown] = [await sendExample(t, id, { body: {} }), await sendExample(t, id, { body: { shoe_size: 42 } })]
  expect([empty.status, unknown.status]).toEqual([200, 200])
  expect(unknown.body).toEqual(empty.body)
  const { created_at, updated_at = created_at, updated = updated_at } = empty.body
  expect(updated < '2026-11-20T10:01:00.000Z').toBe(true)
  expect(t.told()).toBe(0)
})

test.each([
  ['answers.upsert', {}],
  ['answers.upsert', { params: { custom_field_id: seeded.dropdown }, body: { segment_ids: [seeded.option] } }],
  ['rsvps.create', {}],
  ['post_reactions.create', {}],
  ['comment_reactions.create', {}],
  ['member_tags.create', {}],
  ['member_badges.create', {}],
  ['mute.create', {}],
] as const)('%s once more with %j changes nothing', async (id, changes) => {
  const t = await setUp()
  const first = await sendExample(t, id, changes)
  const told = t.told()
  t.clock.advance(60_000)
  const second = await sendExample(t, id, changes)
  expect([second.status, second.body]).toEqual([first.status, first.body])
  expect(t.told()).toBe(told)
})

test('an update that changes something sends an event, and moves updated_at', async () => {
  const t = await setUp()
  t.clock.advance(60_000)
  const updated_at = '2026-11-20T10:01:00.000Z'
  const params = { id: seeded.event }
  const { body: event } = await t.send('events.update', { params, body: { location: 'In the greenhouse' } })
  expect(event.updated_at).toBe(updated_at)
  const { body: moved } = await t.send('spaces.update', {
    params: { id: seeded.space },
    body: { collection_id: seeded.emptyCollection },
  })
  expect(moved.updated_at).toBe(updated_at)
  const answer = await sendExample(t, 'answers.upsert', {
    params: { custom_field_id: seeded.dropdown },
    body: { segment_ids: [String(Number(seeded.option) + 1)] },
  })
  expect(answer.body).toMatchObject({ updated_at, last_edited_at: updated_at })
  expect(t.events().map(({ event_type }) => event_type)).toEqual(['EventUpdatedHook', 'CustomFieldResponseUpdatedHook'])
})
