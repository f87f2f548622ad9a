import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Bool, Id, listOf, oneOf, record, Text, Timestamp, Url } from '../fields.ts'
import type { PostRow } from '../storage/tables/content.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import { visibleEmail } from './visible-email.ts'

export const PostStatus = oneOf('draft', 'posted', 'scheduled')

export const Post = record('PostResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  creator_id: Id,
  space_id: Id,
  summary: Text,
  description: Text,
  post_type: Text,
  images: listOf(Url),
  title: Text,
  status: PostStatus,
  published_at: Timestamp,
  last_activity_at: Timestamp,
  content_type: Text,
  comments_enabled: Bool,
  permalink: Url,
})
export type PostRecord = v.InferOutput<typeof Post>

const Author = record('PostAuthor', { id: Id, email: Text, first_name: Text })

/** A post in a webhook: its record, and beside `creator_id` the author as an object (specification, section 6). */
export const PostPayload = record('PostPayload', { ...Post.entries, author: Author })
export type PostPayloadRecord = v.InferOutput<typeof PostPayload>

/** A post's record. */
export function presentPost(context: Pick<Context, 'permalink'>, row: PostRow): PostRecord {
  // Field by field: to spread a frozen row takes several times as long.
  return {
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    creator_id: row.creator_id,
    space_id: row.space_id,
    summary: row.summary,
    description: row.description ?? '',
    post_type: row.post_type,
    images: [...row.images],
    title: row.title,
    status: row.status,
    published_at: row.published_at,
    last_activity_at: row.last_activity_at,
    content_type: row.content_type,
    comments_enabled: row.comments_enabled,
    permalink: context.permalink('posts', row.id),
  }
}

/** A post as a webhook carries it. */
export async function postPayload(context: Context, row: PostRow): Promise<PostPayloadRecord> {
  return payloadOf(context, presentPost(context, row), await context.tx.get(members, row.creator_id))
}

/** The same of its record, and of an author who was read before; `undefined` if there is no such member. */
export function payloadOf(
  { network }: Pick<Context, 'network'>,
  post: PostRecord,
  author: MemberRow | undefined,
): PostPayloadRecord {
  const email = author ? visibleEmail(author, network) : ''
  return { ...post, author: { id: post.creator_id, email, first_name: author?.first_name ?? '' } }
}
