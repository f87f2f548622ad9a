import { fail, found, invalid, notFound } from '../errors.ts'
import { BoolQuery, describe, IdInput, optional, paged } from '../fields.ts'
import { operation } from '../operation.ts'
import { Purchase, presentPurchase, presentPurchases } from '../records/payment.ts'
import { announceRemoval, endPaidAccess, lockPayer, revokePurchase } from '../rules/plans.ts'
import { purchases } from '../storage/tables/plans.ts'

const immediate = describe(BoolQuery, 'End access without a grace period. Access always ends at once here.')

export const listPurchases = operation({
  id: 'purchases.list',
  method: 'GET',
  path: '/purchases',
  scope: 'purchases:read',
  summary: 'List the purchases of the network, without revoked ones.',
  query: { plan_id: optional(IdInput), member_id: optional(IdInput) },
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
  query: { immediate: optional(immediate) },
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
