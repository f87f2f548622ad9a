import type * as v from 'valibot'
import { Bool, describe, Id, Integer, listOf, orNull, Real, record, Text, Timestamp, Url } from '../fields.ts'
import type { AnswerRow, CustomFieldRow, SegmentRow } from '../storage/tables/custom-fields.ts'
import { Segment } from './segment.ts'
import { stamps } from './stamps.ts'

const LocationValue = record('LocationValue', {
  label: describe(Text, 'The name of the place, as it was given.'),
  latitude: describe(Real, 'Degrees north of the equator, from -90 to 90.'),
  longitude: describe(Real, 'Degrees east of Greenwich, from -180 to 180.'),
})

/** An answer to several places has no id: its shape names the member instead. */
export const Answer = record('CustomFieldAnswerResponse', {
  ...stamps,
  id: describe(orNull(Id), 'The id of the answer; null for a `multi_location` field, whose answer is the list of its places.'),
  user_id: describe(Id, 'The member whom the answer is about.'),
  custom_field_id: describe(Id, 'The custom field that it answers.'),
  text: describe(orNull(Text), 'The answer to a `text_short` or `text_long` field; null for every other kind.'),
  segments: describe(listOf(Segment), 'The chosen options of a dropdown; empty for every other kind.'),
  last_edited_at: describe(Timestamp, 'When the value of the answer last changed, in UTC.'),
  number: describe(orNull(Integer), 'The answer to a `number` field; null for every other kind.'),
  boolean_value: describe(orNull(Bool), 'The answer to a `boolean` field; null for every other kind.'),
  date: describe(orNull(Text), 'The answer to a `date` field, as `2026-11-20`; null for every other kind.'),
  start_date: describe(orNull(Text), 'The first day of a `date_range` answer, as `2026-11-20`; null for every other kind.'),
  end_date: describe(orNull(Text), 'The last day of a `date_range` answer, as `2026-11-20`; null for every other kind.'),
  month: describe(orNull(Integer), 'The month of a `recurring_date` answer, from 1 to 12; null for every other kind.'),
  day: describe(orNull(Integer), 'The day of the month of a `recurring_date` answer, from 1; null for every other kind.'),
  url: describe(orNull(Url), 'The answer to a `url` field; null for every other kind.'),
  phone_number: describe(
    orNull(Text),
    "The answer to a `phone_number` field, in the form that the host's port gives it; null for every other kind.",
  ),
  latitude: describe(orNull(Real), 'Degrees north of the equator of a `location` answer; null for every other kind.'),
  longitude: describe(orNull(Real), 'Degrees east of Greenwich of a `location` answer; null for every other kind.'),
  member_id: describe(orNull(Id), 'The same member as `user_id`, for a `multi_location` field only; null for every other kind.'),
  locations: describe(listOf(LocationValue), 'The places of a `multi_location` answer; empty for every other kind.'),
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
