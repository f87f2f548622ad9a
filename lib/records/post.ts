import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Bool, describe, Id, listOf, oneOf, record, Text, Timestamp, Url } from '../fields.ts'
import type { PostRow } from '../storage/tables/content.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import { ShownEmail } from './member.ts'
import { Permalink, PostId, stamps } from './stamps.ts'
import { visibleEmail } from './visible-email.ts'

export const PostStatus = oneOf('draft', 'posted', 'scheduled')

export const Post = record('PostResponse', {
  ...stamps,
  id: PostId,
  creator_id: describe(Id, 'The member who wrote it. They may have left since.'),
  space_id: describe(Id, 'The space in which it was posted.'),
  summary: describe(Text, 'The first words of the description as plain text, at most 280 characters; empty without one.'),
  description: describe(
    Text,
    'The content, as HTML exactly as it was sent: sanitize it before you show it. Empty if there is none.',
  ),
  post_type: describe(Text, 'What it is: `post`, `article`, `announcement`, `introduction`, `poll`, `question` or `event`.'),
  images: describe(listOf(Url), 'The addresses of images that belong to the post. The API adds none.'),
  title: describe(Text, 'The title, on one line.'),
  status: describe(PostStatus, 'Whether it is published. The API publishes immediately, so its own are `posted`.'),
  published_at: describe(Timestamp, 'When it was published, in UTC.'),
  last_activity_at: describe(Timestamp, 'When it was last changed or commented on, in UTC.'),
  content_type: describe(Text, 'The kind of content; `text` for everything that the API creates.'),
  comments_enabled: describe(Bool, 'Whether members may comment on it.'),
  permalink: Permalink,
})
export type PostRecord = v.InferOutput<typeof Post>

const Author = record('PostAuthor', {
  id: describe(Id, 'The member who wrote the post, the same as `creator_id`.'),
  email: ShownEmail,
  first_name: describe(Text, 'Their first name.'),
})

/** A post in a webhook: its record, and in addition to `creator_id` the author as an object (interface.md, 10.4). */
export const PostPayload = record('PostPayload', {
  ...Post.entries,
  author: describe(Author, 'The member whom `creator_id` names, in short.'),
})
export type PostPayloadRecord = v.InferOutput<typeof PostPayload>

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
