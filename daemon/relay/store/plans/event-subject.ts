/** The subject that is stored with an event, by which endpoints may keep its order. */
import { subjectOf } from '../../../../lib/events/catalogue.ts'
import type { EventRecord } from '../../../../lib/outbox/record.ts'
import type { Addressed } from '../endpoint/endpoint-index.ts'

/** The stored subject of an event, for these receivers. */
export const subjectFor = ({ record, receivers }: Addressed): string | null =>
  receivers.some(({ order }) => order === 'subject') ? subjectOfRecord(record) : (record.subject ?? null)

/**
 * The subject of an event. Records of earlier versions do not say so: then its payload does. Events whose subject is not known
 * share one, so that none of them overtakes another.
 */
function subjectOfRecord({ subject, event_type, body }: EventRecord): string {
  if (subject !== undefined) return subject
  const { payload } = JSON.parse(body) as { readonly payload?: unknown }
  return subjectOf(event_type, payload) ?? ''
}
