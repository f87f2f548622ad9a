import type * as v from 'valibot'
import { Id, oneOf, record, Text, Timestamp } from '../fields.ts'
import type { ReactionRow } from '../storage/tables/content.ts'

export const Reaction = record('ReactionResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  space_id: Id,
  network_id: Id,
  targetable_id: Id,
  targetable_type: oneOf('Post', 'Comment'),
  targetable_space_id: Id,
  emoji: Text,
  base_emoji: Text,
  member_id: Id,
})

/** A reaction's record. */
export function presentReaction(row: ReactionRow): v.InferOutput<typeof Reaction> {
  return {
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    space_id: row.space_id,
    network_id: row.network_id,
    targetable_id: row.comment_id ?? row.post_id ?? '',
    targetable_type: row.comment_id ? 'Comment' : 'Post',
    targetable_space_id: row.space_id,
    emoji: row.emoji,
    base_emoji: row.base_emoji,
    member_id: row.member_id,
  }
}
