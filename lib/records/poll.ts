import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Bool, describe, Id, listOf, oneOf, orNull, record, Text, Timestamp, Url } from '../fields.ts'
import type { PostRow } from '../storage/tables/content.ts'
import { spaces } from '../storage/tables/members.ts'
import { creatorsOf, User } from './member.ts'
import { PostStatus } from './post.ts'
import { Space } from './space.ts'

const PollChoice = record('PollChoiceResponse', { id: Text, text: Text })

const heading = {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  post_type: Text,
}

export const Poll = record('PollResponse', {
  ...heading,
  poll_type: describe(orNull(oneOf('multiple_choice_poll', 'hot_cold_poll', 'percentage_poll')), 'Null for a question.'),
  title: Text,
  description: orNull(Text),
  creator: User,
  space: Space,
  images: listOf(Url),
  choices: listOf(PollChoice),
  status: PostStatus,
  published_at: orNull(Timestamp),
  permalink: Url,
  comments_enabled: Bool,
  last_activity_at: orNull(Timestamp),
})
export type PollRecord = v.InferOutput<typeof Poll>

const payload = { ...heading, title: Text, creator: User, space: Space, images: listOf(Url), permalink: Url }
const Choice = orNull(PollChoice)

export const PercentagePollPayload = record('PercentagePollCreatePayload', payload)
export const HotColdPollPayload = record('HotColdPollCreatePayload', payload)
export const MultipleChoicePollPayload = record('MultipleChoicePollCreatePayload', {
  ...payload,
  choices: listOf(PollChoice),
  choice_1: Choice,
  choice_2: Choice,
  choice_3: Choice,
  choice_4: Choice,
  choice_5: Choice,
})

/** The records of some polls and questions, with their creators and spaces looked up together. */
export async function presentPolls(context: Context, rows: readonly PostRow[]): Promise<PollRecord[]> {
  const creators = await creatorsOf(
    context,
    rows.map((row) => row.creator_id),
  )
  const postedIn = await context.tx.find(spaces, { where: { id: [...new Set(rows.map((row) => row.space_id))] } })
  const spaceOf = new Map(postedIn.map((space) => [space.id, space]))
  return rows.map((row) => {
    const creator = creators.get(row.creator_id)
    const space = spaceOf.get(row.space_id)
    if (!creator || !space) throw new Error(`poll ${row.id} has lost its creator or its space`)
    return {
      id: row.id,
      created_at: row.created_at,
      updated_at: row.updated_at,
      post_type: row.post_type,
      poll_type: row.poll_type,
      title: row.title,
      description: row.description,
      creator,
      space,
      images: [...row.images],
      choices: [...(row.choices ?? [])],
      status: row.status,
      published_at: row.published_at,
      permalink: context.permalink('posts', row.id),
      comments_enabled: row.comments_enabled,
      last_activity_at: row.last_activity_at,
    }
  })
}

/** A poll as its webhook carries it: `post_type` is the kind of poll. */
export function pollPayload(poll: PollRecord): v.InferOutput<typeof MultipleChoicePollPayload> {
  const choice = (place: number) => poll.choices[place] ?? null
  return {
    ...poll,
    post_type: poll.poll_type ?? poll.post_type,
    choice_1: choice(0),
    choice_2: choice(1),
    choice_3: choice(2),
    choice_4: choice(3),
    choice_5: choice(4),
  }
}
