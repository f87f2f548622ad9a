/** How the answers to events become records. */
import type { Context } from '../context.ts'
import { eventPayload } from '../records/event.ts'
import { presentMember } from '../records/member.ts'
import type { RsvpRecord } from '../records/rsvp.ts'
import { rowsNamed } from '../storage/rows-of.ts'
import type { EventRow, RsvpRow } from '../storage/tables/events.ts'
import { members } from '../storage/tables/members.ts'
import { occurrencesAt } from './recurrence.ts'

/**
 * The records of some RSVPs of one event, with their members and occurrences looked up together.
 * @param scheduled the event whose occurrences they are for: as it was before, if they go because it has changed
 */
export async function presentRsvps(
  context: Context,
  event: EventRow,
  rows: readonly RsvpRow[],
  scheduled: EventRow = event,
): Promise<RsvpRecord[]> {
  const payload = await eventPayload(context, event)
  const guests = await rowsNamed(context.tx, members, 'member_id', rows)
  const named = rows.map((row) => row.instance_at).filter((instance_at) => instance_at !== '')
  const occurrences = occurrencesAt(context, scheduled, named)
  return rows.map((row) => {
    const member = guests.get(row.member_id)
    if (!member) throw new Error(`RSVP ${row.id} refers to a member that does not exist`)
    return {
      id: row.id,
      updated: row.updated_at,
      status: row.status,
      event: payload,
      member: presentMember(context, member),
      event_instance: occurrences.get(row.instance_at) ?? null,
    }
  })
}

/** What an update changes of an RSVP, under the names of its record. */
export const publicRsvp = ({ status, member_id, instance_at }: RsvpRow) => ({
  status,
  member: member_id,
  event_instance: instance_at,
})
