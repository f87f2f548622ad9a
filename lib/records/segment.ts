/** Tags, badges and the options of a dropdown are values of a custom field that members have; here are their forms. */
import { Bool, describe, FileUrl, Id, Integer, orNull, record, Text } from '../fields.ts'
import { stamps } from './stamps.ts'

const Color = describe(orNull(Text), 'The colour as `#RRGGBB`; null for none.')

const common = {
  ...stamps,
  title: describe(Text, 'The title. Each is there once among the others of its kind, whatever its case.'),
  description: describe(orNull(Text), 'More about it; null if there is nothing.'),
  custom_field_id: describe(
    Id,
    'The custom field that it belongs to. All tags have one field of the network, and so have all badges.',
  ),
}

export const Tag = record('TagResponse', {
  ...common,
  color: Color,
})

export const Badge = record('BadgeResponse', {
  ...common,
  color: Color,
  avatar_url: describe(orNull(FileUrl), "The address of the badge's picture."),
})

/** A chosen option as an answer shows it. */
export const Segment = record('SegmentResponse', {
  ...common,
  color: Color,
})

export const Option = record('CustomFieldOptionResponse', {
  ...common,
  member_count: describe(Integer, 'The number of members who have it.'),
  is_ad_hoc: describe(Bool, "Whether a member's answer added it, rather than a host."),
  creator_id: describe(Id, 'The member who created it.'),
})
