import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Bool, describe, Id, Integer, listOf, orNull, record, Text, Url } from '../fields.ts'
import type { CommentRow } from '../storage/tables/content.ts'
import { Asset } from './asset.ts'
import { Permalink, stamps } from './stamps.ts'

const EmbeddedLink = record('EmbeddedLinkResponse', {
  id: describe(Id, 'The id of the preview.'),
  url: describe(Url, 'The address that the comment links to.'),
  title: describe(orNull(Text), 'The title of the linked page; null if it has none.'),
  description: describe(orNull(Text), 'What the linked page says about itself; null if it says nothing.'),
  favicon_url: describe(orNull(Url), 'The address of the icon of the linked page; null if it has none.'),
})

export const Comment = record('CommentResponse', {
  ...stamps,
  targetable_id: describe(Id, 'The post, poll, question or event that the comment is on.'),
  targetable_type: describe(Text, 'The kind of record that `targetable_id` names; `Post` for all of them.'),
  text: describe(Text, 'The comment as HTML that is safe to show: paragraphs, lists, quotations, emphasis, links and mentions.'),
  replyable: describe(Bool, 'Whether it takes replies. Every comment can be replied to, so it is always true.'),
  depth: describe(Integer, '1 for a comment on the post itself, 2 for a reply to that, and so on.'),
  cheer_count: describe(Integer, 'The number of reactions to the comment.'),
  reply_count: describe(Integer, 'The number of direct replies, without replies to those.'),
  reply_to_id: describe(orNull(Id), 'The comment that this one replies to; null if it is on the post itself.'),
  author_id: describe(Id, 'The member who wrote it. They may have left since.'),
  space_id: describe(Id, 'The space of the post.'),
  files: describe(listOf(Asset), 'Files attached to the comment. The API attaches none, so the list is empty.'),
  embedded_link: describe(orNull(EmbeddedLink), 'A preview of a linked page. The API makes none, so it is null.'),
  permalink: Permalink,
})

export function presentComment(context: Pick<Context, 'permalink'>, row: CommentRow): v.InferOutput<typeof Comment> {
  return {
    ...row,
    targetable_id: row.post_id,
    targetable_type: 'Post',
    replyable: true,
    files: [],
    embedded_link: null,
    permalink: context.permalink('comments', row.id),
  }
}
