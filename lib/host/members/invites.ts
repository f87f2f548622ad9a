/** How an invite is accepted: by the host, in whose product the person signs up. */

import type { Context } from '../../context.ts'
import { fail, found, invalid } from '../../errors.ts'
import { IdInput, isBlank, optional, ShortText } from '../../fields.ts'
import { Member, presentMember } from '../../records/member.ts'
import { paidPlans, restoreAccess } from '../../rules/leaving.ts'
import { emailKey, isBanned, lockUnchanged, memberByAddress } from '../../rules/members.ts'
import { joinNetwork } from '../../rules/membership.ts'
import { holdInvites } from '../../rules/open-invites.ts'
import { giveAccess, openPlan } from '../../rules/plans.ts'
import { orConflict } from '../../storage/lock.ts'
import type { NewIn } from '../../storage/table.ts'
import { type MemberRow, members } from '../../storage/tables/members.ts'
import { type InviteRow, invites } from '../../storage/tables/plans.ts'
import type { MakeNotification, Plainly } from '../notifications/define.ts'
import { profile } from './profile-fields.ts'

/** `community.acceptInvite`: an invitee becomes a member. */
export type AcceptInvite = Plainly<ReturnType<typeof acceptInviteOf>>

export const acceptInviteOf = (notification: MakeNotification) =>
  notification(
    { invite: IdInput, first_name: optional(ShortText), last_name: optional(ShortText), ...profile },
    Member,
    async (call, { invite: id, ...given }) => {
      const { plan_id } = found(await call.tx.get(invites, id), 'Invite')
      await holdInvites(call.tx)
      const plan = plan_id === null ? null : await openPlan(call, plan_id)
      const invite = found(await call.tx.get(invites, id), 'Invite')
      if (invite.accepted_at !== null) fail(invalid('invite'), 'The invite is accepted already')
      const known = await recipientOf(call, invite)
      const isIn = known?.state === 'active' && (plan !== null || known.member_type === 'full')
      const paid = known && known.state !== 'active' ? await paidPlans(call, known) : []
      // The member first, as everywhere.
      const member = isIn ? await lockUnchanged(call.tx, known) : await enrol(call, invite, known, given)
      const accepted = { accepted_at: call.now, open_key: null, ...call.touch() }
      const unchanged = { accepted_at: null, recipient_id: invite.recipient_id, email_key: invite.email_key }
      orConflict(await call.tx.update(invites, id, accepted, unchanged), `invites ${id}`)
      if (!isIn) {
        await joinNetwork(call, member)
        await restoreAccess(call, member, paid)
        if (invite.sender_id !== member.id) await call.tx.increment(members, invite.sender_id, { referral_count: 1 })
      }
      if (plan) await giveAccess(call, member, plan, 'invite')
      return presentMember(call, member)
    },
  )

/**
 * The member whom an invite names, or who has the invited address now.
 * @throws ApiError 422 when they are banned, or have left since they were invited
 */
async function recipientOf({ tx }: Pick<Context, 'tx'>, { recipient_id, recipient_email }: InviteRow) {
  const member = recipient_id === null ? await memberByAddress(tx, recipient_email) : await tx.get(members, recipient_id)
  if (member && isBanned(member)) fail(invalid('invite'), 'The invite is for a member who is banned from this network')
  if (recipient_id !== null && member?.state !== 'active')
    fail(invalid('invite'), 'The invite is for a member who has left this network. Send their address a new invite')
  return member
}

type Names = { readonly first_name?: string | undefined; readonly last_name?: string | undefined }
type Profile = Partial<Pick<NewIn<typeof members>, 'commercial_email_consent' | 'time_zone' | 'location' | 'bio' | 'avatar'>>

/**
 * Makes the invited person a member, restores a former one, or makes a limited one a full one. Names that are not given are those
 * of the limited member, or of the invite.
 */
async function enrol(
  call: Context,
  { recipient_email, recipient_first_name, recipient_last_name }: InviteRow,
  known: MemberRow | undefined,
  { first_name, last_name, commercial_email_consent: consent, ...rest }: Names & Profile,
): Promise<MemberRow> {
  const limited = known?.state === 'active' ? known : undefined
  const email = limited?.email ?? recipient_email
  const fields = {
    ...rest,
    email,
    email_key: emailKey(email),
    first_name: first_name ?? limited?.first_name ?? recipient_first_name,
    last_name: last_name ?? limited?.last_name ?? recipient_last_name,
    member_type: 'full',
    state: 'active',
  } as const
  if (isBlank(fields.first_name)) fail(invalid('first_name'), "first_name can't be blank")
  if (!known)
    return call.tx.insert(members, { ...call.stamp(), ...fields, commercial_email_consent: consent ?? call.newMembersConsent })
  const { state, member_type, email_key } = known
  const changes = { ...fields, commercial_email_consent: consent, role: limited?.role ?? 'contributor', ...call.touch() } as const
  return orConflict(await call.tx.update(members, known.id, changes, { state, member_type, email_key }), `members ${known.id}`)
}
