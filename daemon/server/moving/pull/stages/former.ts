/** Members who have left: no list shows them any more, but records that they made or paid for do. */
import { emailKey } from '../../../../../lib/rules/members.ts'
import { removeDependents } from '../../../../../lib/storage/cascade.ts'
import { isSame } from '../../../../../lib/storage/changes.ts'
import type { ScopedTx } from '../../../../../lib/storage/scoped.ts'
import { erasedColumns, type Row } from '../../../../../lib/storage/table.ts'
import { abuseReports } from '../../../../../lib/storage/tables/content.ts'
import { type MemberRow, members } from '../../../../../lib/storage/tables/members.ts'
import { type ApiRecord, shownAddress, textOf } from '../../api-record.ts'
import type { Place } from '../stage.ts'
import { columnValue } from '../values.ts'

/** The columns of a member's address. A hidden or masked one leaves an address that is known. */
export function addressColumns(email: unknown): { email?: string; email_key?: string; commercial_email_consent: boolean } {
  const address = shownAddress(email)
  const consent = { commercial_email_consent: textOf(email) !== '' }
  return address === undefined ? consent : { ...consent, email: address, email_key: emailKey(address) }
}

/**
 * Makes sure that there is a member, of whom another record shows some fields.
 * @param person fields with the names of the columns, and `name` where the name is in one piece
 */
export async function ensureMember(tx: ScopedTx, person: ApiRecord, { ids }: Pick<Place, 'ids'>): Promise<void> {
  // Some servers leave the creator out.
  if (textOf(person['id']) === '') return
  const id = ids.here(person['id'])
  const known = await tx.get(members, id)
  if (known?.state === 'active') return noteRole(tx, known, person['admin'])
  const { email_key: _, ...address } = addressColumns(person['email'])
  const name = person['name'] === undefined ? {} : { first_name: textOf(person['name']), last_name: '' }
  const given: ApiRecord = { ...person, ...name, bio: person['short_bio'] ?? person['bio'] }
  const columns: Record<string, unknown> = { ...address }
  for (const column of shownOfOthers) {
    const of = members.columns[column]
    if (of && given[column] !== undefined) columns[column] = columnValue(of, given[column], ids)
  }
  if (known) {
    await bring(tx, known, columns)
    return
  }
  const at = new Date(0).toISOString()
  const role = person['admin'] === true ? ('host' as const) : ('contributor' as const)
  const former = { email: '', first_name: '', last_name: '', created_at: at, updated_at: at, state: 'deleted' as const, role }
  await tx.insert(members, { ...former, ...columns, id })
}

/**
 * The same for the member whom a payment shows. One who has left since the last run is in no list of members, and is only taken away
 * at the end: the payment alone shows when that was.
 */
export async function ensurePayer(tx: ScopedTx, record: ApiRecord, { ids }: Pick<Place, 'ids'>): Promise<void> {
  await ensureMember(tx, { ...record, id: record['member_id'] }, { ids })
  const payer = await tx.get(members, ids.here(record['member_id']))
  const [column, at] = [members.columns['updated_at'], record['updated_at']]
  if (payer && column && at !== undefined) await bring(tx, payer, { updated_at: columnValue(column, at, ids) })
}

/** Times of the source are columns like others: a row is written even if only they differ. */
async function bring(tx: ScopedTx, row: MemberRow, columns: Readonly<Record<string, unknown>>): Promise<void> {
  const isKnown = Object.entries(columns).every(([name, value]) => isSame(Object(row)[name], value))
  if (!isKnown) await tx.touch(members, row.id, columns)
}

/** The address and the categories have rules of their own. */
const shownOfOthers: readonly string[] = [
  ...['created_at', 'updated_at'],
  ...Object.keys(erasedColumns(members)).filter((column) => column !== 'email' && column !== 'categories'),
]

/** A creator is shown as a host or not: the only place where the API gives roles of others. */
async function noteRole(tx: ScopedTx, { id, role }: MemberRow, admin: unknown): Promise<void> {
  if (admin === true && role !== 'host') await tx.update(members, id, { role: 'host' })
  if (admin === false && role === 'host') await tx.update(members, id, { role: 'contributor' })
}

/** A member who is not shown any more has left. Their content and reports stay, as they do when any member leaves. */
export async function memberGone(tx: ScopedTx, { id }: Row): Promise<boolean> {
  await removeDependents(tx, members, id, [abuseReports.name])
  await tx.update(members, id, { state: 'deleted', email_key: null, categories: [] })
  return true
}
