/** Content, and reports about it. */
import { folded } from '../../base/fold.ts'
import {
  boolean,
  defaultsTo,
  derived,
  id,
  integer,
  json,
  nullable,
  type RowIn,
  reference,
  table,
  text,
  timestamp,
} from '../table.ts'

/** Posts, articles, polls, questions and events: everything that appears in a feed. */
export const posts = table(
  'posts',
  {
    /** The resource group that it belongs to. */
    family: text<'post' | 'poll' | 'event'>(),
    post_type: text(),
    space_id: reference('spaces', 'restrict'),
    creator_id: id(),
    title: text(),
    description: nullable(text()),
    summary: defaultsTo(text(), ''),
    /** Title and summary as searches compare them. */
    search_key: derived(['title', 'summary'], (row: { readonly title: string; readonly summary: string }) =>
      folded(`${row.title} ${row.summary}`),
    ),
    images: defaultsTo(json<readonly string[]>(), []),
    status: defaultsTo(text<'draft' | 'posted' | 'scheduled'>(), 'posted'),
    content_type: text(),
    comments_enabled: defaultsTo(boolean(), true),
    published_at: timestamp(),
    last_activity_at: timestamp(),
    poll_type: nullable(text<'multiple_choice_poll' | 'hot_cold_poll' | 'percentage_poll'>()),
    choices: nullable(json<readonly { id: string; text: string }[]>()),
  },
  { indexes: [['space_id'], ['creator_id'], ['created_at'], ['family'], ['family', 'space_id']], usual: { family: 'post' } },
)

export const comments = table(
  'comments',
  {
    post_id: reference('posts', 'cascade'),
    space_id: id(),
    author_id: id(),
    text: text(),
    reply_to_id: nullable(reference('comments', 'cascade')),
    depth: integer(),
    cheer_count: defaultsTo(integer(), 0),
    reply_count: defaultsTo(integer(), 0),
  },
  { indexes: [['post_id'], ['author_id']] },
)

/** One per member and target; of `post_id` and `comment_id` one is set. */
export const reactions = table(
  'reactions',
  {
    post_id: nullable(reference('posts', 'cascade')),
    comment_id: nullable(reference('comments', 'cascade')),
    space_id: id(),
    member_id: reference('members', 'cascade'),
    emoji: text(),
    base_emoji: text(),
  },
  {
    unique: [
      ['post_id', 'member_id'],
      ['comment_id', 'member_id'],
    ],
    indexes: [['post_id'], ['comment_id']],
  },
)

export const mutes = table(
  'mutes',
  { post_id: reference('posts', 'cascade'), member_id: reference('members', 'cascade') },
  { unique: [['post_id', 'member_id']] },
)

export const courseworks = table(
  'courseworks',
  {
    space_id: reference('spaces', 'cascade'),
    type: text<'lesson' | 'quiz' | 'section' | 'overview'>(),
    parent_id: nullable(reference('courseworks', 'cascade')),
    title: text(),
    description: nullable(text()),
    status: text<'posted' | 'hidden' | 'pending'>(),
    /** Position among its siblings, from 1. */
    position: integer(),
    completion_criteria: text<'none' | 'visited' | 'button' | 'video' | 'minimum_correct_percentage'>(),
    unlocking_criteria: text<'none' | 'sequential' | 'time_from_course_join' | 'scheduled_date'>(),
    children_count: defaultsTo(integer(), 0),
  },
  { indexes: [['space_id'], ['parent_id', 'position']] },
)

export const assets = table(
  'assets',
  {
    url: nullable(text()),
    type: text(),
    name: nullable(text()),
    asset_style: text(),
    content_type: text(),
    byte_size: integer(),
    original_aspect_ratio: nullable(text()),
    metadata: nullable(json<Readonly<Record<string, unknown>>>()),
    /** The member in whose name it was uploaded, and the name of its file in the store. Null of a file that came another way. */
    creator_id: nullable(id()),
    file_id: nullable(text()),
    extension: nullable(text()),
  },
  { indexes: [['creator_id']] },
)

export const abuseReports = table(
  'abuse_reports',
  {
    member_id: reference('members', 'cascade'),
    targetable_id: id(),
    targetable_type: text(),
    report_type: text<'spam' | 'offensive' | 'impersonation' | 'other'>(),
    reason: nullable(text()),
    context_id: nullable(id()),
    context_type: nullable(text<'Post' | 'Comment' | 'Space'>()),
    space_id: nullable(id()),
    ignored_at: nullable(timestamp()),
    ignored_by_id: nullable(id()),
  },
  {},
)

/** A post as stored: also an article, a poll, a question or an event. */
export type PostRow = RowIn<typeof posts>
export type CommentRow = RowIn<typeof comments>
export type ReactionRow = RowIn<typeof reactions>
export type AssetRow = RowIn<typeof assets>
export type CourseworkRow = RowIn<typeof courseworks>
export type AbuseReportRow = RowIn<typeof abuseReports>
