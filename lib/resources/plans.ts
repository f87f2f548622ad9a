import { paged } from '../fields.ts'
import { operation } from '../operation.ts'
import { Plan, presentPlan } from '../records/plan.ts'
import { plans } from '../storage/tables.ts'

export const listPlans = operation({
  id: 'plans.list',
  method: 'GET',
  path: '/plans',
  scope: 'plans:read',
  summary: 'List the plans of the network.',
  returns: paged(Plan),
  handle: (call) => call.page(plans, {}, (rows) => rows.map((row) => presentPlan(call, row))),
})
