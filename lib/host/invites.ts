/** How an invite is accepted: by the host, in whose product the person signs up. */

import type { Emitter } from '../call.ts'
import type { Context } from '../context.ts'
import { fail, found, invalid } from '../errors.ts'
import { IdInput, isBlank, optional, ShortText } from '../fields.ts'
import { Member, presentMember } from '../records/member.ts'
import { paidPlans, restoreAccess } from '../rules/leaving.ts'
import { emailKey, isBanned, lockUnchanged, memberByAddress } from '../rules/members.ts'
import { announceJoin } from '../rules/membership.ts'
import { giveAccess, openPlan } from '../rules/plans.ts'
import { orConflict } from '../storage/lock.ts'
import type { NewIn } from '../storage/table.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import { type InviteRow, invites } from '../storage/tables/plans.ts'
import type { MakeNotification, Plainly } from './notification.ts'
import { profile } from './profile-fields.ts'

/** `community.acceptInvite`: an invitee becomes a member. */
export type AcceptInvite = Plainly<ReturnType<typeof acceptInviteOf>>

/** Binds `community.acceptInvite`. */
export const acceptInviteOf = (notification: MakeNotification) =>
  notification(
    { invite: IdInput, first_name: optional(ShortText), last_name: optional(ShortText), ...profile },
    Member,
    async (call, { invite: id, ...given }) => {
      const { plan_id, accepted_at } = found(await call.tx.get(invites, id), 'Invite')
      const plan = plan_id === null ? null : await openPlan(call, plan_id)
      if (accepted_at !== null) fail(invalid('invite'), 'The invite is accepted already')
      const accepted = { accepted_at: call.now, open_key: null, ...call.touch() }
      const invite = orConflict(await call.tx.update(invites, id, accepted, { accepted_at: null }), `invites ${id}`)
      const known = await recipientOf(call, invite)
      if (known && isBanned(known)) fail(invalid('invite'), 'The invite is for a member who is banned from this network')
      const member = known?.state === 'active' ? await lockUnchanged(call.tx, known) : await enrol(call, invite, known, given)
      if (plan) await giveAccess(call, member, plan, 'invite')
      return presentMember(call, member)
    },
  )

/** The invitee: the member with the invited address at that time, or the present owner of the address. */
async function recipientOf({ tx }: Pick<Context, 'tx'>, { recipient_id, recipient_email }: InviteRow) {
  const member = recipient_id === null ? undefined : await tx.get(members, recipient_id)
  return member?.state === 'active' ? member : memberByAddress(tx, recipient_email)
}

type Names = { readonly first_name?: string | undefined; readonly last_name?: string | undefined }
type Profile = Partial<Pick<NewIn<typeof members>, 'commercial_email_consent' | 'time_zone' | 'location' | 'bio' | 'avatar'>>

/** Makes the invited person a member, or restores a former member; the inviter has referred one more. */
async function enrol(
  call: Context & Emitter<'MemberJoined'>,
  invite: InviteRow,
  known: MemberRow | undefined,
  {
    first_name = invite.recipient_first_name,
    last_name = invite.recipient_last_name,
    commercial_email_consent: consent,
    ...rest
  }: Names & Profile,
): Promise<MemberRow> {
  if (isBlank(first_name)) fail(invalid('first_name'), "first_name can't be blank")
  const email = invite.recipient_email
  const fields = {
    ...rest,
    email,
    email_key: emailKey(email),
    first_name,
    last_name,
    member_type: 'full',
    state: 'active',
  } as const
  const paid = known ? await paidPlans(call, known) : []
  const again = { ...fields, commercial_email_consent: consent, role: 'contributor', ...call.touch() } as const
  const member = known
    ? orConflict(await call.tx.update(members, known.id, again, { state: known.state }), `members ${known.id}`)
    : await call.tx.insert(members, { ...call.stamp(), ...fields, commercial_email_consent: consent ?? call.newMembersConsent })
  announceJoin(call, member)
  await restoreAccess(call, member, paid)
  if (invite.sender_id !== member.id) await call.tx.increment(members, invite.sender_id, { referral_count: 1 })
  return member
}
