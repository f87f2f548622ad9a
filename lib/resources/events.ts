import * as v from 'valibot'
import type { Context } from '../context.ts'
import { fail, found, invalid, notFound } from '../errors.ts'
import {
  BoolInput,
  byDefault,
  describe,
  HttpUrl,
  IdInput,
  integerBetween,
  LongText,
  optional,
  optionalOrNull,
  paged,
  publish,
  request,
  ShortText,
  TimeZone,
  Title,
  ZonedTimestampInput,
} from '../fields.ts'
import { operation } from '../operation.ts'
import { Event, type EventRecord, EventType, eventPayload, Frequency, presentEvents } from '../records/event.ts'
import { eventFilters, eventOrder, eventSort } from '../rules/filters/content.ts'
import { conditionsOf, fieldsOf } from '../rules/filters/filter.ts'
import { newPost, summaryOf } from '../rules/posts.ts'
import { checkedRule, inZone, once } from '../rules/recurrence.ts'
import { keepOccurrences } from '../rules/series-changes.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import { differs } from '../storage/changes.ts'
import { orConflict } from '../storage/lock.ts'
import { posts } from '../storage/tables/content.ts'
import { type EventRow, events } from '../storage/tables/events.ts'
import { spaces } from '../storage/tables/members.ts'

/** A comma list of which every part is one of `known`; kept without spaces and repetitions. A lone number counts as text. */
const commaList = (known: (part: string) => boolean, message: string) =>
  publish(
    v.pipe(
      v.union([v.string(), v.number()], message),
      v.transform((value) => [
        ...new Set(
          String(value)
            .toUpperCase()
            .split(',')
            .map((part) => part.trim()),
        ),
      ]),
      v.check((parts) => parts.join() === '' || parts.every(known), message),
      v.transform((parts) => parts.join() || null),
    ),
    { type: ['string', 'integer'] },
  )

const weekdays: readonly string[] = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
const Weekdays = commaList((part) => weekdays.includes(part), 'must be a comma list of SU, MO, TU, WE, TH, FR, SA')
const MonthDays = commaList(
  (part) => /^-?(?:[1-9]|[12]\d|3[01])$/.test(part),
  'must be a comma list of days of the month: 1 to 31, or -31 to -1 from its end',
)

const details = {
  description: describe(
    optionalOrNull(LongText),
    'What the event is about, as HTML; it is stored unchanged, so sanitize it before you show it.',
  ),
  link: describe(optionalOrNull(HttpUrl), 'The address of the online meeting or of a page about the event.'),
  location: describe(optionalOrNull(ShortText), 'The place of the event, in words.'),
  time_zone: describe(
    optional(TimeZone),
    'The IANA time zone of the event, `UTC` unless you set it. Only with it may times be without an offset: they are times of this zone. A series keeps the time of day of it.',
  ),
  rsvp_enabled: describe(optional(BoolInput), 'Whether members can answer the invitation to the event; true unless you set it.'),
  rsvp_closed: describe(optional(BoolInput), 'Whether the event takes no more answers; false unless you set it.'),
  restricted_event: describe(
    optional(BoolInput),
    'Whether the event is for invited guests; false unless you set it. It has no effect on who may answer.',
  ),
  post_in_feed: describe(
    optional(BoolInput),
    'Whether the event is meant to appear in the feed of its space; true unless you set it.',
  ),
  frequency: describe(
    optionalOrNull(Frequency),
    'How often the event repeats. Null, or left out, for one that takes place once.',
  ),
  interval: describe(
    optionalOrNull(integerBetween(1, 1_000)),
    'Every how many days, weeks, months or years it repeats; 1 unless you set it. It needs a `frequency`.',
  ),
  by_days: describe(
    optionalOrNull(Weekdays),
    'The days of the week, as a comma list of SU, MO, TU, WE, TH, FR, SA. It needs a `frequency`.',
  ),
  by_month_days: describe(
    optionalOrNull(MonthDays),
    'The days of the month, as a comma list of 1 to 31, or -31 to -1 from its end. It needs a `frequency`, and not `weekly`.',
  ),
  recurrence_count: describe(
    optionalOrNull(integerBetween(1, 10_000)),
    'The number of occurrences, the first included. Either this or `recur_until` ends the series; without both it has no end.',
  ),
  recur_until: describe(
    optionalOrNull(ZonedTimestampInput),
    'The last moment at which an occurrence may begin. Without an offset it is a time of `time_zone`.',
  ),
}

const EventCreate = request('EventCreateRequest', {
  title: describe(Title, 'The title of the event, on one line.'),
  starts_at: describe(
    ZonedTimestampInput,
    'When the event begins; for a series, when its first occurrence begins. Without an offset it is a time of `time_zone`.',
  ),
  ends_at: describe(
    ZonedTimestampInput,
    'When the event ends, later than `starts_at`. Without an offset it is a time of `time_zone`.',
  ),
  event_type: describe(EventType, 'Where the event takes place: at a place, in a chat, or in a meeting of a certain kind.'),
  space_id: describe(IdInput, 'The space of the event. It cannot change afterwards.'),
  ...details,
  rsvp_enabled: byDefault(details.rsvp_enabled, true),
  rsvp_closed: byDefault(details.rsvp_closed, false),
  restricted_event: byDefault(details.restricted_event, false),
  post_in_feed: byDefault(details.post_in_feed, true),
})

const EventUpdate = request('EventUpdateRequest', {
  title: describe(optional(Title), 'The new title, on one line.'),
  starts_at: describe(
    optional(ZonedTimestampInput),
    'The new beginning; for a series, that of its first occurrence. Without an offset it is a time of `time_zone`.',
  ),
  ends_at: describe(
    optional(ZonedTimestampInput),
    'The new end, later than `starts_at`. Without an offset it is a time of `time_zone`.',
  ),
  event_type: describe(optional(EventType), 'Where the event takes place from now on.'),
  ...details,
})

const refusals = invalid(
  ...['space_id', 'starts_at', 'ends_at', 'frequency', 'interval', 'by_days', 'by_month_days', 'recurrence_count', 'recur_until'],
)

const meeting = {
  title: 'Pruning roses',
  starts_at: '2026-12-01T18:00:00+01:00',
  ends_at: '2026-12-01T20:00:00+01:00',
  time_zone: 'Europe/Berlin',
  location: 'Behind the shed',
} as const
const fortnightly = { frequency: 'weekly', interval: 2, recurrence_count: 5 } as const

export const listEvents = operation({
  id: 'events.list',
  method: 'GET',
  path: '/events',
  scope: 'events:read',
  summary: 'List the events of the network, the latest start first.',
  description:
    'Future events come before past ones. A series is one record, at the start of its first occurrence; its `recurrence_rule` stands for all of them.',
  query: { ...fieldsOf(eventFilters), sort: eventSort },
  returns: paged(Event, { isByTime: true }),
  handle: (call) => {
    const { sort, ...filters } = call.query
    const order = eventOrder(sort)
    const listed = conditionsOf<EventRow>(eventFilters, filters, call)
    return call.page(events, { ...listed, ...(order ? { order } : {}) }, (rows) => presentEvents(call, rows))
  },
})

export const createEvent = operation({
  id: 'events.create',
  method: 'POST',
  path: '/events',
  scope: 'events:write',
  summary: 'Create an event, once or recurring.',
  description: "The token's owner is its creator. It sends `EventCreatedHook`; the host notifies members, if it wants to.",
  body: EventCreate,
  example: { ...meeting, event_type: 'local_meetup', space_id: '254803968000', ...fortnightly },
  returns: Event,
  errors: [refusals],
  emits: ['EventCreated'],
  async handle(call) {
    const { title, description, space_id, ...timed } = call.body
    const columns = { ...timed, ...timesOf(timed, timed.time_zone) }
    const space = await call.tx.lock(spaces, space_id, 'share')
    if (!space) fail(invalid('space_id'), `space_id: there is no space ${space_id} in this network`)
    const schedule = { ...once, ...withoutUndefined(columns), time_zone: columns.time_zone ?? 'UTC' }
    const rule = checkedRule(call, schedule)
    const post = await call.tx.insert(posts, {
      ...newPost(call, space.id, description),
      family: 'event',
      post_type: 'event',
      title,
      description,
    })
    const { id, created_at, updated_at } = post
    const event = await call.tx.insert(events, { id, created_at, updated_at, post_id: id, ...schedule, ...rule })
    call.emit('EventCreated', await eventPayload(call, event))
    return presentEvent(call, event)
  },
})

export const showEvent = operation({
  id: 'events.show',
  method: 'GET',
  path: '/events/:id/',
  scope: 'events:read',
  summary: 'Show an event.',
  description: 'The id is also that of the event among the posts, so comments and reactions use it as `post_id`.',
  returns: Event,
  errors: [notFound('Event')],
  handle: async (call) => presentEvent(call, found(await call.tx.get(events, call.params.id), 'Event')),
})

export const updateEvent = operation({
  id: 'events.update',
  method: 'PATCH',
  path: '/events/:id/',
  also: { id: 'events.replace', method: 'PUT' },
  scope: 'events:write',
  summary: 'Change an event; answers to its occurrences keep their dates, move with a new start or zone, or go with their date.',
  description:
    'It sends `EventUpdatedHook`, and then `RsvpUpdatedHook` or `RsvpDeletedHook` for each answer that moves or goes. Fields that you leave out stay; `frequency` null ends the series and keeps one event.',
  body: EventUpdate,
  example: meeting,
  returns: Event,
  errors: [notFound('Event'), refusals],
  emits: ['EventUpdated', 'RsvpUpdated', 'RsvpDeleted'],
  async handle(call) {
    const { title, description, ...timed } = call.body
    const { id } = found(await call.tx.get(events, call.params.id), 'Event')
    const texts = { title, ...(description === undefined ? {} : { description, summary: summaryOf(description) }) }
    const post = orConflict(await call.tx.lock(posts, id, 'update'), `posts ${id}`)
    // As it is now that no other request changes it, and no member answers it.
    const before = found(await call.tx.lock(events, id, 'update'), 'Event')
    const columns = { ...timed, ...timesOf(timed, timed.time_zone ?? before.time_zone) }
    const given = columns.frequency === null ? { ...columns, ...once } : { ...columns, ...otherEnd(columns) }
    const schedule: EventRow = { ...before, ...withoutUndefined(given) }
    const changes = { ...given, ...checkedRule(call, schedule) }
    if (!differs(post, texts) && !differs(before, changes)) return presentEvent(call, before)
    // An event and its post are one record: whichever of them changes, both did.
    await call.tx.touch(posts, id, { ...texts, last_activity_at: call.now, ...call.touch() })
    const event = found(await call.tx.touch(events, id, { ...changes, ...call.touch() }), 'Event')
    const postNow = { ...post, ...withoutUndefined(texts) }
    call.emit('EventUpdated', await eventPayload(call, event), [
      { ...post, ...before },
      { ...postNow, ...event },
    ])
    await keepOccurrences(call, before, event)
    return presentEvent(call, event)
  },
})

export const deleteEvent = operation({
  id: 'events.delete',
  method: 'DELETE',
  path: '/events/:id/',
  scope: 'events:write',
  summary: 'Delete an event with its RSVPs, comments and reactions.',
  description:
    'It sends `EventCanceledHook` with the event as it was, and nothing for the answers and comments that go with it. To call off one occurrence, the host uses `community.notify.eventInstanceCanceled`.',
  errors: [notFound('Event')],
  emits: ['EventCanceled'],
  async handle(call) {
    const post = await call.tx.lock(posts, call.params.id, 'update')
    const event = found(post && (await call.tx.get(events, post.id)), 'Event')
    call.emit('EventCanceled', await eventPayload(call, event))
    await removeWithDependents(call.tx, posts, event.id)
  },
})

interface Times {
  readonly starts_at?: string | undefined
  readonly ends_at?: string | undefined
  readonly recur_until?: string | null | undefined
}

/** The times of a request as timestamps: those without an offset are times of the event's time zone. */
const timesOf = <T extends Times>({ starts_at, ends_at, recur_until }: T, zone: string | undefined) =>
  ({
    starts_at: inZone('starts_at', starts_at, zone),
    ends_at: inZone('ends_at', ends_at, zone),
    recur_until: inZone('recur_until', recur_until, zone),
  }) as Pick<T, keyof Times>

interface Ends {
  readonly recurrence_count?: number | null | undefined
  readonly recur_until?: string | null | undefined
}

/** A series ends by its count or by its date: the one that is given takes the place of the other. */
function otherEnd({ recurrence_count, recur_until }: Ends): Partial<Ends> {
  if (recurrence_count && recur_until === undefined) return { recur_until: null }
  return recur_until && recurrence_count === undefined ? { recurrence_count: null } : {}
}

type DefinedFields<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** The fields that a request has; a spread of the others would overwrite known values with `undefined`. */
const withoutUndefined = <T extends object>(fields: T): DefinedFields<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as DefinedFields<T>

async function presentEvent(context: Context, event: EventRow): Promise<EventRecord> {
  return found((await presentEvents(context, [event]))[0], 'Event')
}
