/** Fields that many records have, each described once. */
import { describe, Id, Timestamp, Url } from '../fields.ts'

/** The fields that nearly every record begins with. */
export const stamps = {
  id: describe(Id, 'The id of the record. It never changes.'),
  created_at: describe(Timestamp, 'When the record was created, in UTC.'),
  updated_at: describe(
    Timestamp,
    'When a request last changed the record, in UTC. Counts do not move it, nor does a request that changes nothing.',
  ),
}

/** The id of a post, an article, a poll, a question or an event: one that is in the feed has the same id in every list. */
export const PostId = describe(
  Id,
  'The id of the record. It never changes, and everything in a feed has the same id in `GET /posts` and in the list of its kind.',
)

export const NetworkId = describe(Id, 'The network that it belongs to.')

/** The address of a record's page. */
export const Permalink = describe(Url, 'The address of its page in the community, for people. The host decides on the form.')
