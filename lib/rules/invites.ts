/** Invites to the network and to its plans: who may be invited, and the mail that the host sends for it. */

import type { Emitter } from '../call.ts'
import type { Context } from '../context.ts'
import { fail, invalid } from '../errors.ts'
import type { Id, NewIn } from '../storage/table.ts'
import type { MemberRow } from '../storage/tables/members.ts'
import { type InviteRow, invites } from '../storage/tables/plans.ts'
import { emailKey, isBanned, memberByAddress } from './members.ts'
import { accessTo } from './plans.ts'

/** The unique key of an open invite: an address, and the plan if it is invited to one. */
export function openKey({ recipient_email, plan_id }: Pick<InviteRow, 'recipient_email' | 'plan_id'>): string {
  const email = emailKey(recipient_email)
  return plan_id === null ? email : `${email} ${plan_id}`
}

/**
 * Refuses an address that cannot be invited: one that is banned, is in already, or holds an open invite.
 * @param field what the caller calls the address
 * @param own the invite that is sent again, which the address may hold
 * @returns the member whose address it is, if there is one
 * @throws ApiError 422
 */
export async function checkInvitable(
  call: Context,
  field: string,
  target: Pick<InviteRow, 'recipient_email' | 'plan_id'>,
  own?: Id,
): Promise<MemberRow | undefined> {
  const scope = target.plan_id === null ? 'network' : 'plan'
  const member = await memberByAddress(call.tx, target.recipient_email)
  if (member && isBanned(member)) fail(invalid(field), `${field} belongs to a member who is banned from this network`)
  const isIn =
    member?.state === 'active' &&
    (target.plan_id === null || (await accessTo(call, { plan_id: target.plan_id, member_id: member.id })))
  if (isIn) fail(invalid(field), `${field} is already a member of this ${scope}`)
  const open = await call.tx.first(invites, { open_key: openKey(target) })
  if (open && open.id !== own) fail(invalid(field), `${field} is already invited to this ${scope}`)
  return member
}

/** Invites somebody, and asks the host to send the mail. */
export async function invite(
  call: Emitter<'InviteEmailRequested'>,
  fields: Omit<NewIn<typeof invites>, 'id' | 'created_at' | 'updated_at' | 'email_key' | 'open_key' | 'sent_at'> &
    Pick<InviteRow, 'plan_id'>,
): Promise<InviteRow> {
  const row = await call.tx.insert(invites, {
    ...call.stamp(),
    ...fields,
    email_key: emailKey(fields.recipient_email),
    open_key: openKey(fields),
    sent_at: call.now,
  })
  requestInviteMail(call, row)
  return row
}

/** Asks the host to mail an invite: it has the mailer. The address is the host's own, so it is not masked. */
export function requestInviteMail(call: Emitter<'InviteEmailRequested'>, row: InviteRow): void {
  call.emit('InviteEmailRequested', { ...row, invite_id: row.id })
}

/**
 * Takes an invite back while nobody has accepted it.
 * @returns whether it was still open
 */
export async function withdrawInvite({ tx }: Pick<Context, 'tx'>, row: InviteRow): Promise<boolean> {
  return (await tx.remove(invites, row.id, { accepted_at: null })) !== undefined
}
