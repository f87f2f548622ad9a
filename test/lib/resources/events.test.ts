import { expect, test } from 'vitest'
import { createTestCommunity, nobody } from '../../support/community.ts'
import type { Json } from '../../support/json.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

const meeting = {
  title: 'Pruning',
  starts_at: '2026-12-01T18:00:00+01:00',
  ends_at: '2026-12-01T20:00:00+01:00',
  event_type: 'local_meetup',
  space_id: seeded.space,
}

async function withEvent(more: object = {}) {
  const network = await createSeededCommunity()
  const { status, body: event } = await network.send('events.create', { body: { ...meeting, ...more } })
  expect({ status, event }).toMatchObject({ status: 200 })
  return { ...network, event, params: { id: event.id } }
}

test('a new event is answered with 200, is a post of its space, and sends its event', async () => {
  const { event, send, owner, newEvents, params } = await withEvent({
    description: '<p>Bring gloves.</p>',
    location: 'Shed',
    link: 'https://example.org/x',
    time_zone: 'Europe/Berlin',
  })
  const shared = {
    id: event.id,
    created_at: '2026-11-20T10:00:00.000Z',
    updated_at: '2026-11-20T10:00:00.000Z',
    post_type: 'event',
    images: [],
    permalink: `https://demo.example/events/${event.id}`,
    title: 'Pruning',
    rsvp_enabled: true,
    rsvp_closed: false,
    restricted_event: false,
    post_in_feed: true,
    event_type: 'local_meetup',
    starts_at: '2026-12-01T17:00:00.000Z',
    ends_at: '2026-12-01T19:00:00.000Z',
    time_zone: 'Europe/Berlin',
    location: 'Shed',
    frequency: null,
    interval: null,
  }
  expect(event).toEqual({
    ...shared,
    creator: expect.objectContaining({ id: owner.id, name: 'Ada Host', admin: true }),
    description: '<p>Bring gloves.</p>',
    recurrence_rule: null,
    link: 'https://example.org/x',
  })
  const { body: creator } = await send('members.show', { params: { id: owner.id } })
  const { body: space } = await send('spaces.show', { params: { id: seeded.space } })
  expect(newEvents().map(({ event_type, payload }) => ({ event_type, payload }))).toEqual([
    {
      event_type: 'EventCreatedHook',
      payload: { ...shared, space_id: seeded.space, creator_id: owner.id, summary: 'Bring gloves.', creator, space },
    },
  ])
  expect((await send('events.show', { params })).body).toEqual(event)
  expect((await send('events.list')).body.items[0]).toEqual(event)
  expect((await send('posts.show', { params })).body).toMatchObject({ id: event.id, post_type: 'event', title: 'Pruning' })
})

test('events are listed by their start, the latest first, and those of the same start by id', async () => {
  const network = await createSeededCommunity()
  const create = async (starts_at: string) =>
    (await network.send('events.create', { body: { ...meeting, starts_at, ends_at: '2029-01-01T00:00:00Z' } })).body.id
  const future = await create('2028-01-01T00:00:00Z')
  const alike = [await create('2020-01-01T00:00:00Z'), await create('2020-01-01T01:00:00+01:00')]
  const past = await create('2019-01-01T00:00:00Z')
  alike.push(await create('2020-01-01T00:00:00.000Z'))
  const order = [future, '423', '422', '421', ...alike.toReversed(), past]
  for (const per_page of [1, 2, 3, 4, 5, 100]) {
    const ids: string[] = []
    let query: Record<string, string> | undefined = { per_page: String(per_page) }
    while (query) {
      const { status, body } = await network.send('events.list', { query })
      expect(status).toBe(200)
      ids.push(...body.items.map(({ id }: Json) => id))
      query = body.links.next ? Object.fromEntries(new URL(body.links.next).searchParams) : undefined
    }
    expect(ids).toEqual(order)
  }
})

test('events that come or go in the meantime change nothing for a client that follows the links', async () => {
  const network = await createSeededCommunity()
  const create = async () =>
    (await network.send('events.create', { body: { ...meeting, starts_at: '2020-01-01T00:00:00Z' } })).body.id
  const [first, second] = [await create(), await create()]
  const { body } = await network.send('events.list', { query: { per_page: '4' } })
  expect(body.items.at(-1).id).toBe(second)
  await create()
  await network.send('events.delete', { params: { id: second } })
  const query = Object.fromEntries(new URL(body.links.next).searchParams)
  expect((await network.send('events.list', { query })).body.items.map(({ id }: Json) => id)).toEqual([first])
})

test.each(['421', '2020-01-01T00:00:00.000Z', '2020-13-01T00:00:00.000Z_1', '2020-01-01T00:00:00.000Z_', '_421'])(
  'a list of events refuses %j as a place',
  async (after) => {
    const network = await createSeededCommunity()
    const refused = { status: 400, body: { error: 'after must be copied unchanged from links.next' } }
    expect(await network.send('events.list', { query: { after } })).toMatchObject(refused)
    if (after !== '421') expect(await network.send('posts.list', { query: { after } })).toMatchObject(refused)
  },
)

test('a list by id refuses the place of a list by time', async () => {
  const network = await createSeededCommunity()
  const query = { after: '2020-01-01T00:00:00.000Z_421' }
  expect((await network.send('posts.list', { query })).status).toBe(400)
})

test('an event shows the name of its time zone in the case that everybody reads', async () => {
  const { event, send, params } = await withEvent({ time_zone: 'europe/BERLIN' })
  expect(event.time_zone).toBe('Europe/Berlin')
  expect((await send('events.update', { params, body: { time_zone: 'utc' } })).body.time_zone).toBe('UTC')
})

test('an event without a time zone is on UTC', async () => {
  const { event } = await withEvent()
  expect(event.time_zone).toBe('UTC')
})

test.each([
  ['title is required', { title: undefined }],
  ['starts_at must be a date and time in ISO 8601', { starts_at: '2026-12-01' }],
  ['ends_at must be after starts_at', { ends_at: meeting.starts_at }],
  ['ends_at must be after starts_at', { ends_at: '2026-12-01T16:59:59Z' }],
  ['event_type must be one of local, live_chat', { event_type: 'party' }],
  [`space_id: there is no space ${nobody} in this network`, { space_id: nobody }],
  ['time_zone must be an IANA time zone like Europe/Berlin', { time_zone: 'Europe/Atlantis' }],
  ['time_zone must be an IANA time zone like Europe/Berlin', { time_zone: '+01:00' }],
  ['link must be an http or https URL', { link: 'javascript:alert(1)' }],
  ['frequency must be one of daily, weekly, monthly, yearly', { frequency: 'hourly' }],
  ['interval needs a frequency', { interval: 2 }],
  ['by_days needs a frequency', { by_days: 'MO' }],
  ['recur_until needs a frequency', { recur_until: '2027-01-01T00:00:00Z' }],
  ['interval must be a whole number from 1 to 1000', { frequency: 'daily', interval: 0 }],
  ['by_days must be a comma list of SU, MO, TU, WE, TH, FR, SA', { frequency: 'weekly', by_days: 'MO,XX' }],
  ['by_month_days must be a comma list of days of the month', { frequency: 'monthly', by_month_days: '32' }],
  ['by_month_days must be a comma list of days of the month', { frequency: 'monthly', by_month_days: 0 }],
  ['by_month_days cannot be combined with a weekly frequency', { frequency: 'weekly', by_month_days: '1' }],
  [
    'recurrence_count and recur_until both end the series',
    { frequency: 'daily', recurrence_count: 2, recur_until: '2027-01-01T00:00:00Z' },
  ],
  ['recur_until must not be before starts_at', { frequency: 'daily', recur_until: '2026-12-01T16:59:59Z' }],
  ['match no further date', { frequency: 'monthly', interval: 12, by_month_days: '31', starts_at: '2026-02-01T00:00:00Z' }],
  ['match no further date within 100 years: change one of them', { frequency: 'yearly', interval: 101 }],
])('an event is refused: %s', async (error, changes) => {
  const { send, newEvents } = await createSeededCommunity()
  const answer = await send('events.create', { body: { ...meeting, ...changes } })
  expect(answer).toMatchObject({ status: 422, body: { error: expect.stringContaining(error) } })
  expect((await send('events.list')).body.items).toHaveLength(3)
  expect(newEvents()).toEqual([])
})

test.each([
  [
    { frequency: 'weekly', interval: 2, by_days: ' mo, we ,MO', recurrence_count: 5 },
    'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;COUNT=5',
  ],
  [{ frequency: 'monthly', by_month_days: 15 }, 'FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=15'],
  [{ frequency: 'monthly', by_month_days: '1,-1' }, 'FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=1,-1'],
  [{ frequency: 'yearly', recur_until: '2030-01-01T00:00:00+01:00' }, 'FREQ=YEARLY;INTERVAL=1;UNTIL=20291231T230000Z'],
  [{ frequency: 'daily', by_days: '', by_month_days: null }, 'FREQ=DAILY;INTERVAL=1'],
])('the recurrence %j reads %s', async (recurrence, rule) => {
  const { event } = await withEvent(recurrence)
  expect(event).toMatchObject({
    frequency: recurrence.frequency,
    interval: 'interval' in recurrence ? recurrence.interval : 1,
    recurrence_rule: rule,
  })
})

test('times without an offset are times of the time zone that the request names', async () => {
  const { event } = await withEvent({
    time_zone: 'Europe/Berlin',
    starts_at: '2026-07-01T18:00:00',
    ends_at: '2026-07-01 20:00',
    frequency: 'weekly',
    recur_until: '2026-12-31T18:00:00',
  })
  expect(event).toMatchObject({
    starts_at: '2026-07-01T16:00:00.000Z',
    ends_at: '2026-07-01T18:00:00.000Z',
    recurrence_rule: 'FREQ=WEEKLY;INTERVAL=1;UNTIL=20261231T170000Z',
  })
})

test('without a time zone a time needs an offset, and the sentence names it', async () => {
  const { send } = await createSeededCommunity()
  expect(await send('events.create', { body: { ...meeting, starts_at: '2026-12-01T10:00:00' } })).toMatchObject({
    status: 422,
    body: { error: 'starts_at must have an offset, such as 2026-12-01T10:00:00.000Z, or the request a time_zone' },
  })
})

test('an update without an offset is in the time zone of the event, or in the new one', async () => {
  const { send, params } = await withEvent({ time_zone: 'Europe/Berlin' })
  const change = async (body: object) => (await send('events.update', { params, body })).body
  const times = { starts_at: '2026-12-01T10:00:00', ends_at: '2026-12-01T12:00:00' }
  expect(await change(times)).toMatchObject({ starts_at: '2026-12-01T09:00:00.000Z', ends_at: '2026-12-01T11:00:00.000Z' })
  const moved = await change({ ...times, time_zone: 'Asia/Tokyo' })
  expect(moved).toMatchObject({ starts_at: '2026-12-01T01:00:00.000Z', time_zone: 'Asia/Tokyo' })
})

test('an occurrence is named in the time zone of its event', async () => {
  const { send, event } = await withEvent({ time_zone: 'Europe/Berlin', frequency: 'weekly' })
  const params = { event_id: event.id }
  const [local, utc] = ['2026-12-08T18:00:00', '2026-12-08T17:00:00.000Z']
  const made = await send('rsvps.create', { params, body: { member_id: seeded.member, status: 'yes', instance_at: local } })
  expect(made).toMatchObject({ status: 200, body: { event_instance: { starts_at: utc } } })
  for (const instance_at of [local, utc, '2026-12-08T18:00:00+01:00'])
    expect((await send('rsvps.list', { params, query: { instance_at } })).body.items).toEqual([made.body])
})

test('PATCH and PUT change what they name, in the event and in its post', async () => {
  const { send, event, params, newEvents, clock } = await withEvent({ description: 'Old', frequency: 'weekly' })
  newEvents()
  clock.advance(1000)
  const changed = await send('events.update', { params, body: { title: 'Planting', description: null, rsvp_closed: true } })
  const expected = {
    ...event,
    title: 'Planting',
    description: null,
    rsvp_closed: true,
    updated_at: '2026-11-20T10:00:01.000Z',
  }
  expect({ status: changed.status, body: changed.body }).toEqual({ status: 200, body: expected })
  expect(newEvents()).toMatchObject([
    { event_type: 'EventUpdatedHook', payload: { title: 'Planting', summary: '', rsvp_closed: true } },
  ])
  expect((await send('posts.show', { params })).body.title).toBe('Planting')
  const later = { starts_at: '2026-12-01T18:00:00Z' }
  expect((await send('events.replace', { params, body: later })).body).toEqual({
    ...expected,
    starts_at: '2026-12-01T18:00:00.000Z',
  })
})

test('a start after the end that the event has is refused, and nothing changes', async () => {
  const { send, event, params, newEvents } = await withEvent()
  newEvents()
  expect(await send('events.update', { params, body: { starts_at: '2026-12-02T00:00:00Z' } })).toMatchObject({
    status: 422,
    body: { error: 'ends_at must be after starts_at' },
  })
  expect((await send('events.show', { params })).body).toEqual(event)
  expect(newEvents()).toEqual([])
})

test('frequency null makes it an event that takes place once', async () => {
  const { send, params } = await withEvent({ frequency: 'weekly', interval: 2, by_days: 'MO', recurrence_count: 3 })
  const { body } = await send('events.update', { params, body: { frequency: null } })
  expect(body).toMatchObject({ frequency: null, interval: null, recurrence_rule: null })
})

test('one end of the series replaces the other; both together are refused', async () => {
  const { send, params } = await withEvent({ frequency: 'daily', recurrence_count: 3 })
  const change = async (body: object) => (await send('events.update', { params, body })).body
  const recur_until = '2026-12-24T00:00:00Z'
  expect((await change({ recur_until })).recurrence_rule).toBe('FREQ=DAILY;INTERVAL=1;UNTIL=20261224T000000Z')
  expect((await change({ recurrence_count: 5 })).recurrence_rule).toBe('FREQ=DAILY;INTERVAL=1;COUNT=5')
  expect((await change({ title: 'Weeding' })).recurrence_rule).toBe('FREQ=DAILY;INTERVAL=1;COUNT=5')
  expect((await change({ recurrence_count: null, recur_until })).recurrence_rule).toContain('UNTIL')
  expect((await change({ recurrence_count: 2, recur_until })).error).toContain('both end the series')
})

test('a deleted event is canceled, and its RSVPs and comments go with it', async () => {
  const { send, newEvents } = await createSeededCommunity()
  const params = { id: seeded.event }
  expect(await send('events.delete', { params })).toMatchObject({ status: 204, body: undefined })
  expect(newEvents().map(({ event_type, payload }) => [event_type, payload.id])).toEqual([['EventCanceledHook', seeded.event]])
  for (const id of ['events.show', 'events.delete'])
    expect(await send(id, { params })).toMatchObject({ status: 404, body: { error: 'Event not found' } })
  expect(await send('posts.show', { params })).toMatchObject({ status: 404 })
  expect(await send('rsvps.show', { params: { event_id: seeded.event, id: '431' } })).toMatchObject({ status: 404 })
})

test('a post that is no event is no event', async () => {
  const { send } = await createSeededCommunity()
  for (const id of [nobody, seeded.post, seeded.poll])
    expect(await send('events.show', { params: { id } })).toMatchObject({ status: 404, body: { error: 'Event not found' } })
})

test('recurrence needs its port, which the sentence names; an event that takes place once does not', async () => {
  const { send } = await createTestCommunity({ ports: {} })
  const { body: space } = await send('spaces.create', { body: { name: 'Garden' } })
  const body = { ...meeting, space_id: space.id }
  expect((await send('events.create', { body })).status).toBe(200)
  expect(await send('events.create', { body: { ...body, frequency: 'daily' } })).toMatchObject({
    status: 422,
    body: { error: 'frequency needs option `ports.recurrence`, which this service does not have' },
  })
})
