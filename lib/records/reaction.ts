import type * as v from 'valibot'
import { describe, Id, oneOf, record, Text } from '../fields.ts'
import type { ReactionRow } from '../storage/tables/content.ts'
import { NetworkId, stamps } from './stamps.ts'

export const Reaction = record('ReactionResponse', {
  ...stamps,
  space_id: describe(Id, 'The space of the post.'),
  network_id: NetworkId,
  targetable_id: describe(Id, 'The post or comment that the member reacted to.'),
  targetable_type: describe(
    oneOf('Post', 'Comment'),
    'The kind of record that `targetable_id` names; `Post` for polls, questions and events too.',
  ),
  targetable_space_id: describe(Id, 'The space of that post or comment, the same as `space_id`.'),
  emoji: describe(Text, 'The emoji as it was sent, skin tone included.'),
  base_emoji: describe(Text, 'The emoji without its skin tone, for counting.'),
  member_id: describe(Id, 'The member who reacted.'),
})

export function presentReaction(row: ReactionRow): v.InferOutput<typeof Reaction> {
  return {
    ...row,
    targetable_id: row.comment_id ?? row.post_id ?? '',
    targetable_type: row.comment_id ? 'Comment' : 'Post',
    targetable_space_id: row.space_id,
  }
}
