/** Tags, badges and the options of a dropdown are values of a custom field that members carry; here are their three forms. */
import { Bool, Id, Integer, orNull, record, Text, Timestamp, Url } from '../fields.ts'

export const Tag = record('TagResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  title: Text,
  description: orNull(Text),
  color: orNull(Text),
  custom_field_id: Id,
})

export const Badge = record('BadgeResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  title: Text,
  description: orNull(Text),
  color: orNull(Text),
  custom_field_id: Id,
  avatar_url: orNull(Url),
})

export const Segment = record('SegmentResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  title: Text,
  description: orNull(Text),
  color: orNull(Text),
  custom_field_id: Id,
})

export const Option = record('CustomFieldOptionResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  title: Text,
  description: orNull(Text),
  custom_field_id: Id,
  member_count: Integer,
  is_ad_hoc: Bool,
  creator_id: Id,
})
