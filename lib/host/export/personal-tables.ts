/** Where the network stores something about a person: an export of the person reads these rows, in this order. */
import { emailKey, memberByAddress } from '../../rules/members.ts'
import type { Where } from '../../storage/contract.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Id, Row, Table } from '../../storage/table.ts'
import { apiKeys, audit, idempotencyKeys } from '../../storage/tables/administration.ts'
import { abuseReports, assets, comments, mutes, posts, reactions } from '../../storage/tables/content.ts'
import { answers, memberSegments, segments } from '../../storage/tables/custom-fields.ts'
import { rsvps } from '../../storage/tables/events.ts'
import { type MemberRow, memberHistory, members, spaceMemberships } from '../../storage/tables/members.ts'
import { invites, planMemberships, purchases, subscriptions } from '../../storage/tables/plans.ts'

export interface PersonKeys {
  readonly id: Id
  /** The key of the address, unless another person has it by now: then it does not show whose a row is. */
  readonly address: string | undefined
  readonly avatar: string | null
  /** API keys that act as the person. */
  readonly keys: readonly Id[]
}

export async function personKeys(tx: ScopedTx, { id, email, avatar }: MemberRow): Promise<PersonKeys> {
  const holder = email === '' ? undefined : await memberByAddress(tx, email)
  const isOwn = email !== '' && (holder === undefined || holder.id === id)
  const keys = await tx.find(apiKeys, { where: { member_id: id } })
  return { id, avatar, address: isOwn ? emailKey(email) : undefined, keys: keys.map((key) => key.id) }
}

export function isNamedIn(body: string, { id, address }: Pick<PersonKeys, 'id' | 'address'>): boolean {
  const isId = ['"', ''].some(
    (quote) => body.includes(`id":${quote}${id}${quote},`) || body.includes(`id":${quote}${id}${quote}}`),
  )
  return isId || (address !== undefined && body.toLowerCase().includes(JSON.stringify(address)))
}

export const hasAddress = (details: object, { address }: Pick<PersonKeys, 'address'>): boolean =>
  address !== undefined && JSON.stringify(details).toLowerCase().includes(JSON.stringify(address))

/** Actions of lines that may have addresses of persons who are not their subject. */
export const actionsWithAddresses = ['members.consent', 'work.requested', 'work.failed'] as const

/** Stored files of an avatar: stores may give a path on the origin that callers use. */
export const filesOf = (avatar: string): readonly string[] => [avatar, URL.parse(avatar)?.pathname ?? avatar]

export interface PersonalRows {
  readonly table: Pick<Table, 'name' | 'columns'>
  readonly columns: readonly string[]
  /** The next rows after an id, at most `limit`, of which those that are meant are given. */
  read(tx: ScopedTx, after: Id | undefined, limit: number): Promise<{ readonly rows: readonly Row[]; readonly next: Id | null }>
}

function rowsWhere<R extends Row, N>(
  table: Table<R, N>,
  where: Where<R>,
  isMeant: (row: R) => boolean = () => true,
): PersonalRows {
  return {
    table,
    columns: Object.keys(where),
    async read(tx, after, limit) {
      const rows = await tx.find(table, { where, limit, ...(after === undefined ? {} : { after }) })
      return { rows: rows.filter(isMeant), next: rows.length === limit ? (rows.at(-1)?.id ?? null) : null }
    },
  }
}

/** Each table that names members, by each of its columns that do, with what an erasure does to the rows. */
export const personalRows = (person: PersonKeys): readonly PersonalRows[] => {
  const { id, address, avatar, keys } = person
  const isOther = (name: 'member_id' | 'creator_id' | 'recipient_id' | 'targetable_id') => (row: object) =>
    Reflect.get(row, name) !== id
  return [
    // Personal columns go.
    rowsWhere(members, { id }),
    // Removed.
    rowsWhere(memberHistory, { member_id: id }),
    // Removed with the account.
    rowsWhere(spaceMemberships, { member_id: id }),
    rowsWhere(planMemberships, { member_id: id }),
    rowsWhere(memberSegments, { member_id: id }),
    rowsWhere(answers, { member_id: id }),
    rowsWhere(reactions, { member_id: id }),
    rowsWhere(mutes, { member_id: id }),
    rowsWhere(rsvps, { member_id: id }),
    // Options that only they added go.
    rowsWhere(segments, { creator_id: id }),
    // Stay, without a name.
    rowsWhere(posts, { creator_id: id }),
    rowsWhere(comments, { author_id: id }),
    rowsWhere(abuseReports, { member_id: id }),
    rowsWhere(abuseReports, { targetable_type: 'User', targetable_id: id }, isOther('member_id')),
    // Stay as receipts, without a name.
    rowsWhere(subscriptions, { member_id: id }),
    rowsWhere(purchases, { member_id: id }),
    // Those to the person are removed; those that they sent stay.
    rowsWhere(invites, { recipient_id: id }),
    rowsWhere(invites, { email_key: address === undefined ? [] : [address] }, isOther('recipient_id')),
    rowsWhere(invites, { sender_id: id }, (row) => row.recipient_id !== id && row.email_key !== address),
    // Removed, but for those of hosts.
    rowsWhere(assets, { creator_id: id }),
    rowsWhere(assets, { url: avatar === null ? [] : filesOf(avatar) }, isOther('creator_id')),
    // Revoked, without the name that an admin gave.
    rowsWhere(apiKeys, { member_id: id }),
    // Replaced by a refusal.
    rowsWhere(idempotencyKeys, {}, ({ body }) => isNamedIn(body, person)),
    // Names and texts go, the action stays.
    rowsWhere(audit, { subject_type: 'member', subject_id: id }),
    rowsWhere(audit, { subject_type: 'key', subject_id: keys }),
    rowsWhere(
      audit,
      { action: actionsWithAddresses },
      (row) => hasAddress(row.details, person) && !(row.subject_type === 'member' && row.subject_id === id),
    ),
  ]
}
