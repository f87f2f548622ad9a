/** Tags, badges and the options of a dropdown are values of a custom field that members have; here are their forms. */
import { Bool, FileUrl, Id, Integer, orNull, record, Text, Timestamp } from '../fields.ts'

const common = {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  title: Text,
  description: orNull(Text),
  custom_field_id: Id,
}

export const Tag = record('TagResponse', { ...common, color: orNull(Text) })
export const Badge = record('BadgeResponse', { ...common, color: orNull(Text), avatar_url: orNull(FileUrl) })

/** A chosen option as an answer shows it. */
export const Segment = record('SegmentResponse', { ...common, color: orNull(Text) })

export const Option = record('CustomFieldOptionResponse', {
  ...common,
  member_count: Integer,
  is_ad_hoc: Bool,
  creator_id: Id,
})
