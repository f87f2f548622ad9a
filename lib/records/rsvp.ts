import type * as v from 'valibot'
import { Id, oneOf, orNull, record, Timestamp } from '../fields.ts'
import { EventInstance, EventPayload } from './event.ts'
import { Member } from './member.ts'

export const RsvpStatus = oneOf('yes', 'maybe', 'no')

/** The time of the last change is called `updated` here, and there is no `created_at`. */
export const Rsvp = record('RsvpResponse', {
  id: Id,
  updated: Timestamp,
  status: RsvpStatus,
  event: EventPayload,
  member: Member,
  event_instance: orNull(EventInstance),
})
export type RsvpRecord = v.InferOutput<typeof Rsvp>
