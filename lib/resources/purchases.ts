import { fail, found, invalid, notFound } from '../errors.ts'
import { BoolQuery, describe, IdInput, optional, paged } from '../fields.ts'
import { operation } from '../operation.ts'
import { Purchase, presentPurchase, presentPurchases } from '../records/payment.ts'
import { announceRemoval, endPaidAccess, lockPayer, revokePurchase } from '../rules/plans.ts'
import { purchases } from '../storage/tables/plans.ts'

export const listPurchases = operation({
  id: 'purchases.list',
  method: 'GET',
  path: '/purchases',
  scope: 'purchases:read',
  summary: 'List the purchases of the network, without revoked ones.',
  description: 'Single payments alone; subscriptions have a list of their own. The host reports each purchase.',
  query: {
    plan_id: describe(optional(IdInput), 'Only purchases of this plan.'),
    member_id: describe(optional(IdInput), 'Only purchases of this member, who may have left.'),
  },
  returns: paged(Purchase),
  handle: (call) => {
    const { plan_id, member_id } = call.query
    const where = {
      revoked_at: null,
      ...(plan_id === undefined ? {} : { plan_id }),
      ...(member_id === undefined ? {} : { member_id }),
    }
    return call.page(purchases, { where }, (rows) => presentPurchases(call, rows))
  },
})

export const showPurchase = operation({
  id: 'purchases.show',
  method: 'GET',
  path: '/purchases/:id/',
  scope: 'purchases:read',
  summary: 'Show a purchase, also one that was revoked.',
  description: 'It shows what was bought, by whom and when; the plan is shown as it was then.',
  returns: Purchase,
  errors: [notFound('Purchase')],
  async handle(call) {
    const row = found(await call.tx.get(purchases, call.params.id), 'Purchase')
    return found((await presentPurchases(call, [row]))[0], 'Purchase')
  },
})

export const revokePurchaseAccess = operation({
  id: 'purchases.revoke',
  method: 'DELETE',
  path: '/purchases/:id/',
  scope: 'purchases:write',
  summary: 'End the access that a purchase gave.',
  description:
    'It sends `MemberRemovedFromPlanHook` if the member loses the plan; another payment, the host or an invite may still grant it. No money is paid back. A second time it is a 404, and a purchase through Apple is a 422.',
  query: {
    immediate: describe(
      optional(BoolQuery),
      'Whether access ends without a grace period. It always ends immediately here, with or without it.',
    ),
  },
  returns: Purchase,
  errors: [notFound('Purchase'), invalid('id')],
  emits: ['MemberRemovedFromPlan'],
  async handle(call) {
    const row = found(await call.tx.get(purchases, call.params.id), 'Purchase')
    if (row.payment_platform === 'apple')
      fail(invalid('id'), 'The purchase was made in the Apple App Store; it can be given back only there')
    const buyer = await lockPayer(call, row)
    const revoked = found(await revokePurchase(call, row), 'Purchase')
    if (await endPaidAccess(call, revoked)) announceRemoval(call, { kind: 'purchase', row: revoked }, buyer)
    return presentPurchase(call, revoked, buyer)
  },
})
