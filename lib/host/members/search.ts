/** Members by a filter, as lists of the host find them and as a selection for acts and exports. */
import * as v from 'valibot'
import { folded, wordsOf } from '../../base/fold.ts'
import { compareIds, isStorableId } from '../../base/ids.ts'
import { fail, invalid } from '../../errors.ts'
import { BoolInput, EmailFilter, type Fields, IdInput, integerBetween, listUpTo, oneOf, optional } from '../../fields.ts'
import { isPlaceIn, mostCounted, placeOf, rowsAfter } from '../../kernel/page.ts'
import { conditionsOf, fieldsOf, orderOf } from '../../rules/filters/filter.ts'
import { memberFilters, memberSort, memberSorts } from '../../rules/filters/members.ts'
import { emailKey, memberByAddress, membersByKeys } from '../../rules/members.ts'
import { allOf } from '../../storage/conditions.ts'
import type { Conditions, Query } from '../../storage/contract.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import type { NetworkRow } from '../../storage/tables/administration.ts'
import { type MemberRow, members } from '../../storage/tables/members.ts'
import { shape } from '../arguments.ts'
import { listings, type MemberListing } from './listing.ts'

/** The fields of a filter of members; `folkmoot members list` has a flag for each. */
export const memberFilterFields = {
  state: optional(oneOf('active', 'removed', 'banned', 'deleted')),
  ...fieldsOf(memberFilters),
}

type Given<F extends Fields> = { readonly [K in keyof F]?: v.InferInput<F[K]> }

/**
 * Which members; all conditions must hold. `state` is every state by default. `q` are words that must all be in the name or the
 * true address, without regard to case and accents; or an id. The other fields are those of `GET /members`.
 */
export type MemberFilter = Given<typeof memberFilterFields>

/** Members to be listed. */
export interface MemberQuery extends MemberFilter {
  /** As of `GET /members`; without it the newest member comes first. */
  readonly sort?: v.InferInput<typeof memberSort>
  /** At most so many, from 1 to 100: 25 by default. */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly after?: string | undefined
  /** Whether to count all members that match. */
  readonly count?: boolean
}

/** A page of members. */
export interface MemberPage {
  /** At most `limit` members. */
  readonly items: readonly MemberListing[]
  /** Given as `after` it yields the next page; null on the last. A page with `next` may hold fewer than `limit`, even none. */
  readonly next: string | null
  /** With `count`, how many members match: exact up to 10,000, of which a search looks at no more. */
  readonly total_count?: number
  /** Set if there may be more. */
  readonly total_count_capped?: true
}

/** Members for an act or an export: those that match a filter, or those of a list of ids or addresses. */
export type MemberSelection =
  | { readonly filter: MemberFilter }
  | { readonly ids: readonly (Id | number)[] }
  | { readonly addresses: readonly string[] }

const mostSelected = 1_000_000

export const MemberQueryInput = shape({
  ...memberFilterFields,
  sort: memberSort,
  limit: optional(integerBetween(1, 100)),
  after: optional(v.string('must be the `next` of a page')),
  count: optional(BoolInput),
})

/** The members of a list: their ids, or their addresses. */
export const memberListFields = {
  ids: optional(listUpTo(IdInput, mostSelected, 'ids')),
  addresses: optional(listUpTo(EmailFilter, mostSelected, 'addresses')),
}

/** The fields of a selection, of which one is given. */
const memberSelectionFields = { filter: optional(shape(memberFilterFields)), ...memberListFields }

/** Whether one field is given; null counts as left out. */
export const hasOne = (given: object): boolean => Object.values(given).filter((value) => value !== undefined).length === 1

export const MemberSelectionInput = v.pipe(
  shape(memberSelectionFields),
  v.check((given) => hasOne(given), 'must have one of filter, ids and addresses'),
)

type Checked = v.InferOutput<typeof MemberQueryInput>
type Filter = Partial<Pick<Checked, keyof typeof memberFilterFields>>
type Selection = v.InferOutput<typeof MemberSelectionInput>

/** With `q`, rows that are read together, and how often that is done for a page. */
const [window, mostWindows] = [200, 10]

/** Before every member: the cursor of a page that begins the walk. */
const top = String(Number.MAX_SAFE_INTEGER)

const newest = { by: 'id', direction: 'desc' } as const

interface Search {
  readonly conditions: Conditions<MemberRow>
  /** What no index has: words in the name or the true address. */
  readonly isWanted?: (row: MemberRow) => boolean
  /** The member with this whole address, or this id. */
  readonly exact: MemberRow | undefined
}

async function searchOf(tx: ScopedTx, network: NetworkRow, { q, state, ...given }: Filter): Promise<Search> {
  const { q: _, ...others } = memberFilters
  const all = conditionsOf<MemberRow>(others, given, { network, principal: { scopes: ['*'] } })
  const conditions = allOf([...(state === undefined ? [] : [{ where: { state } }]), all])
  if (q === undefined) return { conditions, exact: undefined }
  const words = wordsOf(q)
  const named = await namedBy(tx, q.trim())
  const [exact] = named ? await tx.find(members, { ...conditions, where: { ...conditions.where, id: named.id }, limit: 1 }) : []
  return { conditions, exact, isWanted: (row) => row.id === exact?.id || words.every((word) => textOf(row).includes(word)) }
}

async function namedBy(tx: ScopedTx, q: string): Promise<MemberRow | undefined> {
  if (isStorableId(q)) return tx.get(members, q)
  return q.includes('@') ? memberByAddress(tx, q) : undefined
}

const textOf = ({ first_name, last_name, email }: MemberRow): string => folded(`${first_name} ${last_name} ${email}`)

/** A page of members. */
export async function searchMembers(tx: ScopedTx, network: NetworkRow, query: Checked): Promise<MemberPage> {
  const { sort, limit = 25, after, count, ...filter } = query
  const search = await searchOf(tx, network, filter)
  const order = sort === undefined ? newest : (orderOf<MemberRow>(memberSorts, sort) ?? newest)
  if (after !== undefined && !isPlaceIn(members, order, after))
    fail(invalid('after'), 'after must be the `next` of a page in this order')
  const { exact } = search
  // By ids they come before all others, in every other order at their place.
  const isFirst = exact !== undefined && order === newest
  const first = isFirst && after === undefined ? [exact] : []
  const isWanted = (row: MemberRow) => (search.isWanted?.(row) ?? true) && !(isFirst && row.id === exact.id)
  const walked = await walk(tx, { ...search, isWanted: search.isWanted && isWanted, order, after, most: limit - first.length })
  const counted = count ? totalOf(await countMembers(tx, search)) : {}
  return { items: await listings(tx, [...first, ...walked.rows]), next: walked.next, ...counted }
}

const totalOf = (count: number) => ({
  total_count: Math.min(count, mostCounted),
  ...(count > mostCounted ? { total_count_capped: true as const } : {}),
})

/** How many match, up to one more than is counted. A search looks at as many members, and says then that there may be more. */
async function countMembers(tx: ScopedTx, { conditions, isWanted }: Search): Promise<number> {
  const limit = mostCounted + 1
  if (!isWanted) return tx.count(members, { ...conditions, limit })
  const rows = await tx.find(members, { ...conditions, limit })
  return rows.length === limit ? limit : rows.filter(isWanted).length
}

interface Walk {
  readonly conditions: Conditions<MemberRow>
  readonly isWanted?: ((row: MemberRow) => boolean) | undefined
  readonly order: NonNullable<Query<MemberRow>['order']>
  readonly after: string | undefined
  readonly most: number
}

/** The next wanted members. No index has parts of texts, so a search ends after its windows. */
async function walk(tx: ScopedTx, { conditions, isWanted, order, after, most }: Walk) {
  const rows: MemberRow[] = []
  const size = isWanted ? window : most
  const begin = order.direction === 'desc' ? top : '0'
  let last = after
  for (let times = 0; times < mostWindows; times++) {
    const read = await rowsAfter(tx, members, { ...conditions, order }, last, size + 1)
    for (const row of read.slice(0, size)) {
      // Only then it is known that there is more.
      if (rows.length === most) return { rows, next: last ?? begin }
      last = placeOf(members, order, row)
      if (!isWanted || isWanted(row)) rows.push(row)
    }
    if (read.length <= size) return { rows, next: null }
    if (rows.length === most) break
  }
  return { rows, next: last ?? null }
}

export interface SelectedMembers {
  /** In the order of their ids, or of the list of addresses. */
  readonly rows: readonly MemberRow[]
  /** Ids or addresses of the list that no member has. */
  readonly missing: readonly string[]
  /** Where the next ones begin; null at the end. */
  readonly next: string | null
}

/**
 * The next members of a selection. Each step may be a transaction of its own: members that change in between are neither left out nor
 * given twice, unless they no longer match.
 * @param after the `next` of the step before
 * @param limit how many ids or addresses are looked at, or members are found at most
 */
export async function selectMembers(
  tx: ScopedTx,
  network: NetworkRow,
  { filter, ids, addresses }: Selection,
  after: string | undefined,
  limit: number,
): Promise<SelectedMembers> {
  const list = ids?.toSorted(compareIds) ?? addresses
  if (list) {
    const all = [...new Map(list.map((given) => [ids ? given : emailKey(given), given]))]
    const begin = Number(after ?? 0)
    const end = begin + limit
    const some = all.slice(begin, end)
    const keys = some.map(([key]) => key)
    const rows = ids ? await tx.find(members, { where: { id: keys } }) : await membersByKeys(tx, keys)
    const byKey = new Map(rows.map((row) => [ids ? row.id : row.email_key, row]))
    return {
      rows: keys.flatMap((key) => byKey.get(key) ?? []),
      missing: some.flatMap(([key, given]) => (byKey.has(key) ? [] : [given])),
      next: end < all.length ? String(end) : null,
    }
  }
  const search = await searchOf(tx, network, filter ?? {})
  const walked = await walk(tx, { ...search, order: { by: 'id', direction: 'asc' }, after, most: limit })
  return { ...walked, missing: [] }
}
