import { Id, oneOf, orNull, record, Text, Timestamp } from '../fields.ts'
import { askable } from '../storage/tables/custom-fields.ts'

export const LocationGranularity = oneOf('address', 'city', 'state', 'country')

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
