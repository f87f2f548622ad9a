import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { conflict, fail, found, invalid, notFound } from '../errors.ts'
import { describe, Email, EmailFilter, IdInput, optional, paged, request, ShortText } from '../fields.ts'
import { operation } from '../operation.ts'
import { Invite, presentInvite, presentInvites } from '../records/invite.ts'
import { checkInvitable, invite, requestInviteMail, resendInvite, withdrawInvite } from '../rules/invites.ts'
import { emailKey, lockNetwork } from '../rules/members.ts'
import { openKey } from '../rules/open-invites.ts'
import { openPlan } from '../rules/plans.ts'
import { orConflict } from '../storage/lock.ts'
import type { Id } from '../storage/table.ts'
import { members } from '../storage/tables/members.ts'
import { type InviteRow, invites } from '../storage/tables/plans.ts'

const recipient = {
  recipient_first_name: describe(
    optional(ShortText),
    'The first name of the recipient, for the mail and for their profile; empty if left out.',
  ),
  recipient_last_name: describe(
    optional(ShortText),
    'The last name of the recipient, for the mail and for their profile; empty if left out.',
  ),
  user_id: describe(optional(IdInput), "The member who is recorded as the sender, in place of the token's owner."),
}
const InviteCreate = request('InviteRequest', {
  recipient_email: describe(Email, 'The address to invite. A full member, an open invite or a ban of it is a 422.'),
  ...recipient,
})
const InviteUpdate = request('InviteUpdateRequest', {
  recipient_email: describe(
    optional(Email),
    'Another address, which gets the mail; or the same one without any other field, which sends the mail again.',
  ),
  ...recipient,
})

const accepted = conflict('The invite is accepted already. Remove the membership instead')

export const listInvites = operation({
  id: 'invites.list',
  method: 'GET',
  path: '/invites',
  scope: 'invites:read',
  summary: 'List the invites to the network; each plan lists its own invites.',
  description: 'Open and accepted ones; `accepted_at` distinguishes them.',
  query: {
    email: describe(optional(EmailFilter), 'Only invites to this address, in any case; an empty one finds none.'),
  },
  returns: paged(Invite),
  handle: (call) => {
    const { email } = call.query
    const where = { plan_id: null, ...(email === undefined ? {} : { email_key: emailKey(email) }) }
    return call.page(invites, { where }, (rows) => presentInvites(call, rows))
  },
})

export const createInvite = operation({
  id: 'invites.create',
  method: 'POST',
  path: '/invites',
  scope: 'invites:write',
  summary: 'Invite a person to the network by mail.',
  description:
    'The host mails it, on `InviteEmailRequestedHook`. A limited member may be invited, to become a full one. `community.acceptInvite` of the host accepts it.',
  status: 200,
  body: InviteCreate,
  returns: Invite,
  errors: [invalid('recipient_email', 'user_id')],
  emits: ['InviteEmailRequested'],
  async handle(call) {
    const { user_id, ...fields } = call.body
    const target = { ...fields, plan_id: null }
    await lockNetwork(call.tx)
    await checkInvitable(call, 'recipient_email', target)
    const sender_id = user_id === undefined ? call.principal.member_id : await inviter(call, user_id)
    return presentInvite(call, await invite(call, { ...target, sender_id }))
  },
})

export const updateInvite = operation({
  id: 'invites.update',
  method: 'PATCH',
  path: '/invites/:id/',
  also: { id: 'invites.replace', method: 'PUT' },
  scope: 'invites:write',
  summary:
    'Change an open invite to the network or to a plan; a new address gets the mail, and its own address alone sends it again.',
  description:
    'Only the fields that you send change. An accepted invite is a 422, and so is a new address that cannot be invited.',
  body: InviteUpdate,
  returns: Invite,
  errors: [notFound('Invite'), notFound('Plan'), invalid('id', 'plan_id', 'recipient_email', 'user_id')],
  emits: ['InviteEmailRequested'],
  async handle(call) {
    const { plan_id } = await inviteOf(call, call.params.id)
    // Network and plan first, as everywhere: no one else is invited to a plan that is being archived.
    if (call.body.recipient_email !== undefined) await lockNetwork(call.tx)
    if (plan_id !== null && call.body.recipient_email !== undefined) await openPlan(call, plan_id)
    const before = await inviteOf(call, call.params.id)
    if (before.accepted_at !== null) fail(invalid('id'), 'The invite is accepted already and cannot be changed')
    if (isResend(call.body, before)) return presentInvite(call, await resendInvite(call, before))
    const { user_id, recipient_email = before.recipient_email, ...names } = call.body
    const target = { recipient_email, plan_id }
    const goesElsewhere = emailKey(recipient_email) !== before.email_key
    if (goesElsewhere) await checkInvitable(call, 'recipient_email', target)
    const elsewhere = { recipient_id: null, email_key: emailKey(recipient_email), open_key: openKey(target), sent_at: call.now }
    const changes = {
      ...names,
      ...(call.body.recipient_email === undefined ? {} : { recipient_email }),
      ...(user_id === undefined ? {} : { sender_id: await inviter(call, user_id) }),
      ...(goesElsewhere ? elsewhere : {}),
      ...call.touch(),
    }
    const changed = orConflict(await call.tx.update(invites, before.id, changes, { accepted_at: null }), `invites ${before.id}`)
    if (goesElsewhere) requestInviteMail(call, changed)
    return presentInvite(call, changed)
  },
})

export const deleteInvite = operation({
  id: 'invites.delete',
  method: 'DELETE',
  path: '/invites/:id/',
  scope: 'invites:write',
  summary: 'Delete an open invite to the network or to a plan.',
  description:
    'The recipient can no longer accept it. An accepted invite is a 409: remove the membership instead. No event is sent.',
  errors: [notFound('Invite'), accepted],
  async handle(call) {
    if (!(await withdrawInvite(call, await inviteOf(call, call.params.id)))) fail(accepted)
  },
})

/** Any invite of the network, one to a plan as well: clients find them in either list and change them here. */
const inviteOf = async ({ tx }: Pick<Context, 'tx'>, id: Id): Promise<InviteRow> => found(await tx.get(invites, id), 'Invite')

/** Whether a change gives nothing but the address that the invite has. With other fields, it may be a record that is written back. */
function isResend({ recipient_email, ...others }: v.InferOutput<typeof InviteUpdate>, before: InviteRow): boolean {
  return recipient_email === before.recipient_email && Object.values(others).every((value) => value === undefined)
}

async function inviter({ tx }: Pick<Context, 'tx'>, user_id: Id): Promise<Id> {
  const member = await tx.get(members, user_id)
  return member?.state === 'active'
    ? member.id
    : fail(invalid('user_id'), `user_id: there is no member ${user_id} in this network`)
}
