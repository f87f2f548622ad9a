/** What happens to answers and cancellations of single occurrences when a series changes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Schedule, seriesOf } from '../../../lib/rules/recurrence.ts'
import { scoped } from '../../../lib/storage/scoped.ts'
import { canceledInstances, events } from '../../../lib/storage/tables/events.ts'
import type { Json } from '../../support/json.ts'
import { testPorts } from '../../support/ports.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

/** Tuesdays at 18:00 in Berlin, from 6 January 2026. */
const tuesdays = {
  title: 'Choir',
  starts_at: '2026-01-06T18:00',
  ends_at: '2026-01-06T20:00',
  event_type: 'local_meetup',
  space_id: seeded.space,
  time_zone: 'Europe/Berlin',
  frequency: 'weekly',
  by_days: 'TU',
}

/** What the clocks of a zone show: `2026-01-06T18:00`. */
const shownIn = (timeZone: string, moment: string): string =>
  new Date(moment).toLocaleString('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).replace(' ', 'T')

/** A series of which some occurrences are answered for, and canceled then. Times are those of its zone. */
async function answered(series: object, moments: readonly string[], cancels = true) {
  const network = await createSeededCommunity()
  const { send, community, storage, clock, newEvents } = network
  const { body: event } = await send('events.create', { body: { ...tuesdays, ...series } })
  const params = { event_id: event.id }
  const ids = new Map<string, string>()
  for (const moment of moments) {
    const body = { member_id: seeded.loner, status: 'yes', ...(moment === '' ? {} : { instance_at: moment }) }
    const made = await send('rsvps.create', { params, body })
    expect([moment, made.status, made.body.error]).toEqual([moment, 200, undefined])
    ids.set(made.body.id, moment)
    if (cancels && moment !== '')
      await community.notify.eventInstanceCanceled({ network: '1', event_id: event.id, instance_at: moment })
  }
  const list = async (): Promise<Json[]> => (await send('rsvps.list', { params, query: { per_page: 100 } })).body.items
  const rowOf = () =>
    storage.transaction(async (tx) => (await scoped(tx, '1').find(events, { where: { id: event.id } }))[0], { readOnly: true })
  const canceled = async (zone: string): Promise<string[]> => {
    const rows = await storage.transaction((tx) => scoped(tx, '1').find(canceledInstances, { where: { event_id: event.id } }), {
      readOnly: true,
    })
    return rows.map(({ instance_at }) => shownIn(zone, instance_at)).sort()
  }
  newEvents()
  clock.advance(60_000)
  const change = (body: object) => send('events.update', { params: { id: event.id }, body })
  return { ...network, event, params, ids, list, rowOf, canceled, change }
}

type Fates = Readonly<Record<string, string | null>>

test.each<[string, object, object, Fates]>([
  [
    'a further day of the week leaves all dates',
    {},
    { by_days: 'TU,TH' },
    { '2026-01-13T18:00': '2026-01-13T18:00', '2026-01-27T18:00': '2026-01-27T18:00' },
  ],
  [
    'a day of the week that falls away takes its dates along',
    { by_days: 'TU,TH' },
    { by_days: 'TH' },
    { '2026-01-06T18:00': '2026-01-06T18:00', '2026-01-13T18:00': null, '2026-01-15T18:00': '2026-01-15T18:00' },
  ],
  [
    'every second week leaves every second date',
    {},
    { interval: 2 },
    { '2026-01-13T18:00': null, '2026-01-20T18:00': '2026-01-20T18:00' },
  ],
  [
    'an earlier end by count takes the later dates',
    {},
    { recurrence_count: 2 },
    { '2026-01-13T18:00': '2026-01-13T18:00', '2026-01-20T18:00': null },
  ],
  [
    'an earlier end by date takes the later dates',
    {},
    { recur_until: '2026-01-13T18:00' },
    { '2026-01-13T18:00': '2026-01-13T18:00', '2026-01-20T18:00': null },
  ],
  [
    'a later end leaves all dates',
    { recurrence_count: 3 },
    { recurrence_count: 20 },
    { '2026-01-06T18:00': '2026-01-06T18:00', '2026-01-20T18:00': '2026-01-20T18:00' },
  ],
  [
    'another frequency leaves the dates that both have',
    {},
    { frequency: 'daily' },
    { '2026-01-13T18:00': '2026-01-13T18:00', '2026-04-07T18:00': '2026-04-07T18:00' },
  ],
  [
    'a start a week later drops the first date alone',
    {},
    { starts_at: '2026-01-13T18:00', ends_at: '2026-01-13T20:00' },
    { '2026-01-06T18:00': null, '2026-01-13T18:00': '2026-01-13T18:00', '2026-01-20T18:00': '2026-01-20T18:00' },
  ],
  [
    'a start a week earlier leaves all dates',
    {},
    { starts_at: '2025-12-30T18:00' },
    { '2026-01-06T18:00': '2026-01-06T18:00', '2026-01-20T18:00': '2026-01-20T18:00' },
  ],
  [
    'an hour later all move by an hour, in summer as in winter',
    {},
    { starts_at: '2026-01-06T19:00' },
    { '2026-01-06T18:00': '2026-01-06T19:00', '2026-01-13T18:00': '2026-01-13T19:00', '2026-07-07T18:00': '2026-07-07T19:00' },
  ],
  [
    'an hour later and with an end, those that remain move',
    {},
    { starts_at: '2026-01-06T19:00', recurrence_count: 2 },
    { '2026-01-13T18:00': '2026-01-13T19:00', '2026-01-20T18:00': null },
  ],
  [
    'an hour later with another rule, none of the old moments is left',
    {},
    { starts_at: '2026-01-06T19:00', by_days: 'TU,TH' },
    { '2026-01-06T18:00': null, '2026-01-13T18:00': null },
  ],
  [
    'dates stay if the start moves by a week and an hour',
    { by_days: null },
    { starts_at: '2026-01-13T19:00', ends_at: '2026-01-13T21:00' },
    { '2026-01-06T18:00': null, '2026-01-13T18:00': '2026-01-13T19:00', '2026-01-20T18:00': '2026-01-20T19:00' },
  ],
  [
    'dates stay if the start moves back by three weeks and an hour',
    {},
    { starts_at: '2025-12-16T17:00' },
    { '2026-01-06T18:00': '2026-01-06T17:00', '2026-07-07T18:00': '2026-07-07T17:00' },
  ],
  [
    'dates stay if the start moves by half a year and an hour',
    { frequency: 'daily', by_days: null },
    { starts_at: '2026-07-07T19:00', ends_at: '2026-07-07T20:00' },
    { '2026-07-06T18:00': null, '2026-07-07T18:00': '2026-07-07T19:00', '2026-12-07T18:00': '2026-12-07T19:00' },
  ],
  [
    'by two days of the week, dates stay if the start moves from one to the other',
    { by_days: 'TU,TH' },
    { starts_at: '2026-01-08T19:00', ends_at: '2026-01-08T21:00' },
    { '2026-01-06T18:00': null, '2026-01-08T18:00': '2026-01-08T19:00', '2026-01-13T18:00': '2026-01-13T19:00' },
  ],
  [
    'a start beyond the days of the week leaves the other dates',
    {},
    { starts_at: '2026-01-07T18:00', ends_at: '2026-01-07T20:00' },
    { '2026-01-06T18:00': null, '2026-01-13T18:00': '2026-01-13T18:00' },
  ],
  [
    'without days of the week all move by a day',
    { by_days: null },
    { starts_at: '2026-01-07T18:00', ends_at: '2026-01-07T20:00' },
    { '2026-01-06T18:00': '2026-01-07T18:00', '2026-01-20T18:00': '2026-01-21T18:00', '2026-04-07T18:00': '2026-04-08T18:00' },
  ],
  [
    'every second week all move by a week, for no date is left',
    { interval: 2 },
    { starts_at: '2026-01-13T18:00', ends_at: '2026-01-13T20:00' },
    { '2026-01-06T18:00': '2026-01-13T18:00', '2026-01-20T18:00': '2026-01-27T18:00' },
  ],
  [
    'every second week without days all move by a week, too',
    { interval: 2, by_days: null },
    { starts_at: '2026-01-13T18:00', ends_at: '2026-01-13T20:00' },
    { '2026-01-06T18:00': '2026-01-13T18:00', '2026-01-20T18:00': '2026-01-27T18:00' },
  ],
  [
    'a daily series a day later drops the first date alone',
    { frequency: 'daily', by_days: null },
    { starts_at: '2026-01-07T18:00', ends_at: '2026-01-07T20:00' },
    { '2026-01-06T18:00': null, '2026-01-07T18:00': '2026-01-07T18:00', '2026-01-08T18:00': '2026-01-08T18:00' },
  ],
  [
    'a monthly series a day later loses the months that lack the day',
    { frequency: 'monthly', by_days: null, starts_at: '2026-01-30T18:00', ends_at: '2026-01-30T20:00' },
    { starts_at: '2026-01-31T18:00', ends_at: '2026-01-31T20:00' },
    { '2026-01-30T18:00': '2026-01-31T18:00', '2026-03-30T18:00': '2026-03-31T18:00', '2026-04-30T18:00': null },
  ],
  [
    'by days of the month, dates stay if the start moves from one to the other',
    { frequency: 'monthly', by_days: null, by_month_days: '6,20,-1' },
    { starts_at: '2026-01-20T17:30', ends_at: '2026-01-20T20:00' },
    { '2026-01-06T18:00': null, '2026-01-20T18:00': '2026-01-20T17:30', '2026-02-28T18:00': '2026-02-28T17:30' },
  ],
  ...(
    [
      ['Asia/Calcutta', 'Asia/Kolkata'],
      ['Europe/Kiev', 'Europe/Kyiv'],
      ['UTC', 'Etc/UTC'],
      ['Europe/Berlin', 'europe/berlin'],
    ] as const
  ).map(([time_zone, other]): [string, object, object, Fates] => [
    `the same zone by another name, ${other}, a week and an hour later leaves the dates`,
    { time_zone },
    { time_zone: other, starts_at: '2026-01-13T19:00', ends_at: '2026-01-13T21:00' },
    { '2026-01-06T18:00': null, '2026-01-13T18:00': '2026-01-13T19:00', '2026-07-28T18:00': '2026-07-28T19:00' },
  ]),
  [
    'another zone at the same local time moves all',
    {},
    { time_zone: 'America/New_York', starts_at: '2026-01-06T18:00', ends_at: '2026-01-06T20:00' },
    { '2026-01-06T18:00': '2026-01-06T18:00', '2026-03-10T18:00': '2026-03-10T18:00', '2026-07-07T18:00': '2026-07-07T18:00' },
  ],
  [
    'another zone at the same moment follows its clocks',
    {},
    { time_zone: 'America/New_York' },
    { '2026-01-06T18:00': '2026-01-06T12:00', '2026-03-10T18:00': '2026-03-10T12:00', '2026-07-07T18:00': '2026-07-07T12:00' },
  ],
  [
    'another zone, in which the start is on another day, takes the dates of days of the week',
    { time_zone: 'Asia/Tokyo', starts_at: '2026-01-06T06:00', ends_at: '2026-01-06T07:00' },
    { time_zone: 'Europe/Berlin' },
    { '2026-01-06T06:00': '2026-01-05T22:00', '2026-01-13T06:00': null, '2026-01-20T06:00': null },
  ],
  [
    'another zone, in which the start is on another day, moves all without days of the week',
    { by_days: null, time_zone: 'Asia/Tokyo', starts_at: '2026-01-06T06:00', ends_at: '2026-01-06T07:00' },
    { time_zone: 'Europe/Berlin' },
    { '2026-01-06T06:00': '2026-01-05T22:00', '2026-01-13T06:00': '2026-01-12T22:00', '2026-04-07T06:00': '2026-04-06T22:00' },
  ],
  [
    'a time that the clocks leave out takes its date',
    { frequency: 'daily', by_days: null },
    { starts_at: '2026-01-06T02:30', ends_at: '2026-01-06T04:00' },
    { '2026-03-28T18:00': '2026-03-28T02:30', '2026-03-29T18:00': null, '2026-10-25T18:00': '2026-10-25T02:30' },
  ],
  [
    'another title, place and end leave all dates',
    {},
    { title: 'Chorus', location: 'Hall', ends_at: '2026-01-06T21:00' },
    { '2026-01-06T18:00': '2026-01-06T18:00', '2026-01-13T18:00': '2026-01-13T18:00' },
  ],
  [
    'days of the week in another order are the same rule',
    { by_days: 'TU,TH' },
    { by_days: 'TH,TU', interval: 1, starts_at: '2026-01-06T19:00' },
    { '2026-01-08T18:00': '2026-01-08T19:00' },
  ],
])('%s', async (_, series, changes, fates) => {
  const t = await answered(series, Object.keys(fates))
  const before = new Map((await t.list()).map((rsvp) => [rsvp.id, rsvp]))
  const { status, body } = await t.change(changes)
  expect([status, body.error]).toEqual([200, undefined])

  const after = await t.list()
  const zone: string = body.time_zone
  const seen = new Map(after.map(({ id, event_instance }) => [id, shownIn(zone, event_instance.starts_at)]))
  expect(Object.fromEntries([...t.ids].map(([id, moment]) => [moment, seen.get(id) ?? null]))).toEqual(fates)
  const kept = Object.values(fates).filter((fate) => fate !== null)
  expect(await t.canceled(zone)).toEqual(kept.sort())

  // Those at the same moment are as they were; each other one is touched, and its event has the same record.
  const touched = after.filter(({ id, event_instance: at }) => before.get(id)?.event_instance.starts_at !== at.starts_at)
  for (const rsvp of after) expect(rsvp.updated === before.get(rsvp.id)?.updated).toBe(!touched.some(({ id }) => id === rsvp.id))
  const gone = [...before.values()].filter(({ id }) => !seen.has(id))
  const told = t.events().slice(-touched.length - gone.length - 1)
  expect(t.newEvents().length).toBe(told.length)
  expect(told.map(({ event_type, payload }) => [event_type, payload.id, payload.event_instance?.starts_at])).toEqual([
    ['EventUpdatedHook', t.event.id, undefined],
    ...touched.map(({ id, event_instance: at }) => ['RsvpUpdatedHook', id, at.starts_at]),
    ...gone.map(({ id, event_instance: at }) => ['RsvpDeletedHook', id, at.starts_at]),
  ])
  for (const [index, rsvp] of touched.entries()) expect(told[index + 1]?.payload).toEqual(rsvp)
})

test('a dropped date does not come back when the series is lengthened again', async () => {
  const t = await answered({}, ['2026-01-13T18:00', '2026-01-20T18:00'])
  await t.change({ recurrence_count: 2 })
  await t.change({ recurrence_count: 20 })
  expect((await t.list()).map(({ event_instance: at }) => at.starts_at)).toEqual(['2026-01-13T17:00:00.000Z'])
  expect(await t.canceled('Europe/Berlin')).toEqual(['2026-01-13T18:00'])
})

test.each([
  ['its first date', {}, '2026-01-06T17:00:00.000Z'],
  ['another date', { starts_at: '2026-01-20T18:00', ends_at: '2026-01-20T20:00' }, '2026-01-20T17:00:00.000Z'],
])('a series that becomes one event on %s keeps the answers for that date', async (_, more, kept) => {
  const t = await answered({}, ['2026-01-06T18:00', '2026-01-13T18:00', '2026-01-20T18:00'])
  const before = await t.list()
  await t.change({ frequency: null, ...more })
  const after = await t.list()
  const { id } = before.find(({ event_instance: at }) => at.starts_at === kept) ?? {}
  expect(after.map((rsvp) => [rsvp.id, rsvp.event_instance])).toEqual([[id, null]])
  expect(await t.canceled('Europe/Berlin')).toEqual([])
  expect(t.newEvents().map(({ event_type }) => event_type)).toEqual([
    'EventUpdatedHook',
    'RsvpUpdatedHook',
    'RsvpDeletedHook',
    'RsvpDeletedHook',
  ])
})

test('a series that becomes one event at another time keeps answers for the whole of it alone', async () => {
  const t = await answered({}, ['', '2026-01-06T18:00'], false)
  await t.change({ frequency: null, starts_at: '2026-01-06T19:00' })
  expect((await t.list()).map(({ event_instance }) => event_instance)).toEqual([null])
  expect(t.newEvents().map(({ event_type }) => event_type)).toEqual(['EventUpdatedHook', 'RsvpDeletedHook'])
})

test('who has answered for the whole of a series keeps that answer when it becomes one event', async () => {
  const t = await answered({}, ['', '2026-01-06T18:00'], false)
  const [whole] = await t.list()
  await t.change({ frequency: null })
  expect((await t.list()).map(({ id, updated }) => [id, updated])).toEqual([[whole?.id, whole?.updated]])
})

test('one event that becomes a series keeps its answers, for the whole of it', async () => {
  const t = await answered({ frequency: null, by_days: null }, [''], false)
  const before = await t.list()
  await t.change({ frequency: 'weekly', by_days: 'TU', starts_at: '2026-01-13T18:00', ends_at: '2026-01-13T20:00' })
  expect((await t.list()).map(({ id, updated, event_instance }) => [id, updated, event_instance])).toEqual(
    before.map(({ id, updated }) => [id, updated, null]),
  )
  expect(t.newEvents().map(({ event_type }) => event_type)).toEqual(['EventUpdatedHook'])
})

test('an answer to a date of the past that the series has again can be given', async () => {
  const t = await answered({}, ['2026-01-13T18:00'], false)
  await t.change({ interval: 2 })
  await t.change({ interval: 1 })
  const body = { member_id: seeded.loner, status: 'no', instance_at: '2026-01-13T18:00' }
  expect((await t.send('rsvps.create', { params: t.params, body })).status).toBe(200)
})

test('more answers than one batch move, each once', async () => {
  const days = Array.from({ length: 250 }, (_, day) => shownIn('UTC', new Date(Date.UTC(2026, 0, 6 + day, 18)).toISOString()))
  const t = await answered({ frequency: 'daily', by_days: null, time_zone: 'UTC' }, days, false)
  await t.change({ starts_at: '2026-01-06T19:00' })
  const moved = t.events().filter(({ event_type }) => event_type === 'RsvpUpdatedHook')
  expect(moved.map(({ payload }) => payload.event_instance.starts_at)).toEqual(
    days.map((day) => `${day.replace('18:00', '19:00')}:00.000Z`),
  )
})

const zones = ['Europe/Berlin', 'Asia/Tokyo', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'UTC']
const anHour = fc.constantFrom('00:30', '02:30', '06:00', '18:00', '23:45')
const aStart = fc
  .tuple(fc.integer({ min: 0, max: 60 }), anHour)
  .map(([day, hour]) => `${new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10)}T${hour}`)
const rule = {
  frequency: fc.constantFrom('daily', 'weekly', 'monthly'),
  interval: fc.integer({ min: 1, max: 3 }),
  by_days: fc.constantFrom(null, 'TU', 'TU,TH', 'MO,TU,WE,SU'),
  recurrence_count: fc.constantFrom(null, 3, 40),
}
const moment = { starts_at: aStart, time_zone: fc.constantFrom(...zones) }
const ends = { ends_at: fc.constant('2026-12-01T00:00') }
const aSeries = fc.record({ ...rule, ...moment, ...ends })
const aChange = fc.oneof(
  fc.record(rule, { requiredKeys: [] }),
  fc.record(moment, { requiredKeys: [] }),
  fc.record({ ...rule, ...moment }, { requiredKeys: [] }),
)
const someIndexes = fc.uniqueArray(fc.integer({ min: 0, max: 39 }), { minLength: 1, maxLength: 6 })

test('after any change each answer is for an occurrence, and none moves without need', async () => {
  const { recurrence } = testPorts().ports
  const startsOf = (schedule: Schedule | undefined): readonly string[] => {
    const series = schedule && seriesOf(schedule)
    return (series && recurrence?.expand(series, { limit: 3_000 })) ?? []
  }
  await fc.assert(
    fc.asyncProperty(aSeries, aChange, someIndexes, async (series, changes, indexes) => {
      const t = await answered(series, [])
      const old = startsOf(await t.rowOf())
      const chosen = indexes.flatMap((index) => old[index] ?? [])
      for (const instance_at of chosen)
        await t.send('rsvps.create', { params: t.params, body: { member_id: seeded.loner, status: 'yes', instance_at } })
      const before = new Map((await t.list()).map((rsvp) => [rsvp.id, rsvp]))
      t.newEvents()
      t.clock.advance(60_000)
      const { status } = await t.change(changes)
      fc.pre(status === 200)

      const starts = new Set(startsOf(await t.rowOf()))
      const after = new Map((await t.list()).map((rsvp) => [rsvp.id, rsvp]))
      const told = t.newEvents().map(({ event_type, payload }) => `${event_type} ${payload.id}`)
      const isRuleAlone = !('starts_at' in changes || 'time_zone' in changes)
      for (const [id, { event_instance: was, updated }] of before) {
        const now = after.get(id)
        const isSame = now?.event_instance?.starts_at === was.starts_at
        if (now) expect(starts).toContain(now.event_instance?.starts_at)
        if (starts.has(was.starts_at)) expect(isSame).toBe(true)
        else if (isRuleAlone) expect(now).toBeUndefined()
        if (now && !isSame) expect([old.includes(now.event_instance.starts_at), now.updated > updated]).toEqual([false, true])
        expect(told.filter((line) => line.endsWith(` ${id}`))).toEqual(
          isSame ? [] : [`${now ? 'RsvpUpdatedHook' : 'RsvpDeletedHook'} ${id}`],
        )
      }
      const order = [...after.values()].map(({ event_instance: at }) => at.instance_index)
      const earlier = [...after.keys()].map((id) => before.get(id)?.event_instance.instance_index)
      expect(order.map((one) => order.filter((other) => other < one).length)).toEqual(
        earlier.map((one) => earlier.filter((other) => other < one).length),
      )
    }),
    { numRuns: 40 },
  )
})
