/** The filters of members. */
import { wordsOf } from '../../base/fold.ts'
import { IdInput, SearchText } from '../../fields.ts'
import { MemberRole, MemberType } from '../../records/member.ts'
import { within } from '../../storage/conditions.ts'
import type { Conditions, Query } from '../../storage/contract.ts'
import { memberSegments } from '../../storage/tables/custom-fields.ts'
import { type MemberRow, spaceMemberships } from '../../storage/tables/members.ts'
import { planMemberships } from '../../storage/tables/plans.ts'
import { during, filter, orderOf, sortField } from './filter.ts'

type Found = Conditions<MemberRow>

const created = during<MemberRow>('created_at', 'a creation')
const visited = during<MemberRow>('last_visited_at', 'a last visit')

export const memberFilters = {
  q: filter(
    SearchText,
    'Only members in whose name each of these words occurs, in part or in full, without regard to case and accents. Where the network shows addresses, the words may also be in an address that the record shows.',
    // An address that no record shows can't be guessed piece by piece.
    (text, { network }): Found => ({
      contains: { [network.member_email_visibility ? 'search_key' : 'name_key']: wordsOf(text) },
    }),
  ),
  role: filter(MemberRole, 'Only members with this role in the network.', (role): Found => ({ where: { role } })),
  member_type: filter(MemberType, 'Only full or only limited members.', (member_type): Found => ({ where: { member_type } })),
  tag_id: filter(
    IdInput,
    'Only members with this tag. The key also needs `tags:read`.',
    (segment_id): Found => ({ within: [within(memberSegments, 'member_id', { segment_id, kind: 'tag' })] }),
    'tags:read',
  ),
  badge_id: filter(
    IdInput,
    'Only members with this badge. The key also needs `badges:read`.',
    (segment_id): Found => ({ within: [within(memberSegments, 'member_id', { segment_id, kind: 'badge' })] }),
    'badges:read',
  ),
  plan_id: filter(
    IdInput,
    'Only members who can use this plan.',
    (plan_id): Found => ({ within: [within(planMemberships, 'member_id', { plan_id })] }),
  ),
  space_id: filter(
    IdInput,
    'Only members of this space.',
    (space_id): Found => ({ within: [within(spaceMemberships, 'member_id', { space_id })] }),
  ),
  created_after: created.after,
  created_before: created.before,
  last_visited_after: visited.after,
  last_visited_before: visited.before,
}

export const memberSorts = { created_at: 'created_at', last_visited_at: 'last_visited_at', name: 'name_key' } as const

export const memberSort = sortField(
  memberSorts,
  'The order: by creation, last visit or name; with `-` in front the other way round. Members who never visited come before all others. By default members are in the order of their ids, or of the time by which alone they are filtered.',
)

/** The order of a list of members: as `sort` names it, or that of the index that serves a filter. */
export function memberOrder(sort: string | undefined, { ranges = {}, within: named = [] }: Found): Query<MemberRow>['order'] {
  if (sort !== undefined) return orderOf<MemberRow>(memberSorts, sort)
  const by = named.length > 0 ? undefined : (['created_at', 'last_visited_at'] as const).find((column) => ranges[column])
  return by && { by, direction: 'asc' }
}
