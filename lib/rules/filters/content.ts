/** The filters of posts and of events. */
import { wordsOf } from '../../base/fold.ts'
import { IdInput, SearchText } from '../../fields.ts'
import { within } from '../../storage/conditions.ts'
import type { Conditions, Query } from '../../storage/contract.ts'
import { type PostRow, posts } from '../../storage/tables/content.ts'
import type { EventRow } from '../../storage/tables/events.ts'
import { during, filter, orderOf, sortField } from './filter.ts'

const created = during<PostRow>('created_at', 'a creation')
const starts = during<EventRow>('starts_at', 'a start')

export const postFilters = {
  q: filter(
    SearchText,
    'Only posts in whose title or summary each of these words occurs, in part or in full, without regard to case and accents.',
    (text): Conditions<PostRow> => ({ contains: { search_key: wordsOf(text) } }),
  ),
  creator_id: filter(IdInput, 'Only posts of this member.', (creator_id): Conditions<PostRow> => ({ where: { creator_id } })),
  created_after: created.after,
  created_before: created.before,
}

/** The newest first; by the index of the creation where a list is filtered by it alone. */
export const postOrder = ({ where, ranges }: Conditions<PostRow>): NonNullable<Query<PostRow>['order']> => ({
  by: ranges?.created_at && !where?.space_id && !where?.creator_id ? 'created_at' : 'id',
  direction: 'desc',
})

export const eventFilters = {
  space_id: filter(
    IdInput,
    'Only events in this space.',
    (space_id): Conditions<EventRow> => ({ within: [within(posts, 'id', { family: 'event', space_id })] }),
  ),
  starts_after: starts.after,
  starts_before: starts.before,
}

const eventSorts = { starts_at: 'starts_at' } as const

export const eventSort = sortField(eventSorts, 'The order: by the start; with `-` in front, as by default, the latest first.')

export const eventOrder = (sort = '-starts_at') => orderOf<EventRow>(eventSorts, sort)
