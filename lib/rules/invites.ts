/** Invites to the network and to its plans: who may be invited, and the mail that the host sends for it. */

import type { Emitter } from '../call.ts'
import type { Context } from '../context.ts'
import { fail, invalid } from '../errors.ts'
import { orConflict } from '../storage/lock.ts'
import type { Id, NewIn } from '../storage/table.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import { type InviteRow, invites } from '../storage/tables/plans.ts'
import { emailKey, isBanned, lockUnchanged, memberByAddress, refuseHolder } from './members.ts'
import { openKey } from './open-invites.ts'
import { accessTo } from './plans.ts'

/**
 * Refuses an address that cannot be invited: one that is banned, is in already, or holds an open invite. A limited member may be
 * invited to the network. The caller has locked the network, and the plan if there is one.
 * @param field what the caller calls the address
 * @param own the invite that is sent again, which the address may hold
 * @returns the member whose address it is, if there is one
 * @throws ApiError 422
 */
export async function checkInvitable(
  call: Context,
  field: string,
  { recipient_email, plan_id }: Pick<InviteRow, 'recipient_email' | 'plan_id'>,
  own?: Id,
): Promise<MemberRow | undefined> {
  const scope = plan_id === null ? 'network' : 'plan'
  const member = await memberByAddress(call.tx, recipient_email)
  const isMember = member?.state === 'active'
  if (member && (isBanned(member) || (isMember && plan_id === null && member.member_type === 'full'))) refuseHolder(field, member)
  // Locked, so that they neither leave nor get the plan in the meantime.
  if (isMember) await lockUnchanged(call.tx, member, 'share')
  if (isMember && plan_id !== null && (await accessTo(call, { plan_id, member_id: member.id })))
    fail(invalid(field), `${field} is already a member of this plan`)
  const open = await call.tx.first(invites, { open_key: openKey({ recipient_email, plan_id }) })
  if (open && open.id !== own) fail(invalid(field), `${field} is already invited to this ${scope}`)
  return member
}

/** Invites a person, and has the host send the mail. */
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

/**
 * Sends an open invite again. A member whom it names gets it at their present address. The caller has locked the network, and the
 * plan if there is one.
 * @throws ApiError 422 when the recipient is in already, is banned or has left
 */
export async function resendInvite(call: Emitter<'InviteEmailRequested'>, before: InviteRow): Promise<InviteRow> {
  const { plan_id, recipient_id } = before
  const recipient = recipient_id === null ? undefined : await call.tx.lock(members, recipient_id, 'share')
  if (recipient_id !== null && recipient?.state !== 'active') {
    if (recipient && isBanned(recipient)) refuseHolder('recipient_email', recipient)
    const remedy = 'Delete the invite, and send their address a new invite if they should come back'
    fail(invalid('recipient_email'), `recipient_email is that of a member who has left this network. ${remedy}`)
  }
  const target = { plan_id, recipient_email: recipient?.email ?? before.recipient_email }
  await checkInvitable(call, 'recipient_email', target, before.id)
  const keys = { email_key: emailKey(target.recipient_email), open_key: openKey(target) }
  const changes = { ...target, ...keys, sent_at: call.now, ...call.touch() }
  const unchanged = { accepted_at: null, recipient_id }
  const sent = orConflict(await call.tx.update(invites, before.id, changes, unchanged), `invites ${before.id}`)
  requestInviteMail(call, sent)
  return sent
}

/** Has the host mail an invite: it has the mailer. The address is the host's own, so it is not masked. */
export function requestInviteMail(call: Emitter<'InviteEmailRequested'>, row: InviteRow): void {
  call.emit('InviteEmailRequested', { ...row, invite_id: row.id })
}

/**
 * Takes an invite back that has not been accepted.
 * @returns whether it was still open
 */
export async function withdrawInvite({ tx }: Pick<Context, 'tx'>, row: InviteRow): Promise<boolean> {
  return (await tx.remove(invites, row.id, { accepted_at: null })) !== undefined
}
