/** The members of an export: what an import reads, and more. */
import type * as v from 'valibot'
import { fail, invalid } from '../../errors.ts'
import { customFields } from '../../storage/tables/custom-fields.ts'
import type { MemberRow } from '../../storage/tables/members.ts'
import { fieldColumns, joinTitles } from '../members/answer-text.ts'
import { importColumns } from '../members/import.ts'
import { type MemberSelectionInput, memberFilterFields, memberListFields, selectMembers } from '../members/search.ts'
import { answersOf, segmentsOf } from './answer-texts.ts'
import { addressOf, type Subject } from './subject.ts'

const own = [
  ...(['id', 'email', 'first_name', 'last_name', 'role', 'member_type', 'state', 'created_at', 'updated_at'] as const),
  ...(['last_visited_at', 'commercial_email_consent', 'time_zone', 'location', 'bio', 'avatar', 'referral_count'] as const),
  ...(['ambassador_level', 'ban_reason', 'left_at'] as const),
] satisfies readonly (keyof MemberRow)[]
/** The columns before those of custom fields. */
export const memberColumns: readonly string[] = [...own, 'tags', 'badges']

type Given = v.InferOutput<typeof MemberSelectionInput>

/** @throws ApiError 422 for a list beside conditions */
function selectionIn({ ids, addresses, ...filter }: Pick<Given, 'ids' | 'addresses'>): Given {
  const isList = ids !== undefined || addresses !== undefined
  if (isList && (Object.keys(filter).length > 0 || (ids && addresses)))
    fail(invalid('filter'), 'filter has ids, addresses or conditions, and only one of them')
  return isList ? { ids, addresses } : { filter }
}

export const memberSubject: Subject = {
  filter: { ...memberFilterFields, ...memberListFields },
  async page(showing, given, after, limit) {
    const { tx, network } = showing
    const { rows, next } = await selectMembers(tx, network, selectionIn(given), after, limit)
    const fields = fieldColumns(await tx.find(customFields, {}), [...memberColumns, ...importColumns])
    const ids = rows.map(({ id }) => id)
    const held = await segmentsOf(tx, ids)
    const answer = await answersOf(tx, [...fields.values()], ids, held)
    const titles = (id: string, kind: string) => joinTitles(held(id).filter((segment) => segment.kind === kind))
    return {
      columns: [...memberColumns, ...fields.keys()],
      next,
      rows: rows.map((row) => ({
        ...Object.fromEntries(own.map((name) => [name, row[name]])),
        ...{ email: addressOf(row, showing), tags: titles(row.id, 'tag'), badges: titles(row.id, 'badge') },
        ...Object.fromEntries([...fields].map(([column, field]) => [column, answer(row.id, field)])),
      })),
    }
  },
}
