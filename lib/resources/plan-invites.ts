import type { Context } from '../context.ts'
import { conflict, fail, found, invalid, notFound } from '../errors.ts'
import { describe, EmailQuery, IdInput, LongText, optional, paged } from '../fields.ts'
import { operation } from '../operation.ts'
import { Invite, presentInvite, presentInvites } from '../records/invite.ts'
import { checkInvitable, invite, resendInvite, withdrawInvite } from '../rules/invites.ts'
import { emailKey, lockNetwork } from '../rules/members.ts'
import { openPlan } from '../rules/plans.ts'
import type { Id } from '../storage/table.ts'
import { members } from '../storage/tables/members.ts'
import { type InviteRow, invites, plans } from '../storage/tables/plans.ts'

const accepted = conflict('The invite is accepted already. Take the member off the plan instead')

export const listPlanInvites = operation({
  id: 'plan_invites.list',
  method: 'GET',
  path: '/plans/:plan_id/invites',
  scope: 'invites:read',
  summary: 'List the invites to a plan.',
  description: 'Open and accepted ones; `accepted_at` distinguishes them. Invites to the network have their own list.',
  returns: paged(Invite),
  errors: [notFound('Plan')],
  async handle(call) {
    const plan = found(await call.tx.get(plans, call.params.plan_id), 'Plan')
    return call.page(invites, { where: { plan_id: plan.id } }, (rows) => presentInvites(call, rows))
  },
})

export const createPlanInvite = operation({
  id: 'plan_invites.create',
  method: 'POST',
  path: '/plans/:plan_id/invites',
  scope: 'invites:write',
  summary: 'Invite a person to a plan, by e-mail address or as a member.',
  description:
    'The host mails it, on `InviteEmailRequestedHook`. A person who has the plan, an open invite to it or a ban is a 422, and so is an archived plan.',
  query: {
    email: describe(
      optional(EmailQuery),
      'The address to invite; either this or `user_id` is needed. If both are given, they must belong to one person.',
    ),
    user_id: describe(
      optional(IdInput),
      'The member to invite, at the address that they have; either this or `email` is needed.',
    ),
    message: describe(optional(LongText), 'A personal message for the mail.'),
  },
  returns: Invite,
  errors: [notFound('Plan'), invalid('plan_id', 'email', 'user_id')],
  emits: ['InviteEmailRequested'],
  async handle(call) {
    await lockNetwork(call.tx)
    const plan = await openPlan(call, call.params.plan_id)
    const recipient = await recipientOf(call, call.query)
    const target = { ...recipient, plan_id: plan.id }
    const member = await checkInvitable(call, call.query.email === undefined ? 'user_id' : 'email', target)
    const row = await invite(call, {
      ...target,
      recipient_first_name: member?.first_name,
      recipient_last_name: member?.last_name,
      sender_id: call.principal.member_id,
      message: call.query.message,
    })
    return presentInvite(call, row)
  },
})

export const showPlanInvite = operation({
  id: 'plan_invites.show',
  method: 'GET',
  path: '/plans/:plan_id/invites/:id/',
  scope: 'invites:read',
  summary: 'Show an invite to a plan.',
  description: 'An invite to another plan is a 404.',
  returns: Invite,
  errors: [notFound('Plan'), notFound('Invite')],
  handle: async (call) => presentInvite(call, await planInvite(call, call.params)),
})

export const resendPlanInvite = operation({
  id: 'plan_invites.resend_patch',
  method: 'PATCH',
  path: '/plans/:plan_id/invites/:id/',
  also: { id: 'plan_invites.resend_put', method: 'PUT' },
  scope: 'invites:write',
  summary: 'Send an invite to a plan again; an invited member gets it at their present address.',
  description:
    'The host mails it again, on `InviteEmailRequestedHook`, each time that this is called. An accepted invite and an archived plan are a 422.',
  returns: Invite,
  errors: [notFound('Plan'), notFound('Invite'), invalid('plan_id', 'id', 'recipient_email')],
  emits: ['InviteEmailRequested'],
  async handle(call) {
    await lockNetwork(call.tx)
    await openPlan(call, call.params.plan_id)
    const before = await planInvite(call, call.params)
    if (before.accepted_at !== null) fail(invalid('id'), 'The invite is accepted already and cannot be sent again')
    return presentInvite(call, await resendInvite(call, before))
  },
})

export const deletePlanInvite = operation({
  id: 'plan_invites.delete',
  method: 'DELETE',
  path: '/plans/:plan_id/invites/:id/',
  scope: 'invites:write',
  summary: 'Revoke an invite to a plan that has not been accepted.',
  description:
    'The recipient can no longer accept it. An accepted invite is a 409: take the member off the plan instead. No event is sent.',
  errors: [notFound('Plan'), notFound('Invite'), accepted],
  async handle(call) {
    if (!(await withdrawInvite(call, await planInvite(call, call.params)))) fail(accepted)
  },
})

async function planInvite({ tx }: Pick<Context, 'tx'>, params: { readonly plan_id: Id; readonly id: Id }): Promise<InviteRow> {
  const plan = found(await tx.get(plans, params.plan_id), 'Plan')
  const row = await tx.get(invites, params.id)
  return found(row?.plan_id === plan.id ? row : undefined, 'Invite')
}

/** The invitee: an address, or a member with their own address. If both are given they must belong to one person. */
async function recipientOf(
  { tx }: Pick<Context, 'tx'>,
  { email, user_id }: { readonly email?: string | undefined; readonly user_id?: Id | undefined },
): Promise<Pick<InviteRow, 'recipient_email' | 'recipient_id'>> {
  if (user_id === undefined) {
    const recipient_email = email ?? fail(invalid('email', 'user_id'), 'email or user_id is required')
    return { recipient_email, recipient_id: null }
  }
  // Locked, so that no one is invited who is leaving at the same time.
  const member = await tx.lock(members, user_id, 'share')
  if (member?.state !== 'active') fail(invalid('user_id'), `user_id: there is no member ${user_id} in this network`)
  if (email !== undefined && emailKey(email) !== member.email_key)
    fail(invalid('email'), 'email is not the address of the member in user_id. Send only one of the two')
  return email === undefined
    ? { recipient_email: member.email, recipient_id: member.id }
    : { recipient_email: email, recipient_id: null }
}
