/** Plans, which the API lists and archives but does not create. */
import { fail, invalid } from '../../errors.ts'
import {
  BoolInput,
  IdInput,
  integerBetween,
  LongText,
  listUpTo,
  oneOf,
  optional,
  optionalOrNull,
  ShortText,
  Title,
} from '../../fields.ts'
import { kindOfPayment } from '../../records/payment.ts'
import { Plan, PricingType, presentPlan } from '../../records/plan.ts'
import { spacesOf } from '../../rules/membership.ts'
import { orConflict } from '../../storage/lock.ts'
import { spaces } from '../../storage/tables/members.ts'
import { planSpaces, plans } from '../../storage/tables/plans.ts'
import type { MakeNotification } from './define.ts'

export const planNotifications = (notification: MakeNotification) => ({
  /**
   * The host offers a plan. `space_ids` are the spaces that it opens, `amount` is in cents; `free` and `visible` by default.
   * @throws ApiError 422 when a space does not exist
   */
  plan: notification(
    {
      name: Title,
      description: optionalOrNull(LongText),
      status: optional(oneOf('visible', 'hidden', 'pending', 'rejected', 'legacy')),
      pricing_type: optional(PricingType),
      visible_to_members: optional(BoolInput),
      external: optional(BoolInput),
      amount: optional(integerBetween(0, Number.MAX_SAFE_INTEGER)),
      currency: optional(ShortText),
      interval: optional(ShortText),
      has_free_trial: optional(BoolInput),
      space_ids: optional(listUpTo(IdInput, 1000, 'ids')),
    },
    Plan,
    async (call, { space_ids = [], pricing_type = 'free', ...fields }) => {
      const opened = await spacesOf(call.tx, space_ids)
      const missing = space_ids.find((id) => !opened.some((space) => space.id === id))
      if (missing !== undefined) fail(invalid('space_ids'), `space_ids: there is no space ${missing} in this network`)
      const isPaidOnce = kindOfPayment(pricing_type) === 'one-time-payment'
      const plan = await call.tx.insert(plans, {
        ...call.stamp(),
        interval: isPaidOnce ? 'one_time' : 'month',
        ...fields,
        pricing_type,
        multiple: opened.length > 1,
      })
      for (const space of opened) {
        orConflict(await call.tx.lock(spaces, space.id, 'share'), `spaces ${space.id}`)
        await call.tx.insert(planSpaces, { ...call.stamp(), plan_id: plan.id, space_id: space.id })
      }
      return presentPlan(call, plan)
    },
  ),
})
