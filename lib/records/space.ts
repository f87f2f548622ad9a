import { describe, Id, orNull, record, Text } from '../fields.ts'
import { stamps } from './stamps.ts'

export const Space = record('SpaceResponse', {
  ...stamps,
  name: describe(Text, 'The name that members see. Several spaces may share one.'),
  collection_id: describe(orNull(Id), 'The collection that groups the space; null if it is in none.'),
})
