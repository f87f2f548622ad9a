import * as v from 'valibot'
import { badRequest, fail, found, invalid, notFound } from '../errors.ts'
import { describe, IdInput, optional, paged, publish } from '../fields.ts'
import { operation } from '../operation.ts'
import { presentSubscription, presentSubscriptions, Subscription } from '../records/payment.ts'
import { endPaidAccess, endSubscription, liveStates, lockPayer } from '../rules/plans.ts'
import { subscriptions } from '../storage/tables/plans.ts'

const StatusFilter = publish(v.fallback(v.optional(v.picklist(['canceled'])), undefined), {
  type: 'string',
  enum: ['canceled'],
})

// Any text, so that a wrong one is the 400 that the interface documents and not the 422 of other parameters.
const When = publish(v.optional(v.string(), 'end_of_billing_cycle'), {
  type: 'string',
  enum: ['now', 'end_of_billing_cycle'],
  default: 'end_of_billing_cycle',
})

export const listSubscriptions = operation({
  id: 'subscriptions.list',
  method: 'GET',
  path: '/subscriptions',
  scope: 'subscriptions:read',
  summary: 'List the live subscriptions, or those that have ended.',
  description: 'A subscription that is canceled to the end of its period is live until then. The host reports each subscription.',
  query: {
    status: describe(
      StatusFilter,
      '`canceled` lists those that have ended; left out, or with any other value, those that are live.',
    ),
    member_id: describe(optional(IdInput), 'Only subscriptions of this member, who may have left.'),
  },
  returns: paged(Subscription),
  handle: (call) => {
    const { status, member_id } = call.query
    const where = { status: status ?? liveStates, ...(member_id === undefined ? {} : { member_id }) }
    return call.page(subscriptions, { where }, (rows) => presentSubscriptions(call, rows))
  },
})

export const showSubscription = operation({
  id: 'subscriptions.show',
  method: 'GET',
  path: '/subscriptions/:id',
  scope: 'subscriptions:read',
  summary: 'Show a subscription, live or ended.',
  description: 'It shows what was bought, by whom and for which period; the plan is shown as it was then.',
  returns: Subscription,
  errors: [notFound('Subscription')],
  async handle(call) {
    const row = found(await call.tx.get(subscriptions, call.params.id), 'Subscription')
    return found((await presentSubscriptions(call, [row]))[0], 'Subscription')
  },
})

export const cancelSubscription = operation({
  id: 'subscriptions.cancel',
  method: 'DELETE',
  path: '/subscriptions/:id',
  scope: 'subscriptions:write',
  summary: 'Cancel a subscription, now or at the end of its billing cycle.',
  description:
    'It sends `MemberSubscriptionCanceledHook`. Without a known period it ends immediately. A second time it is a 422. No money is paid back.',
  query: {
    when: describe(
      When,
      '`end_of_billing_cycle`, the default, leaves the plan open until the paid period ends; `now` ends it immediately.',
    ),
  },
  returns: Subscription,
  errors: [badRequest('when must be now or end_of_billing_cycle'), notFound('Subscription'), invalid('id')],
  emits: ['MemberSubscriptionCanceled'],
  async handle(call) {
    const { when } = call.query
    if (when !== 'now' && when !== 'end_of_billing_cycle')
      fail(badRequest(`when must be now or end_of_billing_cycle, got ${JSON.stringify(when.slice(0, 100))}`))
    const subscriber = await lockPayer(call, found(await call.tx.get(subscriptions, call.params.id), 'Subscription'))
    const row = found(await call.tx.get(subscriptions, call.params.id), 'Subscription')
    const already = () => fail(invalid('id'), 'The subscription is canceled already')
    if (row.status !== 'active') return already()
    // Paid for until the end of its period; without one there is nothing to wait for.
    const isPaidOn = row.current_period_end !== null && row.current_period_end > call.now
    const changes = { status: 'ending', canceled_at: call.now, ...call.touch() } as const
    const canceled =
      when === 'end_of_billing_cycle' && isPaidOn
        ? await call.tx.update(subscriptions, row.id, changes, { status: 'active' })
        : await endSubscription(call, row)
    if (!canceled) return already()
    if (canceled.status === 'canceled') await endPaidAccess(call, canceled)
    const record = presentSubscription(call, canceled, subscriber)
    call.emit('MemberSubscriptionCanceled', record)
    return record
  },
})
