import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Bool, describe, listOf, oneOf, orNull, record, Text, Timestamp, Url } from '../fields.ts'
import { rowsNamed } from '../storage/rows-of.ts'
import type { PostRow } from '../storage/tables/content.ts'
import { spaces } from '../storage/tables/members.ts'
import { creatorsOf, User } from './member.ts'
import { PostStatus } from './post.ts'
import { Space } from './space.ts'
import { Permalink, PostId, stamps } from './stamps.ts'

const PollChoice = record('PollChoiceResponse', {
  id: describe(Text, 'The id of the choice, a text even where ids are numbers.'),
  text: describe(Text, 'The choice as members read it.'),
})

const heading = {
  ...stamps,
  id: PostId,
  post_type: describe(Text, '`poll` or `question`. A webhook of a poll has the kind of poll here.'),
}

export const Poll = record('PollResponse', {
  ...heading,
  poll_type: describe(
    orNull(oneOf('multiple_choice_poll', 'hot_cold_poll', 'percentage_poll')),
    'The kind of poll; null for a question.',
  ),
  title: describe(Text, 'The question.'),
  description: describe(
    orNull(Text),
    'More about the question, as HTML exactly as it was sent: sanitize it before you show it. Null if there is none.',
  ),
  creator: describe(User, 'The member who created it; their name stays after they have left.'),
  space: describe(Space, 'The space in which it was published.'),
  images: describe(listOf(Url), 'The addresses of images that belong to the poll. The API adds none.'),
  choices: describe(listOf(PollChoice), 'The choices in their order; empty for a question.'),
  status: describe(PostStatus, 'Whether it is published. The API publishes immediately, so its own are `posted`.'),
  published_at: describe(orNull(Timestamp), 'When it was published, in UTC.'),
  permalink: Permalink,
  comments_enabled: describe(Bool, 'Whether members may comment on it.'),
  last_activity_at: describe(orNull(Timestamp), 'When it was last changed or commented on, in UTC.'),
})
export type PollRecord = v.InferOutput<typeof Poll>

const payload = {
  ...heading,
  title: Poll.entries.title,
  creator: Poll.entries.creator,
  space: Poll.entries.space,
  images: Poll.entries.images,
  permalink: Permalink,
}
const Choice = orNull(PollChoice)

export const PercentagePollPayload = record('PercentagePollCreatePayload', payload)
export const HotColdPollPayload = record('HotColdPollCreatePayload', payload)
export const MultipleChoicePollPayload = record('MultipleChoicePollCreatePayload', {
  ...payload,
  choices: Poll.entries.choices,
  choice_1: describe(Choice, 'The first choice.'),
  choice_2: describe(Choice, 'The second choice.'),
  choice_3: describe(Choice, 'The third choice; null if there are fewer.'),
  choice_4: describe(Choice, 'The fourth choice; null if there are fewer.'),
  choice_5: describe(Choice, 'The fifth choice; null if there are fewer. Any further ones are in `choices` alone.'),
})

/** The records of some polls and questions, with their creators and spaces looked up together. */
export async function presentPolls(context: Context, rows: readonly PostRow[]): Promise<PollRecord[]> {
  const creators = await creatorsOf(context, rows)
  const spaceOf = await rowsNamed(context.tx, spaces, 'space_id', rows)
  return rows.map((row) => {
    const creator = creators.get(row.creator_id)
    const space = spaceOf.get(row.space_id)
    if (!creator || !space) throw new Error(`poll ${row.id} refers to a creator or a space that does not exist`)
    return {
      ...row,
      creator,
      space,
      images: [...row.images],
      choices: [...(row.choices ?? [])],
      permalink: context.permalink('posts', row.id),
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
