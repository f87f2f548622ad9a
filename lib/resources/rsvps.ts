import type { Context } from '../context.ts'
import { fail, found, invalid, notFound, refused } from '../errors.ts'
import { describe, IdInput, optional, paged, request, ZonedTimestampInput } from '../fields.ts'
import { operation } from '../operation.ts'
import { Rsvp, type RsvpRecord, RsvpStatus } from '../records/rsvp.ts'
import { inZone, isBeyondSeries, maxYears, occurrencesAt, seriesOf } from '../rules/recurrence.ts'
import { presentRsvps, publicRsvp } from '../rules/rsvps.ts'
import type { LockStrength } from '../storage/contract.ts'
import { orConflict } from '../storage/lock.ts'
import { posts } from '../storage/tables/content.ts'
import { canceledInstances, type EventRow, events, type RsvpRow, rsvps } from '../storage/tables/events.ts'
import { type MemberRow, members, spaceMemberships } from '../storage/tables/members.ts'

const RsvpCreate = request('RsvpRequest', {
  member_id: describe(IdInput, 'The member who answers.'),
  status: describe(RsvpStatus, 'Whether the member comes.'),
  instance_at: describe(
    optional(ZonedTimestampInput),
    "The occurrence of a series, by its beginning; left out for the whole event. Without an offset it is a time of the event's zone.",
  ),
})

const RsvpUpdate = request('RsvpUpdateRequest', {
  member_id: describe(optional(IdInput), 'Another member, who has not answered yet.'),
  status: describe(optional(RsvpStatus), 'Whether the member comes.'),
  instance_at: describe(
    optional(ZonedTimestampInput),
    "Another occurrence of the series, by its beginning. Without an offset it is a time of the event's zone.",
  ),
})

const outside = refused('The member does not belong to this network, or not to the space of the event')
const disabled = refused('This event takes no RSVPs')
const closed = refused('The RSVPs of this event are closed')

export const listRsvps = operation({
  id: 'rsvps.list',
  method: 'GET',
  path: '/events/:event_id/rsvps',
  scope: 'rsvps:read',
  summary: 'List the RSVPs of an event, or of one of its occurrences.',
  description: 'Answers of all kinds, `no` included. Those to the whole event have no `event_instance`.',
  query: {
    instance_at: describe(
      optional(ZonedTimestampInput),
      "Only answers to the occurrence that begins then. Without an offset it is a time of the event's zone.",
    ),
  },
  returns: paged(Rsvp),
  errors: [notFound('Event')],
  async handle(call) {
    const event = found(await call.tx.get(events, call.params.event_id), 'Event')
    const instance_at = inZone('instance_at', call.query.instance_at, event.time_zone)
    const occurrence = instance_at === undefined ? {} : { instance_at: keyOf(event, instance_at) }
    return call.page(rsvps, { where: { event_id: event.id, ...occurrence } }, (rows) => presentRsvps(call, event, rows))
  },
})

export const createRsvp = operation({
  id: 'rsvps.create',
  method: 'POST',
  path: '/events/:event_id/rsvps',
  scope: 'rsvps:write',
  summary: 'Answer an invitation to an event for a member; a second answer replaces the first.',
  description:
    "It sends `RsvpCreatedHook`, or `RsvpUpdatedHook` if the member's answer changed. The event must take answers, and a limited member must belong to its space: otherwise it is a 403.",
  body: RsvpCreate,
  example: { member_id: '254803968000', status: 'maybe' },
  returns: Rsvp,
  errors: [notFound('Event'), notFound('Member'), outside, disabled, closed, invalid('status', 'instance_at')],
  emits: ['RsvpCreated', 'RsvpUpdated'],
  async handle(call) {
    const { status, member_id, instance_at } = call.body
    found(await call.tx.get(events, call.params.event_id), 'Event')
    const guest = await guestOf(call, call.params.event_id, member_id)
    const event = await openEvent(call, call.params.event_id, 'share')
    const key = { event_id: event.id, member_id: guest.id, instance_at: await occurrenceOf(call, event, instance_at) }
    const known = await call.tx.first(rsvps, key)
    const row = known
      ? orConflict(
          await call.tx.update(rsvps, known.id, { status, ...call.touch() }, { status: known.status }),
          `rsvps ${known.id}`,
        )
      : await call.tx.insert(rsvps, { ...call.stamp(), ...key, status })
    const rsvp = await presentRsvp(call, event, row)
    if (known) call.emit('RsvpUpdated', rsvp, [publicRsvp(known), publicRsvp(row)])
    else call.emit('RsvpCreated', rsvp)
    return rsvp
  },
})

export const showRsvp = operation({
  id: 'rsvps.show',
  method: 'GET',
  path: '/events/:event_id/rsvps/:id/',
  scope: 'rsvps:read',
  summary: 'Show an RSVP.',
  description: 'An answer to another event is a 404.',
  returns: Rsvp,
  errors: [notFound('Event'), notFound('RSVP')],
  async handle(call) {
    const { event, rsvp } = await rsvpOf(call, call.params)
    return presentRsvp(call, event, rsvp)
  },
})

export const updateRsvp = operation({
  id: 'rsvps.update',
  method: 'PATCH',
  path: '/events/:event_id/rsvps/:id/',
  also: { id: 'rsvps.replace', method: 'PUT' },
  scope: 'rsvps:write',
  summary: 'Change an RSVP.',
  description:
    'It sends `RsvpUpdatedHook` if something changed. The event must still take answers, and no member can have two for one occurrence.',
  body: RsvpUpdate,
  example: { status: 'no' },
  returns: Rsvp,
  errors: [
    notFound('Event'),
    notFound('RSVP'),
    notFound('Member'),
    outside,
    disabled,
    closed,
    invalid('member_id', 'status', 'instance_at'),
  ],
  emits: ['RsvpUpdated'],
  async handle(call) {
    const { status, member_id, instance_at } = call.body
    const seen = (await rsvpOf(call, call.params)).rsvp
    const guest = await guestOf(call, seen.event_id, member_id ?? seen.member_id)
    const event = await openEvent(call, seen.event_id, 'update')
    // Under the lock of the event no other request changes it.
    const { rsvp } = await rsvpOf(call, call.params)
    orConflict(guest.id === (member_id ?? rsvp.member_id) ? rsvp : undefined, `rsvps ${rsvp.id}`)
    const occurrence = instance_at === undefined ? rsvp.instance_at : await occurrenceOf(call, event, instance_at)
    const other = await call.tx.first(rsvps, { event_id: event.id, member_id: guest.id, instance_at: occurrence })
    if (other && other.id !== rsvp.id) fail(invalid('member_id'), 'member_id has answered already')
    const changes = { status, member_id: guest.id, instance_at: occurrence, ...call.touch() }
    const row = found(await call.tx.update(rsvps, rsvp.id, changes), 'RSVP')
    const changed = await presentRsvp(call, event, row)
    call.emit('RsvpUpdated', changed, [publicRsvp(rsvp), publicRsvp(row)])
    return changed
  },
})

export const deleteRsvp = operation({
  id: 'rsvps.delete',
  method: 'DELETE',
  path: '/events/:event_id/rsvps/:id/',
  scope: 'rsvps:write',
  summary: 'Delete an RSVP.',
  description: 'It sends `RsvpDeletedHook`. It works on a closed event too.',
  errors: [notFound('Event'), notFound('RSVP')],
  emits: ['RsvpDeleted'],
  async handle(call) {
    found(await call.tx.lock(events, call.params.event_id, 'update'), 'Event')
    const { event, rsvp } = await rsvpOf(call, call.params)
    call.emit('RsvpDeleted', await presentRsvp(call, event, rsvp))
    found(await call.tx.remove(rsvps, rsvp.id), 'RSVP')
  },
})

/** @throws ApiError 404 */
async function rsvpOf(
  { tx }: Pick<Context, 'tx'>,
  { event_id, id }: { readonly event_id: string; readonly id: string },
): Promise<{ event: EventRow; rsvp: RsvpRow }> {
  const event = found(await tx.get(events, event_id), 'Event')
  const rsvp = await tx.get(rsvps, id)
  return { event, rsvp: found(rsvp?.event_id === event.id ? rsvp : undefined, 'RSVP') }
}

/**
 * The member who answers, locked. A former member may not, nor a limited member of other spaces.
 * @throws ApiError 404, 403
 */
async function guestOf({ tx }: Pick<Context, 'tx'>, event_id: string, member_id: string): Promise<MemberRow> {
  const row = await tx.lock(members, member_id, 'update')
  const member = found(row?.state === 'deleted' ? undefined : row, 'Member')
  if (member.state !== 'active') fail(outside)
  if (member.member_type === 'limited') {
    const post = found(await tx.get(posts, event_id), 'Event')
    if (!(await tx.first(spaceMemberships, { space_id: post.space_id, member_id: member.id }))) fail(outside)
  }
  return member
}

/**
 * An event that takes answers, locked: it does not move, close or go at the same time. With `share` others answer at the same time: the
 * lock on the member keeps two answers of one member apart. With `update` no answer is made, changed or removed at the same time.
 * @throws ApiError 404, 403
 */
async function openEvent({ tx }: Pick<Context, 'tx'>, id: string, strength: LockStrength): Promise<EventRow> {
  const event = found(await tx.lock(events, id, strength), 'Event')
  if (!event.rsvp_enabled) fail(disabled)
  if (event.rsvp_closed) fail(closed)
  return event
}

/** The stored form of a timestamp: an event that takes place once has one unnamed occurrence. */
const keyOf = (event: EventRow, instance_at: string): string =>
  !seriesOf(event) && instance_at === event.starts_at ? '' : instance_at

/**
 * The occurrence that is answered for; the whole of the event when none is named.
 * @throws ApiError 422 when the event does not take place then, or not any more
 */
async function occurrenceOf(call: Context, event: EventRow, instance_at: string | undefined): Promise<string> {
  const at = inZone('instance_at', instance_at, event.time_zone)
  const key = at === undefined ? '' : keyOf(event, at)
  if (key === '') return key
  if (isBeyondSeries(event, key)) fail(invalid('instance_at'), `instance_at must be at most ${maxYears} years after starts_at`)
  if (!occurrencesAt(call, event, [key]).has(key)) fail(invalid('instance_at'), 'instance_at is not an occurrence of this event')
  if (await call.tx.first(canceledInstances, { event_id: event.id, instance_at: key }))
    fail(invalid('instance_at'), 'instance_at is an occurrence that is canceled')
  return key
}

async function presentRsvp(call: Context, event: EventRow, row: RsvpRow): Promise<RsvpRecord> {
  return found((await presentRsvps(call, event, [row]))[0], 'RSVP')
}
