import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Bool, Id, oneOf, orNull, record, Text, Timestamp, Url } from '../fields.ts'
import { type PlanRow, pricingTypes } from '../storage/tables/plans.ts'

const PlanStatus = oneOf('visible', 'hidden', 'pending', 'rejected', 'archived', 'legacy')
export const PricingType = oneOf(...pricingTypes)

export const Plan = record('PlanResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  name: Text,
  description: orNull(Text),
  status: orNull(PlanStatus),
  pricing_type: orNull(PricingType),
  visible_to_members: orNull(Bool),
  external: orNull(Bool),
  multiple: orNull(Bool),
  permalink: Url,
})
export type PlanRecord = v.InferOutput<typeof Plan>

/** A plan's record. */
export function presentPlan(context: Pick<Context, 'permalink'>, row: PlanRow): PlanRecord {
  return {
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    name: row.name,
    description: row.description,
    status: row.status,
    pricing_type: row.pricing_type,
    visible_to_members: row.visible_to_members,
    external: row.external,
    multiple: row.multiple,
    permalink: context.permalink('plans', row.id),
  }
}
