import type * as v from 'valibot'
import { Bool, describe, Id, Integer, listOf, orNull, Real, record, Text, Timestamp, Url } from '../fields.ts'
import type { AnswerRow, CustomFieldRow, SegmentRow } from '../storage/tables/custom-fields.ts'
import { Segment } from './segment.ts'

const LocationValue = record('LocationValue', { label: Text, latitude: Real, longitude: Real })

/** An answer to several places at once has no id: its shape names the member instead. */
export const Answer = record('CustomFieldAnswerResponse', {
  id: describe(orNull(Id), 'Null for multi_location, whose answer is the list of its places.'),
  created_at: Timestamp,
  updated_at: Timestamp,
  user_id: Id,
  custom_field_id: Id,
  text: orNull(Text),
  segments: listOf(Segment),
  last_edited_at: Timestamp,
  number: orNull(Integer),
  boolean_value: orNull(Bool),
  date: orNull(Text),
  start_date: orNull(Text),
  end_date: orNull(Text),
  month: orNull(Integer),
  day: orNull(Integer),
  url: orNull(Url),
  phone_number: orNull(Text),
  latitude: orNull(Real),
  longitude: orNull(Real),
  member_id: describe(orNull(Id), 'The member again, for multi_location only.'),
  locations: listOf(LocationValue),
})
export type AnswerRecord = v.InferOutput<typeof Answer>

/**
 * An answer's record.
 * @param chosen the chosen options, if the field is a dropdown
 */
export function presentAnswer(
  field: Pick<CustomFieldRow, 'response_type'>,
  row: AnswerRow,
  chosen: readonly SegmentRow[],
): AnswerRecord {
  const isPlaces = field.response_type === 'multi_location'
  return {
    id: isPlaces ? null : row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    user_id: row.member_id,
    custom_field_id: row.custom_field_id,
    text: row.text,
    segments: [...chosen],
    last_edited_at: row.last_edited_at,
    number: row.number,
    boolean_value: row.boolean_value,
    date: row.date,
    start_date: row.start_date,
    end_date: row.end_date,
    month: row.month,
    day: row.day,
    url: row.url,
    phone_number: row.phone_number,
    latitude: row.latitude,
    longitude: row.longitude,
    member_id: isPlaces ? row.member_id : null,
    locations: [...(row.locations ?? [])],
  }
}
