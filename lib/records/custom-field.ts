import { describe, oneOf, orNull, record, Text } from '../fields.ts'
import { responseTypes } from '../storage/tables/custom-fields.ts'
import { stamps } from './stamps.ts'

export const LocationGranularity = oneOf('address', 'city', 'state', 'country')

/** Every kind of custom field; `tag` and `badge` are the network's own. */
export const ResponseType = oneOf('tag', 'badge', ...responseTypes)

export const CustomField = record('CustomFieldResponse', {
  ...stamps,
  title: describe(Text, 'The question or label that members see.'),
  response_type: describe(
    Text,
    "The kind of answer that the field takes. `tag` and `badge` are the network's own two fields, which hold its tags and badges.",
  ),
  location_granularity: describe(
    orNull(LocationGranularity),
    'How exactly a `location` or `multi_location` field takes a place; null for every other kind.',
  ),
})
