import { Id, oneOf, orNull, record, Text, Timestamp } from '../fields.ts'

export const LocationGranularity = oneOf('address', 'city', 'state', 'country')

/** The kinds of answer that a host can ask for. */
export const askable = [
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

/** Every kind of custom field; `tag` and `badge` are the network's own. */
export const ResponseType = oneOf('tag', 'badge', ...askable)

export const CustomField = record('CustomFieldResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  title: Text,
  response_type: Text,
  location_granularity: orNull(LocationGranularity),
})
