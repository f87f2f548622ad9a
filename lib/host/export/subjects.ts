/** What exports hold. */
import { IdInput } from '../../fields.ts'
import { eventFilters, postFilters } from '../../rules/filters/content.ts'
import { filter } from '../../rules/filters/filter.ts'
import type { Conditions } from '../../storage/contract.ts'
import { abuseReports, comments, type PostRow, posts } from '../../storage/tables/content.ts'
import { answers, segments } from '../../storage/tables/custom-fields.ts'
import { events, rsvps } from '../../storage/tables/events.ts'
import { collections, members, spaces } from '../../storage/tables/members.ts'
import { invites, type PlanSnapshot, plans, purchases, subscriptions } from '../../storage/tables/plans.ts'
import { answerTexts, valueColumns } from './answer-texts.ts'
import { memberSubject } from './member-rows.ts'
import { addressOf, joined, person, rowsIn, type Subject } from './subject.ts'

const space = joined('space_id', spaces, { name: ({ name }) => name })
const post = (by: string) => joined(by, posts, { title: ({ title }) => title })

const ofPlan = {
  plan_name: ({ plan }: { readonly plan: PlanSnapshot }) => plan.name,
  plan_amount: ({ plan }: { readonly plan: PlanSnapshot }) => plan.amount,
  plan_currency: ({ plan }: { readonly plan: PlanSnapshot }) => plan.currency,
  plan_interval: ({ plan }: { readonly plan: PlanSnapshot }) => plan.interval,
}
const ofSegment = (kind: 'tag' | 'badge') =>
  rowsIn(segments, {
    where: { kind },
    omit: ['kind', 'custom_field_id', 'title_key', 'twin_id', 'avatar_id', 'is_ad_hoc'],
  })

/** Of `GET /posts` it is no extension. */
const postsIn = filter(IdInput, 'Only posts in this space.', (space_id): Conditions<PostRow> => ({ where: { space_id } }))

export const subjects = {
  members: memberSubject,
  posts: rowsIn(posts, { filters: { space_id: postsIn, ...postFilters }, add: [space, person('creator_id')] }),
  comments: rowsIn(comments, { add: [post('post_id'), space, person('author_id')] }),
  events: rowsIn(events, {
    filters: eventFilters,
    omit: ['post_id'],
    add: [
      // An event has the id of its post.
      joined(
        'id',
        posts,
        {
          title: ({ title }) => title,
          description: ({ description }) => description,
          status: ({ status }) => status,
          space_id: ({ space_id }) => space_id,
          creator_id: ({ creator_id }) => creator_id,
        },
        '',
      ),
      space,
      person('creator_id'),
    ],
  }),
  rsvps: rowsIn(rsvps, { add: [post('event_id'), person('member_id')] }),
  answers: rowsIn(answers, {
    // `answer` has the value.
    omit: valueColumns,
    add: [{ columns: ['field', 'answer'], of: ({ tx }, rows) => answerTexts(tx, rows) }, person('member_id')],
  }),
  purchases: rowsIn(purchases, { omit: ['plan'], cells: ofPlan, add: [person('member_id')] }),
  subscriptions: rowsIn(subscriptions, { omit: ['plan'], cells: ofPlan, add: [person('member_id')] }),
  tags: ofSegment('tag'),
  badges: ofSegment('badge'),
  spaces: rowsIn(spaces, {
    add: [joined('collection_id', collections, { name: ({ name }) => name })],
  }),
  plans: rowsIn(plans, {}),
  invites: rowsIn(invites, {
    omit: ['email_key', 'open_key'],
    add: [
      // The address of a member whom the invite names is shown as their own record shows it.
      joined('recipient_id', members, { email: addressOf }),
      person('sender_id'),
    ],
  }),
  reports: rowsIn(abuseReports, { add: [person('member_id')] }),
} as const satisfies Readonly<Record<string, Subject>>
