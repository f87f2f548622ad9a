import type { Context } from '../context.ts'
import { fail, found, invalid, notFound, refused } from '../errors.ts'
import { describe, IdInput, LongText, optionalOrNull, paged, request } from '../fields.ts'
import { operation } from '../operation.ts'
import { Empty } from '../records/empty.ts'
import { Member, MemberUpdate, presentMember } from '../records/member.ts'
import { kindOfPayment } from '../records/payment.ts'
import { changeMember } from '../rules/change-member.ts'
import { banMember, lockDeparting } from '../rules/leaving.ts'
import { activeMember, lockMember } from '../rules/members.ts'
import { joinSpace, leaveSpace } from '../rules/membership.ts'
import { orConflict } from '../storage/lock.ts'
import type { Id } from '../storage/table.ts'
import { members, type SpaceRow, spaceMemberships, spaces } from '../storage/tables/members.ts'
import { planMemberships, planSpaces, plans } from '../storage/tables/plans.ts'

const Ban = request('BanRequest', {
  ban_reason: describe(optionalOrNull(LongText), 'Why the member is banned, for other hosts; null for no reason.'),
})

const paid = refused('The member holds a paid plan of this space. Take them off the plan first')

export const listSpaceMembers = operation({
  id: 'space_members.list',
  method: 'GET',
  path: '/spaces/:space_id/members',
  scope: 'members:read',
  summary: 'List the members of a space.',
  description: 'Full and limited members of the space alike. Hosts of the network are not listed unless they joined it.',
  returns: paged(Member),
  errors: [notFound('Space')],
  async handle(call) {
    const { id } = await spaceOf(call, call.params.space_id)
    const order = { by: 'member_id', direction: 'asc' } as const
    return call.page(spaceMemberships, { where: { space_id: id }, order }, async (rows) => {
      const people = await call.tx.find(members, { where: { id: rows.map((row) => row.member_id) } })
      return people.map((row) => presentMember(call, row))
    })
  },
})

export const addSpaceMember = operation({
  id: 'space_members.create',
  method: 'POST',
  path: '/spaces/:space_id/members',
  scope: 'members:write',
  summary: 'Add a member of the network to a space.',
  description: 'It sends `MemberJoinedHook` for the space. A member who is in it already is a 422.',
  query: {
    user_id: describe(IdInput, 'The member of the network who joins the space.'),
  },
  returns: Member,
  errors: [notFound('Space'), notFound('Member'), invalid('user_id')],
  emits: ['MemberJoined'],
  async handle(call) {
    const space = await spaceOf(call, call.params.space_id)
    const member = await lockMember(call, call.query.user_id)
    if (!(await joinSpace(call, member, space))) fail(invalid('user_id'), 'user_id is already a member of this space')
    return presentMember(call, member)
  },
})

export const showSpaceMember = operation({
  id: 'space_members.show',
  method: 'GET',
  path: '/spaces/:space_id/members/:user_id/',
  scope: 'members:read',
  summary: 'Show a member of a space.',
  description: 'A member of the network who is not in the space is a 404.',
  returns: Member,
  errors: [notFound('Space'), notFound('Member')],
  async handle(call) {
    const { member } = await memberOfSpace(call, call.params)
    return presentMember(call, member)
  },
})

export const updateSpaceMember = operation({
  id: 'space_members.update',
  method: 'PATCH',
  path: '/spaces/:space_id/members/:user_id/',
  also: { id: 'space_members.replace', method: 'PUT' },
  scope: 'members:write',
  summary: "Change a member's role within a space, and their profile.",
  description:
    'A `role` holds in this space alone; everything else changes the member everywhere. It sends `MemberUpdatedHook` with the space.',
  body: MemberUpdate,
  returns: Member,
  errors: [notFound('Space'), notFound('Member'), invalid('email', 'role', 'member_type')],
  emits: ['MemberUpdated', 'MemberJoined'],
  async handle(call) {
    const { space, member, membership } = await memberOfSpace(call, call.params)
    // The role stays within the space: a host of one space is not a host of the network.
    const { role, ...profile } = call.body
    const before = { role: membership.role }
    const changed = await changeMember(call, member.id, profile, space.id, [before, { role: role ?? before.role }])
    if (role) {
      const updated = await call.tx.update(spaceMemberships, membership.id, { role, ...call.touch() }, before)
      orConflict(updated, `space_memberships ${membership.id}`)
    }
    return changed
  },
})

export const removeSpaceMember = operation({
  id: 'space_members.delete',
  method: 'DELETE',
  path: '/spaces/:space_id/members/:user_id/',
  scope: 'members:write',
  summary: 'Take a member out of a space, unless they hold a paid plan that opens it.',
  description:
    'It sends `MemberLeftHook` for the space. They stay a member of the network. A paid plan that opens the space is a 403: take them off the plan first.',
  returns: Empty,
  errors: [notFound('Space'), notFound('Member'), paid],
  emits: ['MemberLeft'],
  async handle(call) {
    const member = await lockMember(call, call.params.user_id)
    const { space } = await memberOfSpace(call, call.params)
    if (await holdsPaidPlan(call, member.id, space.id)) fail(paid)
    return (await leaveSpace(call, member, space.id)) ? {} : fail(notFound('Member'))
  },
})

export const banSpaceMember = operation({
  id: 'space_members.ban',
  method: 'POST',
  path: '/spaces/:space_id/members/:user_id/ban',
  scope: 'members:write',
  summary: 'Ban a member from the whole network; they cannot join again.',
  description:
    'Their payments end, and it sends `MemberLeftHook` for the network and each space. It does not matter whether they are in this space. Only the host can lift a ban.',
  body: Ban,
  returns: Empty,
  errors: [notFound('Space'), notFound('Member'), invalid('user_id', 'role')],
  emits: ['MemberLeft'],
  async handle(call) {
    await spaceOf(call, call.params.space_id)
    // The ban is the network's, so that it does not matter whether they are in this space.
    await banMember(call, await lockDeparting(call, call.params.user_id), call.body.ban_reason ?? null)
    return {}
  },
})

const spaceOf = async ({ tx }: Pick<Context, 'tx'>, id: Id): Promise<SpaceRow> => found(await tx.get(spaces, id), 'Space')

async function memberOfSpace(context: Pick<Context, 'tx'>, { space_id, user_id }: { space_id: Id; user_id: Id }) {
  const space = await spaceOf(context, space_id)
  const member = await activeMember(context, user_id)
  const membership = await context.tx.first(spaceMemberships, { space_id: space.id, member_id: member.id })
  return { space, member, membership: found(membership, 'Member') }
}

/** Whether a member holds a plan that opens a space and that is priced, or that they have paid for. */
async function holdsPaidPlan({ tx }: Pick<Context, 'tx'>, member_id: Id, space_id: Id): Promise<boolean> {
  const openedBy = await tx.find(planSpaces, { where: { space_id } })
  const memberships = await tx.find(planMemberships, { where: { member_id, plan_id: openedBy.map((row) => row.plan_id) } })
  if (memberships.some(({ source }) => source === 'subscription' || source === 'purchase')) return true
  const priced = await tx.find(plans, { where: { id: memberships.map((row) => row.plan_id) } })
  return priced.some((plan) => kindOfPayment(plan.pricing_type) !== 'free')
}
