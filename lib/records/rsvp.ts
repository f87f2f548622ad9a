import type * as v from 'valibot'
import { describe, oneOf, orNull, record, Timestamp } from '../fields.ts'
import { EventInstance, EventPayload } from './event.ts'
import { Member } from './member.ts'
import { stamps } from './stamps.ts'

export const RsvpStatus = oneOf('yes', 'maybe', 'no')

/** The time of the last change is called `updated` here, and there is no `created_at`. */
export const Rsvp = record('RsvpResponse', {
  id: stamps.id,
  updated: describe(Timestamp, 'When the answer last changed, in UTC.'),
  status: describe(RsvpStatus, 'Whether the member comes.'),
  event: describe(EventPayload, 'The event that is answered.'),
  member: describe(Member, 'The member who answers.'),
  event_instance: describe(orNull(EventInstance), 'The occurrence that is answered; null if the answer is for the whole event.'),
})
export type RsvpRecord = v.InferOutput<typeof Rsvp>
