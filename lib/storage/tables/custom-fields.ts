/** Custom fields, their segments (tags, badges and options), and answers. */
import {
  boolean,
  defaultsTo,
  id,
  integer,
  json,
  nullable,
  type RowIn,
  real,
  reference,
  table,
  text,
  timestamp,
} from '../table.ts'

/** The kinds of answer that a host can choose. */
export const responseTypes = [
  'dropdown_single_select',
  'dropdown_multi_select',
  'text_short',
  'text_long',
  'number',
  'boolean',
  'date',
  'location',
  'multi_location',
  'date_range',
  'recurring_date',
  'url',
  'phone_number',
] as const

export const customFields = table(
  'custom_fields',
  {
    title: text(),
    description: nullable(text()),
    placeholder: nullable(text()),
    /** `tag` and `badge` are the network's own two fields; hosts make the other kinds. */
    response_type: text<'tag' | 'badge' | (typeof responseTypes)[number]>(),
    privacy: defaultsTo(text<'public' | 'private' | 'admin'>(), 'public'),
    response_by: defaultsTo(text<'hosts_only' | 'individual_member'>(), 'individual_member'),
    allow_ad_hoc: defaultsTo(boolean(), false),
    max_responses: nullable(integer()),
    min_value: nullable(integer()),
    max_value: nullable(integer()),
    location_granularity: nullable(text<'address' | 'city' | 'state' | 'country'>()),
    status: defaultsTo(text<'visible' | 'hidden' | 'billing_disabled'>(), 'visible'),
    primary: defaultsTo(boolean(), false),
  },
  { indexes: [['response_type'], ['primary']] },
)

/** A value of a custom field that is assigned to members: a tag, a badge, or a dropdown's option. */
export const segments = table(
  'segments',
  {
    kind: text<'tag' | 'badge' | 'option'>(),
    custom_field_id: reference('custom_fields', 'cascade'),
    title: text(),
    /** The title as titles are compared. */
    title_key: text(),
    /** 0 for a title that was new in its field: of these each key is there once. In rows of another server the row's own id. */
    twin_id: id(),
    description: nullable(text()),
    color: nullable(text()),
    avatar_id: nullable(id()),
    avatar_url: nullable(text()),
    member_count: defaultsTo(integer(), 0),
    /** Made by a member's answer and not by a host. */
    is_ad_hoc: defaultsTo(boolean(), false),
    creator_id: id(),
  },
  {
    unique: [['custom_field_id', 'title_key', 'twin_id']],
    indexes: [['kind'], ['custom_field_id']],
  },
)

export const memberSegments = table(
  'member_segments',
  {
    member_id: reference('members', 'cascade'),
    segment_id: reference('segments', 'cascade'),
    custom_field_id: id(),
    kind: text<'tag' | 'badge' | 'option'>(),
  },
  {
    unique: [['member_id', 'segment_id']],
    indexes: [
      ['member_id', 'kind', 'segment_id'],
      ['segment_id', 'member_id'],
      ['kind', 'segment_id', 'member_id'],
      ['member_id', 'custom_field_id', 'segment_id'],
      ['custom_field_id', 'member_id'],
    ],
  },
)

export const answers = table(
  'answers',
  {
    custom_field_id: reference('custom_fields', 'cascade'),
    member_id: reference('members', 'cascade'),
    text: nullable(text()),
    number: nullable(real()),
    boolean_value: nullable(boolean()),
    date: nullable(text()),
    start_date: nullable(text()),
    end_date: nullable(text()),
    month: nullable(integer()),
    day: nullable(integer()),
    url: nullable(text()),
    phone_number: nullable(text()),
    latitude: nullable(real()),
    longitude: nullable(real()),
    locations: nullable(json<readonly { label: string; latitude: number; longitude: number }[]>()),
    last_edited_at: timestamp(),
  },
  { unique: [['custom_field_id', 'member_id']] },
)

export type CustomFieldRow = RowIn<typeof customFields>
export type SegmentRow = RowIn<typeof segments>
export type AnswerRow = RowIn<typeof answers>
