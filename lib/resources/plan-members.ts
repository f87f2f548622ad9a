import { fail, found, invalid, notFound } from '../errors.ts'
import { describe, IdInput, paged } from '../fields.ts'
import { operation } from '../operation.ts'
import { Member, presentMember } from '../records/member.ts'
import { Plan, presentPlan } from '../records/plan.ts'
import { activeMember, lockMember } from '../rules/members.ts'
import { accessTo, giveAccess, openPlan } from '../rules/plans.ts'
import { members } from '../storage/tables/members.ts'
import { planMemberships, plans } from '../storage/tables/plans.ts'

export const listPlanMembers = operation({
  id: 'plan_members.list',
  method: 'GET',
  path: '/plans/:plan_id/members',
  scope: 'members:read',
  summary: 'List the members of a plan.',
  description: 'Everybody who can use the plan, whether they pay, were invited or were given it.',
  returns: paged(Member),
  errors: [notFound('Plan')],
  async handle(call) {
    const { id } = found(await call.tx.get(plans, call.params.plan_id), 'Plan')
    const order = { by: 'member_id', direction: 'asc' } as const
    return call.page(planMemberships, { where: { plan_id: id }, order }, async (rows) => {
      const people = await call.tx.find(members, { where: { id: rows.map((row) => row.member_id) } })
      return people.map((row) => presentMember(call, row))
    })
  },
})

export const createPlanMember = operation({
  id: 'plan_members.create',
  method: 'POST',
  path: '/plans/:plan_id/members',
  scope: 'members:write',
  summary: 'Give a member direct access to a free or non-paid plan; they join its spaces.',
  description:
    'It sends `MemberPurchasedHook`, and `MemberJoinedHook` for each space that they join. A member who has the plan is a 422 with the words `already assigned`; a plan that must be paid for is a 422 too.',
  query: {
    user_id: describe(IdInput, 'The member who gets the plan.'),
  },
  returns: Plan,
  errors: [notFound('Plan'), notFound('Member'), invalid('plan_id', 'user_id')],
  emits: ['MemberJoined', 'MemberPurchased'],
  async handle(call) {
    const plan = await openPlan(call, call.params.plan_id)
    const member = await lockMember(call, call.query.user_id)
    // Clients look for these very words and take them for a success.
    if (await accessTo(call, { plan_id: plan.id, member_id: member.id }))
      fail(invalid('user_id'), 'User already has access to this plan (already assigned)')
    if (plan.pricing_type !== 'free' && plan.pricing_type !== 'nonpaid')
      fail(
        invalid('plan_id'),
        `Direct access is for free and nonpaid plans; the pricing_type of this plan is ${plan.pricing_type}`,
      )
    await giveAccess(call, member, plan, 'direct')
    return presentPlan(call, plan)
  },
})

export const showPlanMember = operation({
  id: 'plan_members.show',
  method: 'GET',
  path: '/plans/:plan_id/members/:member_id/',
  scope: 'members:read',
  summary: 'Show a member of a plan.',
  description: 'A member who does not have the plan is a 404, so this is the way to check access.',
  returns: Member,
  errors: [notFound('Plan'), notFound('Member')],
  async handle(call) {
    const plan = found(await call.tx.get(plans, call.params.plan_id), 'Plan')
    const member = await activeMember(call, call.params.member_id)
    found(await accessTo(call, { plan_id: plan.id, member_id: member.id }), 'Member')
    return presentMember(call, member)
  },
})
