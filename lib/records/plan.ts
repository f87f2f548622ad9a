import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Bool, describe, oneOf, orNull, record, Text } from '../fields.ts'
import { type PlanRow, pricingTypes } from '../storage/tables/plans.ts'
import { Permalink, stamps } from './stamps.ts'

const PlanStatus = oneOf('visible', 'hidden', 'pending', 'rejected', 'archived', 'legacy')
export const PricingType = oneOf(...pricingTypes)

export const Plan = record('PlanResponse', {
  ...stamps,
  name: describe(Text, 'The name of the plan.'),
  description: describe(orNull(Text), 'What the plan offers; null if the host does not say.'),
  status: describe(orNull(PlanStatus), 'Where the plan stands. An `archived` plan takes no more members and no more invites.'),
  pricing_type: describe(
    orNull(PricingType),
    'How the plan is paid for. Only `free` and `nonpaid` plans can be given away by the API.',
  ),
  visible_to_members: describe(orNull(Bool), 'Whether the plan is shown to members.'),
  external: describe(orNull(Bool), 'Whether the plan carries membership of the network, as the host has set it.'),
  multiple: describe(orNull(Bool), 'Whether the plan opens several spaces.'),
  permalink: Permalink,
})
export type PlanRecord = v.InferOutput<typeof Plan>

export const presentPlan = (context: Pick<Context, 'permalink'>, row: PlanRow): PlanRecord => ({
  ...row,
  permalink: context.permalink('plans', row.id),
})
