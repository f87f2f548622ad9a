import type { Context } from '../context.ts'
import { fail, found, invalid, notFound } from '../errors.ts'
import {
  BoolInput,
  BoolQuery,
  byDefault,
  describe,
  Email,
  EmailFilter,
  IdInput,
  listUpTo,
  oneOf,
  optional,
  paged,
  request,
  ShortText,
  Title,
} from '../fields.ts'
import { operation } from '../operation.ts'
import { Member, MemberRole, MemberUpdate, presentMember } from '../records/member.ts'
import { changeMember } from '../rules/change-member.ts'
import { conditionsOf, fieldsOf } from '../rules/filters/filter.ts'
import { memberFilters, memberOrder, memberSort } from '../rules/filters/members.ts'
import { deleteAccount, endPayments, leaveNetwork, lockDeparting, paidPlans, restoreAccess } from '../rules/leaving.ts'
import { activeMember, emailKey, keepAHost, memberByAddress, refuseHolder } from '../rules/members.ts'
import { joinNetwork, joinSpace, spacesOf } from '../rules/membership.ts'
import { holdInvites } from '../rules/open-invites.ts'
import { allOf } from '../storage/conditions.ts'
import { orConflict } from '../storage/lock.ts'
import type { Id } from '../storage/table.ts'
import { type MemberRow, members, type SpaceRow } from '../storage/tables/members.ts'

const MemberCreate = request('MemberCreateRequest', {
  email: describe(Email, 'The address. That of an active full member, or of a banned one, is a 422.'),
  first_name: describe(Title, 'The first name; not blank.'),
  last_name: describe(ShortText, 'The last name; it may be empty.'),
  role: describe(
    optional(MemberRole),
    'What the member may do in the network; `contributor` by default. A limited member who becomes a full one keeps theirs.',
  ),
  member_type: describe(
    byDefault(optional(oneOf('full', 'limited')), 'full'),
    '`full`, the default, joins the network; `limited` joins the spaces of `space_ids` alone.',
  ),
  space_ids: describe(
    optional(listUpTo(IdInput, 1000, 'ids')),
    'The spaces of a limited member, at least one; ignored for a full one.',
  ),
  send_welcome_email: describe(byDefault(optional(BoolInput), true), 'Whether the host should mail a welcome; true by default.'),
})

export const listMembers = operation({
  id: 'members.list',
  method: 'GET',
  path: '/members',
  scope: 'members:read',
  summary: 'List the members of the network, or the one with an e-mail address.',
  description: 'Active members alone, full and limited. Members who left, were removed or banned are not listed.',
  query: {
    email: describe(optional(EmailFilter), 'Only the member with this address, in any case; an empty one finds no one.'),
    ...fieldsOf(memberFilters),
    sort: memberSort,
  },
  returns: paged(Member, { isSorted: true }),
  handle: (call) => {
    const { email, sort, ...filters } = call.query
    const where = { state: 'active', ...(email === undefined ? {} : { email_key: emailKey(email) }) } as const
    const listed = allOf([{ where }, conditionsOf<MemberRow>(memberFilters, filters, call)])
    const order = memberOrder(sort, listed)
    return call.page(members, { ...listed, ...(order ? { order } : {}) }, (rows) => rows.map((row) => presentMember(call, row)))
  },
})

export const createMember = operation({
  id: 'members.create',
  method: 'POST',
  path: '/members',
  scope: 'members:write',
  summary: 'Create a member, or make a limited member a full one.',
  description:
    'A person who was removed comes back under the same id. It sends `MemberJoinedHook` for the network, or for each space of a limited member. This one response shows the address as it was sent.',
  status: 201,
  body: MemberCreate,
  example: {
    email: 'new.member@example.org',
    first_name: 'Margaret',
    last_name: 'Hamilton',
    role: 'moderator',
    member_type: 'full',
    send_welcome_email: true,
  },
  returns: Member,
  errors: [invalid('email', 'role', 'member_type', 'space_ids')],
  emits: ['MemberJoined', 'WelcomeEmailRequested'],
  async handle(call) {
    const { space_ids = [], send_welcome_email = true, member_type = 'full', role, ...names } = call.body
    const spaces = member_type === 'limited' ? await limitedTo(call, space_ids) : []
    const known = await memberByAddress(call.tx, names.email)
    const isLimited = known?.state === 'active' && known.member_type === 'limited' && member_type === 'full'
    if (known && !isLimited) refuseHolder('email', known)
    // A limited member who becomes a full one keeps their role, unless another one is given.
    const becomes = role ?? (isLimited ? known.role : 'contributor')
    if (isLimited && becomes !== 'host') await keepAHost(call.tx, known)
    await holdInvites(call.tx)
    const fields = { ...names, email_key: emailKey(names.email), role: becomes, member_type }
    const paid = known && !isLimited ? await paidPlans(call, known) : []
    // A removed member may join again, and is the same member as before. So is a limited one.
    const member = known
      ? await comeBack(call, known, fields)
      : await call.tx.insert(members, { ...call.stamp(), ...fields, commercial_email_consent: call.newMembersConsent })
    if (member_type === 'full') await joinNetwork(call, member)
    for (const space of spaces) await joinSpace(call, member, space)
    await restoreAccess(call, member, paid)
    const record = presentMember(call, member)
    if (send_welcome_email)
      call.emit('WelcomeEmailRequested', { member: record, email: member.email, network_id: call.network.id })
    // The one response that shows the address as supplied (interface.md, 7.1).
    return { ...record, email: names.email }
  },
})

export const memberByEmail = operation({
  id: 'members.by_email',
  method: 'GET',
  path: '/members/by_email',
  scope: 'members:read',
  summary: 'Find a member by e-mail address.',
  description: 'A member who has left is a 404, as is an address that no member has.',
  query: {
    email: describe(EmailFilter, 'The address, in any case. It is found even where records hide it.'),
  },
  returns: Member,
  errors: [notFound('Member')],
  async handle(call) {
    const member = await memberByAddress(call.tx, call.query.email)
    return presentMember(call, found(member?.state === 'active' ? member : undefined, 'Member'))
  },
})

export const showMember = operation({
  id: 'members.show',
  method: 'GET',
  path: '/members/:id/',
  scope: 'members:read',
  summary: 'Show a member.',
  description: 'A member who left, was removed or banned is a 404.',
  returns: Member,
  errors: [notFound('Member')],
  handle: async (call) => presentMember(call, await activeMember(call, call.params.id)),
})

export const updateMember = operation({
  id: 'members.update',
  method: 'PATCH',
  path: '/members/:id/',
  also: { id: 'members.replace', method: 'PUT' },
  scope: 'members:write',
  summary: "Change a member's role and profile.",
  description:
    "It sends `MemberUpdatedHook`, also for a role alone, and `MemberJoinedHook` if a limited member becomes a full one. The last host must stay a host, and another member's address is a 422.",
  body: MemberUpdate,
  returns: Member,
  errors: [notFound('Member'), invalid('email', 'role', 'member_type')],
  emits: ['MemberUpdated', 'MemberJoined'],
  handle: (call) => changeMember(call, call.params.id, call.body, null),
})

export const deleteMember = operation({
  id: 'members.delete',
  method: 'DELETE',
  path: '/members/:id/',
  scope: 'members:write',
  summary: "Delete a member's account, also of a member who was removed or banned.",
  description:
    'It ends their payments, and frees the address unless they are banned. It sends `MemberLeftHook` for the network and each space, unless they had left before. Posts and receipts keep their names.',
  errors: [notFound('Member'), invalid('role')],
  emits: ['MemberLeft'],
  async handle(call) {
    await deleteAccount(call, call.params.id)
  },
})

export const removeMemberFromNetwork = operation({
  id: 'members.remove_from_network',
  method: 'DELETE',
  path: '/members/:id/network_membership',
  scope: 'members:write',
  summary: 'Take a member out of the network; they may join again.',
  description:
    'It sends `MemberLeftHook` for the network and each space. Tags, badges, answers and RSVPs go without an event of their own. The last host cannot be removed.',
  query: {
    cancel_plans: describe(
      byDefault(optional(BoolQuery), false),
      "Whether the member's subscriptions and purchases end too; false by default. Plans that they go on paying for open again when they come back.",
    ),
  },
  errors: [notFound('Member'), invalid('role')],
  emits: ['MemberLeft'],
  async handle(call) {
    const member = await lockDeparting(call, call.params.id)
    if (call.query.cancel_plans) await endPayments(call, member)
    await leaveNetwork(call, member, 'removed')
  },
})

/** The member as they are from now on; guarded, so that they come back once and it is announced once. */
async function comeBack({ tx, touch }: Context, known: MemberRow, fields: Partial<MemberRow>): Promise<MemberRow> {
  const { state, member_type, role, email_key } = known
  const guard = { state, member_type, role, email_key }
  const back = await tx.update(members, known.id, { ...fields, state: 'active', ...touch() }, guard)
  return orConflict(back, `members ${known.id}`)
}

/** The spaces of a limited member, who belongs to nothing else. */
async function limitedTo(call: Pick<Context, 'tx'>, space_ids: readonly Id[]): Promise<SpaceRow[]> {
  if (space_ids.length === 0) fail(invalid('space_ids'), 'space_ids must name at least one space when member_type is limited')
  const spaces = await spacesOf(call.tx, space_ids)
  const missing = space_ids.find((id) => !spaces.some((space) => space.id === id))
  return missing === undefined ? spaces : fail(invalid('space_ids'), `space_ids: there is no space ${missing} in this network`)
}
