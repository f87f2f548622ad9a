import { Id, orNull, record, Text, Timestamp } from '../fields.ts'

export const Space = record('SpaceResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  name: Text,
  collection_id: orNull(Id),
})
