/** A member or former member as the host's calls show them. */
import { fullName } from '../../records/member.ts'
import { isBanned } from '../../rules/members.ts'
import { rowsNamed } from '../../storage/rows-of.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import { type MemberRow, members } from '../../storage/tables/members.ts'

/** A member or former member as the host sees them. The address is not masked. */
export interface MemberListing
  extends Pick<
    MemberRow,
    'id' | 'network_id' | 'created_at' | 'updated_at' | 'email' | 'first_name' | 'last_name' | 'role' | 'member_type' | 'state'
  > {
  /** When they last visited, as the host reports it. */
  readonly last_visited_at: string | null
  /** Whether their address cannot join: also of a deleted account that was banned. */
  readonly is_banned: boolean
  /** The reason given with the ban; null if there is none, or no ban. */
  readonly ban_reason: string | null
  /** When they were removed, banned or deleted; null of a member who is there, and if an earlier version did not keep it. */
  readonly left_at: string | null
  /** The member in whose name that was done, as far as it is known. */
  readonly left_by: { readonly id: Id; readonly name: string } | null
  /** When the person was erased. */
  readonly erased_at: string | null
}

/** The rows as they are listed, with the names of those who removed them. */
export async function listings(tx: ScopedTx, rows: readonly MemberRow[]): Promise<readonly MemberListing[]> {
  const actors = await rowsNamed(tx, members, 'left_by_id', rows)
  return rows.map((row) => listing(row, actors.get(row.left_by_id ?? '')))
}

function listing(row: MemberRow, actor: MemberRow | undefined): MemberListing {
  const { id, network_id, created_at, updated_at, email, first_name, last_name, role, member_type, state, left_by_id } = row
  const hasLeft = state !== 'active'
  return {
    ...{ id, network_id, created_at, updated_at, email, first_name, last_name, role, member_type, state },
    last_visited_at: row.last_visited_at,
    is_banned: isBanned(row),
    ban_reason: row.ban_reason,
    left_at: hasLeft ? row.left_at : null,
    left_by: hasLeft && left_by_id !== null ? { id: left_by_id, name: actor ? fullName(actor) : '' } : null,
    erased_at: row.erased_at,
  }
}
