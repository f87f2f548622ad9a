/** What an admin does to one member: ban, remove, change the role. By the rules of the operations, with a line of the audit. */
import { fail, found, invalid } from '../../errors.ts'
import { BoolInput, LongText, optional } from '../../fields.ts'
import { fullName, MemberRole } from '../../records/member.ts'
import { changeMember } from '../../rules/change-member.ts'
import { banMember, endPayments, leaveNetwork, lockDeparting } from '../../rules/leaving.ts'
import { isBanned, lockUnchanged } from '../../rules/members.ts'
import type { Settings } from '../../settings.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import { type MemberRow, members } from '../../storage/tables/members.ts'
import { checkArgument, idOf, shape } from '../arguments.ts'
import type { Changes } from '../audit/changes.ts'
import type { AuditLine } from '../audit/line.ts'
import type { Networks } from '../networks.ts'
import type { MemberListing } from './listing.ts'

/** How a member is banned. */
export interface BanOptions {
  /** Why, for other hosts; at most as long as a long text of the API. It is never public. */
  readonly reason?: string
  /** Whether their subscriptions and purchases end; true by default, as by the operation. */
  readonly cancel_plans?: boolean
}

/** How a member is removed. */
export interface RemoveOptions {
  /** Whether their subscriptions and purchases end; false by default, as by the operation. */
  readonly cancel_plans?: boolean
}

export interface MemberActs {
  /**
   * Bans a member, or a former member who was removed: they cannot join again. `MemberLeft` is sent for the network and each space.
   * @throws ApiError 404 when there is no such member, 422 when they are banned already, deleted or the last host
   */
  ban(network: Id | number, id: Id | number, options?: BanOptions): Promise<MemberListing>
  /**
   * Takes a member out of the network; they may join again (`members.remove_from_network`).
   * @throws ApiError 404 when there is no such member, 422 when they have left or are the last host
   */
  remove(network: Id | number, id: Id | number, options?: RemoveOptions): Promise<MemberListing>
  /**
   * Changes what a member may do in the network; `MemberUpdated` is sent.
   * @throws ApiError 404 when there is no such member, 422 for another role, or when they have left or are the last host
   */
  changeRole(network: Id | number, id: Id | number, role: MemberRow['role']): Promise<MemberListing>
}

/** @throws ApiError 404, 422 for a former member, whom it says to be one */
async function requireCurrent(tx: ScopedTx, id: Id): Promise<MemberRow> {
  const row = found(await tx.get(members, id), 'Member')
  return row.state === 'active' ? row : fail(invalid('id'), `The member has left the network: they are ${row.state}`)
}

const Ban = shape({ reason: optional(LongText), cancel_plans: optional(BoolInput) })
const Remove = shape({ cancel_plans: optional(BoolInput) })
const Role = shape({ role: MemberRole })

/** @param one makes the listing of a row */
export function memberActs(
  { limits }: Settings,
  changes: Changes,
  networks: Networks,
  one: (tx: ScopedTx, row: MemberRow) => Promise<MemberListing>,
): MemberActs {
  /** The listing of the member as they are now, and the line that says what was done. */
  async function done(tx: ScopedTx, before: MemberRow, action: AuditLine['action'], details: AuditLine['details']) {
    const subject = { type: 'member', id: before.id, name: fullName(before) || null } as const
    const result = await one(tx, found(await tx.get(members, before.id), 'Member'))
    return { result, audit: [{ action, subject, ...(details ? { details } : {}) }] }
  }

  return {
    async ban(name, given, options = {}) {
      const id = idOf(given)
      const { reason = null, cancel_plans = true } = checkArgument('members.ban', Ban, options, limits)
      return changes.act(await networks.show(name), async (call) => {
        const known = found(await call.tx.get(members, id), 'Member')
        if (isBanned(known)) fail(invalid('id'), 'The member is banned already')
        const isFormer = known.state === 'removed'
        if (!isFormer) await requireCurrent(call.tx, id)
        const member = isFormer ? await lockUnchanged(call.tx, known) : await lockDeparting(call, id)
        if (isFormer) {
          if (cancel_plans) await endPayments(call, member)
          const left = { left_at: call.now, left_by_id: call.principal.member_id }
          await call.tx.update(members, id, { state: 'banned', ban_reason: reason, ...left, ...call.touch() })
        } else if (cancel_plans) await banMember(call, member, reason)
        else await leaveNetwork(call, member, 'banned', reason)
        return done(call.tx, member, 'member.banned', { reason, cancel_plans })
      })
    },
    async remove(name, given, options = {}) {
      const id = idOf(given)
      const { cancel_plans = false } = checkArgument('members.remove', Remove, options, limits)
      return changes.act(await networks.show(name), async (call) => {
        await requireCurrent(call.tx, id)
        const member = await lockDeparting(call, id)
        if (cancel_plans) await endPayments(call, member)
        await leaveNetwork(call, member, 'removed')
        return done(call.tx, member, 'member.removed', { cancel_plans })
      })
    },
    async changeRole(name, given, role) {
      const id = idOf(given)
      checkArgument('members.changeRole', Role, { role }, limits)
      return changes.act(await networks.show(name), async (call) => {
        const before = await requireCurrent(call.tx, id)
        await changeMember(call, id, { role }, null)
        const { result, audit } = await done(call.tx, before, 'member.role_changed', { role: { from: before.role, to: role } })
        return { result, audit: before.role === role ? [] : audit }
      })
    },
  }
}
