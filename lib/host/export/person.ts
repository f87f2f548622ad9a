/** Everything that the network stores about one person. */
import * as v from 'valibot'
import { isoTime } from '../../base/clock.ts'
import { isStorableId } from '../../base/ids.ts'
import { found } from '../../errors.ts'
import { optional } from '../../fields.ts'
import { withoutSnapshot } from '../../kernel/walks.ts'
import { fullName } from '../../records/member.ts'
import type { Settings } from '../../settings.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Id, Row } from '../../storage/table.ts'
import { members } from '../../storage/tables/members.ts'
import { checkArgument, idOf, shape } from '../arguments.ts'
import type { Changes } from '../audit/changes.ts'
import type { Networks } from '../networks.ts'
import { type PersonalRows, personalRows, personKeys } from './personal-tables.ts'
import { type ExportPage, type ExportRow, rowsOfPages } from './subject.ts'

/** The calls that export one person. */
export interface PersonExports {
  /**
   * Everything that the network stores about a member or former member: each row has the name of its `table` and its columns, as
   * they are stored. What an erasure removes is all in it. The audit says that it was made.
   * @throws ApiError 404 when there is no such member
   */
  export(network: Id | number, id: Id | number): AsyncIterable<ExportRow>
  /** One page of that. @param place `after`: the `next` of the page before */
  exportPage(network: Id | number, id: Id | number, place?: { readonly after?: string | undefined }): Promise<ExportPage>
}

const isPlace = (text: string): boolean => /^\d{1,3}_\d+$/.test(text) && isStorableId(text.replace(/^\d+_/, ''))
const placeRule = 'must be the `next` of a page'
const Place = shape({ after: optional(v.pipe(v.string(placeRule), v.check(isPlace, placeRule))) })
/** Rows of a page, about, and how many queries it takes at most. */
const [pageRows, mostQueries] = [100, 50]

export function personExports({ clock, limits }: Settings, changes: Changes, networks: Networks): PersonExports {
  const exportPage: PersonExports['exportPage'] = async (name, given, whole = {}) => {
    const [place, snapshot] = withoutSnapshot(whole)
    const id = idOf(given)
    const { after } = checkArgument('members.exportPage', Place, place, limits)
    const { id: network } = await networks.show(name)
    const lined = async (tx: ScopedTx) => {
      const member = found(await tx.get(members, id), 'Member')
      const subject = { type: 'member', id, name: fullName(member) || null } as const
      return { result: undefined, audit: [{ action: 'member.exported', subject } as const] }
    }
    if (after === undefined) await changes.change(network, isoTime(clock.now()), lined, { isAlways: true })
    return changes.walks.page(network, after === undefined ? null : snapshot, (tx) => pageOf(tx, id, after ?? '0_0'))
  }
  return {
    exportPage,
    export: (network, id) => rowsOfPages((after) => exportPage(network, id, after), changes.walks.leave),
  }
}

async function pageOf(tx: ScopedTx, id: Id, place: string): Promise<ExportPage> {
  const [step = '0', last = '0'] = place.split('_')
  const rows: ExportRow[] = []
  const parts = personalRows(await personKeys(tx, found(await tx.get(members, id), 'Member')))
  let after: Id | null = last
  let at = Number(step)
  for (let queries = 0; queries < mostQueries && rows.length < pageRows; queries++) {
    const part = parts[at]
    if (!part) return { columns: ['table'], rows, next: null }
    const { rows: read, next } = await part.read(tx, after ?? '0', pageRows)
    rows.push(...read.map((row) => rowOf(part.table, row)))
    after = next
    if (next === null) at++
  }
  return { columns: ['table'], rows, next: `${at}_${after ?? '0'}` }
}

/** Of a key not even the hash of its token; of keys for lists and searches what they are made of. */
function rowOf({ name, columns }: PersonalRows['table'], row: Row): ExportRow {
  const isShown = (column: string) => column !== 'network_id' && column !== 'token_hash' && !columns[column]?.derived
  return { table: name, ...Object.fromEntries(Object.entries(row).filter(([column]) => isShown(column))) }
}
