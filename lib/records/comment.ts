import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Bool, Id, Integer, listOf, orNull, record, Text, Timestamp, Url } from '../fields.ts'
import type { CommentRow } from '../storage/tables/content.ts'
import { Asset } from './asset.ts'

const EmbeddedLink = record('EmbeddedLinkResponse', {
  id: Id,
  url: Url,
  title: orNull(Text),
  description: orNull(Text),
  favicon_url: orNull(Url),
})

export const Comment = record('CommentResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  targetable_id: Id,
  targetable_type: Text,
  text: Text,
  replyable: Bool,
  depth: Integer,
  cheer_count: Integer,
  reply_count: Integer,
  reply_to_id: orNull(Id),
  author_id: Id,
  space_id: Id,
  files: listOf(Asset),
  embedded_link: orNull(EmbeddedLink),
  permalink: Url,
})

/** A comment's record. */
export function presentComment(context: Pick<Context, 'permalink'>, row: CommentRow): v.InferOutput<typeof Comment> {
  return {
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    targetable_id: row.post_id,
    targetable_type: 'Post',
    text: row.text,
    replyable: true,
    depth: row.depth,
    cheer_count: row.cheer_count,
    reply_count: row.reply_count,
    reply_to_id: row.reply_to_id,
    author_id: row.author_id,
    space_id: row.space_id,
    files: [],
    embedded_link: null,
    permalink: context.permalink('comments', row.id),
  }
}
