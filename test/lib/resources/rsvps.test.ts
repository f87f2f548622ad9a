import { expect, test } from 'vitest'
import { nobody } from '../../support/community.ts'
import type { Json } from '../../support/json.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

/** A weekly event at 18:00 in Berlin on Tuesdays, over the change to winter time and back. */
const weekly = {
  title: 'Choir',
  starts_at: '2026-10-20T18:00:00+02:00',
  ends_at: '2026-10-20T20:00:00+02:00',
  event_type: 'local_meetup',
  space_id: seeded.space,
  time_zone: 'Europe/Berlin',
  frequency: 'weekly',
}

async function withSeries(more: object = {}) {
  const network = await createSeededCommunity()
  const { body: event } = await network.send('events.create', { body: { ...weekly, ...more } })
  const params = { event_id: event.id }
  network.newEvents()
  return {
    ...network,
    event,
    params,
    answer: (instance_at: string | undefined, status = 'yes', member_id: string = seeded.loner) =>
      network.send('rsvps.create', { params, body: { member_id, status, instance_at } }),
    list: async (query = {}): Promise<Json[]> => (await network.send('rsvps.list', { params, query })).body.items,
  }
}

const once = { event_id: seeded.event }

test('an RSVP is made, and a second one of the same member changes it; both answer 200', async () => {
  const { send, newEvents, clock } = await createSeededCommunity()
  const body = { member_id: seeded.loner, status: 'yes' }
  const made = await send('rsvps.create', { params: once, body })
  const { body: member } = await send('members.show', { params: { id: seeded.loner } })
  expect({ status: made.status, body: made.body }).toEqual({
    status: 200,
    body: {
      id: expect.any(String),
      updated: '2026-11-20T10:00:00.000Z',
      status: 'yes',
      event: expect.objectContaining({
        id: seeded.event,
        space_id: seeded.space,
        creator: expect.objectContaining({ id: '101' }),
      }),
      member,
      event_instance: null,
    },
  })
  clock.advance(1000)
  const changed = await send('rsvps.create', { params: once, body: { ...body, status: 'no' } })
  expect({ status: changed.status, body: changed.body }).toEqual({
    status: 200,
    body: { ...made.body, status: 'no', updated: '2026-11-20T10:00:01.000Z' },
  })
  expect(newEvents().map(({ event_type, payload }) => [event_type, payload])).toEqual([
    ['RsvpCreatedHook', made.body],
    ['RsvpUpdatedHook', changed.body],
  ])
  const { body: page } = await send('rsvps.list', { params: once })
  expect(page.items.map(({ member: { id }, status }: Json) => [id, status])).toEqual([
    ['101', 'yes'],
    ['102', 'maybe'],
    ['103', 'no'],
    [seeded.loner, 'no'],
  ])
  expect((await send('rsvps.show', { params: { ...once, id: made.body.id } })).body).toEqual(changed.body)
})

test.each([
  ['Europe/Berlin', '2026-10-20T18:00:00+02:00', ['2026-10-20T16:00:00.000Z', '2026-10-27T17:00:00.000Z'], 1],
  ['Europe/Berlin', '2027-03-23T18:00:00+01:00', ['2027-03-23T17:00:00.000Z', '2027-03-30T16:00:00.000Z'], 1],
  ['America/New_York', '2026-10-27T18:00:00-04:00', ['2026-10-27T22:00:00.000Z', '2026-11-03T23:00:00.000Z'], 1],
  ['America/New_York', '2027-03-09T18:00:00-05:00', ['2027-03-09T23:00:00.000Z', '2027-03-16T22:00:00.000Z'], 1],
])('18:00 in %s stays 18:00 when the clocks change after %s', async (time_zone, starts_at, [first, second], index) => {
  const ends_at = new Date(Date.parse(starts_at) + 5_400_000).toISOString()
  const { answer, event } = await withSeries({ time_zone, starts_at, ends_at })
  expect(event.starts_at).toBe(first)
  const made = await answer(second)
  expect(made.body).toMatchObject({
    event_instance: {
      post_id: event.id,
      starts_at: second,
      ends_at: new Date(Date.parse(second ?? '') + 5_400_000).toISOString(),
      instance_index: index,
    },
  })
  // The same distance in hours as before the change is no occurrence any more.
  expect((await answer(new Date(Date.parse(first ?? '') + 7 * 24 * 3_600_000).toISOString())).status).toBe(422)
})

test('each occurrence is answered by itself, and the list shows one or all of them', async () => {
  const { answer, list, newEvents } = await withSeries()
  const [first, second] = ['2026-10-20T16:00:00.000Z', '2026-10-27T17:00:00.000Z']
  await answer(first)
  await answer('2026-10-27T18:00:00+01:00', 'maybe')
  await answer(second, 'no')
  await answer(undefined, 'maybe')
  expect((await list()).map(({ status, event_instance }) => [status, event_instance?.instance_index])).toEqual([
    ['yes', 0],
    ['no', 1],
    ['maybe', undefined],
  ])
  expect((await list({ instance_at: '2026-10-27T17:00:00Z' })).map(({ status }) => status)).toEqual(['no'])
  expect(await list({ instance_at: '2026-10-28T17:00:00Z' })).toEqual([])
  expect(newEvents().map(({ event_type }) => event_type)).toEqual([
    'RsvpCreatedHook',
    'RsvpCreatedHook',
    'RsvpUpdatedHook',
    'RsvpCreatedHook',
  ])
})

test.each([
  ['between two occurrences', '2026-10-28T17:00:00Z', {}],
  ['before the first one', '2026-10-13T16:00:00Z', {}],
  ['after the last one by count', '2026-11-03T17:00:00Z', { recurrence_count: 2 }],
  ['after the last one by date', '2026-11-03T17:00:00Z', { recur_until: '2026-11-03T16:59:59Z' }],
  ['out of step with the interval', '2026-10-27T17:00:00Z', { interval: 2 }],
  ['thousands of years before', '0001-01-01T17:00:00Z', {}],
])('an instance_at %s is refused', async (_, instance_at, more) => {
  const { answer, newEvents } = await withSeries(more)
  expect(await answer(instance_at)).toMatchObject({
    status: 422,
    body: { error: 'instance_at is not an occurrence of this event' },
  })
  expect(newEvents()).toEqual([])
})

test('several days of the week are occurrences, the start is the first one whatever day it is', async () => {
  const { answer } = await withSeries({ by_days: 'MO,FR' })
  const index = async (instance_at: string) => (await answer(instance_at)).body.event_instance?.instance_index
  expect(await index('2026-10-20T16:00:00Z')).toBe(0)
  expect(await index('2026-10-23T16:00:00Z')).toBe(1)
  expect(await index('2026-10-26T17:00:00Z')).toBe(2)
})

test('an occurrence that is canceled takes no more answers', async () => {
  const { answer, community, event } = await withSeries()
  const instance_at = '2026-10-27T17:00:00.000Z'
  await community.notify.eventInstanceCanceled({ network: '1', event_id: event.id, instance_at })
  expect(await answer(instance_at)).toMatchObject({
    status: 422,
    body: { error: 'instance_at is an occurrence that is canceled' },
  })
  expect((await answer('2026-11-03T17:00:00Z')).status).toBe(200)
})

test('a series has occurrences for 100 years, and a later time is refused with the bound', async () => {
  const zoned = { starts_at: '2026-01-31T10:00:00', ends_at: '2026-01-31T11:00:00', time_zone: 'America/New_York' }
  const rare = { frequency: 'monthly', interval: 12, by_days: 'MO', by_month_days: '31' }
  for (const rule of [rare, { frequency: 'yearly' }, { frequency: 'yearly', recur_until: '9999-12-31T10:00:00' }]) {
    const { answer } = await withSeries({ ...zoned, ...rule })
    const late = await answer('9994-01-31T10:00:00')
    expect([late.status, late.body.error]).toEqual([422, 'instance_at must be at most 100 years after starts_at'])
    expect((await answer('2126-01-31T10:00:00.001')).body.error).toBe('instance_at must be at most 100 years after starts_at')
    expect((await answer('0001-01-31T10:00:00')).body.error).toBe('instance_at is not an occurrence of this event')
  }
  const { answer } = await withSeries({ ...zoned, frequency: 'yearly' })
  expect((await answer('2126-01-31T10:00:00')).body.event_instance?.instance_index).toBe(100)
})

test('a series may begin in a far year', async () => {
  const far = { starts_at: '9000-01-31T10:00:00', ends_at: '9000-01-31T11:00:00', time_zone: 'America/New_York' }
  const { answer, event } = await withSeries({ ...far, frequency: 'daily', recur_until: '9999-12-31T10:00:00' })
  expect(event.starts_at).toBe('9000-01-31T15:00:00.000Z')
  expect((await answer('9000-07-01T10:00:00')).body.event_instance).toMatchObject({
    starts_at: '9000-07-01T14:00:00.000Z',
    instance_index: 151,
  })
})

test('an event that takes place once has one occurrence, its start', async () => {
  const { send } = await createSeededCommunity()
  const { body: event } = await send('events.show', { params: { id: seeded.event } })
  const body = { member_id: seeded.loner, status: 'yes' }
  const named = await send('rsvps.create', { params: once, body: { ...body, instance_at: event.starts_at } })
  const plain = await send('rsvps.create', { params: once, body })
  expect([named.status, plain.body.id]).toEqual([200, named.body.id])
  const { body: page } = await send('rsvps.list', { params: once, query: { instance_at: event.starts_at } })
  expect(page.items).toHaveLength(4)
  expect((await send('rsvps.create', { params: once, body: { ...body, instance_at: event.ends_at } })).status).toBe(422)
})

test('an RSVP is changed by PATCH and PUT, partly if wanted', async () => {
  const { answer, send, params, newEvents } = await withSeries()
  const { body: made } = await answer('2026-10-20T16:00:00Z')
  newEvents()
  const path = { ...params, id: made.id }
  const changed = await send('rsvps.update', { params: path, body: { status: 'no' } })
  expect({ status: changed.status, body: changed.body }).toEqual({ status: 200, body: { ...made, status: 'no' } })
  const moved = await send('rsvps.replace', {
    params: path,
    body: { member_id: '102', status: 'maybe', instance_at: '2026-10-27T17:00:00Z' },
  })
  expect(moved.body).toMatchObject({ id: made.id, status: 'maybe', member: { id: '102' }, event_instance: { instance_index: 1 } })
  expect(newEvents().map(({ event_type, payload }) => [event_type, payload])).toEqual([
    ['RsvpUpdatedHook', changed.body],
    ['RsvpUpdatedHook', moved.body],
  ])
})

test('an RSVP cannot become that of a member who has answered already', async () => {
  const { send } = await createSeededCommunity()
  expect(await send('rsvps.update', { params: { ...once, id: '431' }, body: { member_id: '102' } })).toMatchObject({
    status: 422,
    body: { error: 'member_id has answered already' },
  })
})

test('deleting an RSVP sends its event', async () => {
  const { send, newEvents } = await createSeededCommunity()
  const params = { ...once, id: '431' }
  const { body: rsvp } = await send('rsvps.show', { params })
  expect(await send('rsvps.delete', { params })).toMatchObject({ status: 204, body: undefined })
  expect(newEvents().map(({ event_type, payload }) => [event_type, payload])).toEqual([['RsvpDeletedHook', rsvp]])
  expect(await send('rsvps.delete', { params })).toMatchObject({ status: 404, body: { error: 'RSVP not found' } })
})

test.each([
  ['This event takes no RSVPs', { rsvp_enabled: false }],
  ['The RSVPs of this event are closed', { rsvp_closed: true }],
])('the settings of an event block answers: %s', async (error, settings) => {
  const { send, newEvents } = await createSeededCommunity()
  await send('events.update', { params: { id: seeded.event }, body: settings })
  newEvents()
  const body = { member_id: seeded.loner, status: 'yes' }
  expect(await send('rsvps.create', { params: once, body })).toMatchObject({ status: 403, body: { error } })
  expect(await send('rsvps.update', { params: { ...once, id: '431' }, body: { status: 'no' } })).toMatchObject({
    status: 403,
    body: { error },
  })
  expect(newEvents()).toEqual([])
})

test('who has left the network, and a limited member of other spaces, may not answer', async () => {
  const { send, newEvents } = await createSeededCommunity()
  await send('members.remove_from_network', { params: { id: '102' } })
  await send('space_members.delete', { params: { space_id: seeded.space, user_id: seeded.limited } })
  newEvents()
  for (const member_id of ['102', seeded.limited])
    expect(await send('rsvps.create', { params: once, body: { member_id, status: 'yes' } })).toMatchObject({
      status: 403,
      body: { error: 'The member does not belong to this network, or not to the space of the event' },
    })
  expect(newEvents()).toEqual([])
})

test.each([
  ['Event not found', { event_id: nobody }, { member_id: nobody, status: 'yes' }, 404],
  ['Member not found', once, { member_id: nobody, status: 'yes' }, 404],
  ['status must be one of yes, maybe, no', once, { member_id: seeded.loner, status: 'perhaps' }, 422],
  ['member_id is required', once, { status: 'yes' }, 422],
  ['instance_at must be a date and time in ISO 8601', once, { member_id: seeded.loner, status: 'yes', instance_at: 'now' }, 422],
])('an RSVP is refused: %s', async (error, params, body, status) => {
  const { send } = await createSeededCommunity()
  expect(await send('rsvps.create', { params, body })).toMatchObject({ status, body: { error } })
})

test('an RSVP of another event is 404', async () => {
  const { send } = await createSeededCommunity()
  for (const [event_id, id, error] of [
    [nobody, '431', 'Event not found'],
    ['422', '431', 'RSVP not found'],
    [seeded.event, nobody, 'RSVP not found'],
  ] as const)
    for (const operation of ['rsvps.show', 'rsvps.delete'])
      expect(await send(operation, { params: { event_id, id } })).toMatchObject({ status: 404, body: { error } })
})
