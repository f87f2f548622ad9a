import type { Emitter } from '../call.ts'
import { fail, found, invalid, notFound } from '../errors.ts'
import { paged } from '../fields.ts'
import { operation } from '../operation.ts'
import { presentSubscription } from '../records/payment.ts'
import { Plan, presentPlan } from '../records/plan.ts'
import { activeMember, lockMember } from '../rules/members.ts'
import { accessTo, endSubscription, liveStates, lockPayer, revokePurchase, takeOffPlan } from '../rules/plans.ts'
import { batchSize } from '../storage/rows-of.ts'
import type { MemberRow } from '../storage/tables/members.ts'
import { type PlanRow, planMemberships, plans, purchases, type SubscriptionRow, subscriptions } from '../storage/tables/plans.ts'

export const listMemberPlans = operation({
  id: 'member_plans.list',
  method: 'GET',
  path: '/members/:member_id/plans',
  scope: 'plans:read',
  summary: 'List the plans that a member can use.',
  description: 'Plans that are open for the member now, whether they pay, were invited or were given them.',
  returns: paged(Plan),
  errors: [notFound('Member')],
  async handle(call) {
    const { id } = await activeMember(call, call.params.member_id)
    const order = { by: 'plan_id', direction: 'asc' } as const
    return call.page(planMemberships, { where: { member_id: id }, order }, async (rows) => {
      const theirs = await call.tx.find(plans, { where: { id: rows.map((row) => row.plan_id) } })
      return theirs.map((row) => presentPlan(call, row))
    })
  },
})

/** Archived plans are listed too, with another `status`. */
export const listPlans = operation({
  id: 'plans.list',
  method: 'GET',
  path: '/plans',
  scope: 'plans:read',
  summary: 'List the plans of the network, archived ones included.',
  description: 'Hosts create plans with their payment provider, so the API lists and archives them alone.',
  returns: paged(Plan),
  handle: (call) => call.page(plans, {}, (rows) => rows.map((row) => presentPlan(call, row))),
})

export const showPlan = operation({
  id: 'plans.show',
  method: 'GET',
  path: '/plans/:id/',
  scope: 'plans:read',
  summary: 'Show a plan.',
  description: 'An archived plan is shown too; its `status` says so.',
  returns: Plan,
  errors: [notFound('Plan')],
  handle: async (call) => presentPlan(call, found(await call.tx.get(plans, call.params.id), 'Plan')),
})

export const archivePlan = operation({
  id: 'plans.archive',
  method: 'DELETE',
  path: '/plans/:id/',
  scope: 'plans:write',
  summary: 'Archive a plan: its subscriptions are canceled and access to it ends.',
  description:
    'It sends `MemberSubscriptionCanceledHook` for each live subscription and `MemberRemovedFromPlanHook` for each member of the plan. They stay in the spaces of the plan. Live payments through Apple are a 422, because only the App Store can end them.',
  errors: [notFound('Plan'), invalid('id')],
  emits: ['MemberSubscriptionCanceled', 'MemberRemovedFromPlan'],
  async handle(call) {
    const plan = found(await call.tx.get(plans, call.params.id), 'Plan')
    const open = ['visible', 'hidden', 'pending', 'rejected', 'legacy'] as const
    const archived = await call.tx.update(plans, plan.id, { status: 'archived', ...call.touch() }, { status: open })
    if (!archived) fail(invalid('id'), 'The plan is archived already')
    // After the change, which no purchase can get past: throwing takes it back.
    await refuseApple(call, plan)
    const announceCancel = (subscription: SubscriptionRow, member: MemberRow) =>
      call.emit('MemberSubscriptionCanceled', presentSubscription(call, subscription, member))
    const where = { plan_id: plan.id }
    await forEach(
      () => call.tx.find(planMemberships, { where, order: { by: 'member_id', direction: 'asc' }, limit: batchSize }),
      async (membership) => {
        const member = await lockPayer(call, membership)
        const access = await accessTo(call, membership)
        if (access) await takeOffPlan(call, plan, member, access, (subscription) => announceCancel(subscription, member))
      },
    )
    // A former member has no access any more and may still be paying.
    await forEach(
      () => call.tx.find(subscriptions, { where: { ...where, status: liveStates }, limit: batchSize }),
      async (row) => {
        const member = await lockPayer(call, row)
        const ended = await endSubscription(call, row)
        if (ended) announceCancel(ended, member)
      },
    )
    await forEach(
      () => call.tx.find(purchases, { where: { ...where, revoked_at: null }, limit: batchSize }),
      (row) => revokePurchase(call, row),
    )
  },
})

export const removePlanMember = operation({
  id: 'plans.remove_member',
  method: 'DELETE',
  path: '/plans/:plan_id/members/:id/',
  scope: 'plans:write',
  summary: 'Take a member off a plan by canceling their subscription or purchase.',
  description:
    'All their payments for the plan end immediately, and it sends `MemberRemovedFromPlanHook`. They stay in the spaces of the plan. A purchase through Apple is a 422.',
  errors: [notFound('Plan'), notFound('Member'), invalid('id')],
  emits: ['MemberRemovedFromPlan'],
  async handle(call) {
    const plan = found(await call.tx.get(plans, call.params.plan_id), 'Plan')
    const member = await lockMember(call, call.params.id)
    const key = { plan_id: plan.id, member_id: member.id }
    const access = (await accessTo(call, key)) ?? fail(invalid('id'), 'The member has no access to this plan')
    if (await call.tx.first(purchases, { ...key, revoked_at: null, payment_platform: 'apple' }))
      fail(invalid('id'), 'The member bought this plan in the Apple App Store; it can be given back only there')
    await takeOffPlan(call, plan, member, access)
  },
})

/** Processes each row until `find` finds no more: a processed row no longer matches. */
async function forEach<R>(find: () => Promise<readonly R[]>, work: (row: R) => Promise<unknown>): Promise<void> {
  for (let rows = await find(); rows.length > 0; rows = await find()) for (const row of rows) await work(row)
}

/** A purchase in the App Store can be ended only there, so a plan with such payments has to stay. */
async function refuseApple({ tx }: Emitter<never>, plan: PlanRow): Promise<void> {
  const bought = { plan_id: plan.id, payment_platform: 'apple' } as const
  const live =
    (await tx.first(subscriptions, { ...bought, status: liveStates })) ??
    (await tx.first(purchases, { ...bought, revoked_at: null }))
  if (live) fail(invalid('id'), 'The plan has live Apple in-app payments. It can be archived once they have ended')
}
