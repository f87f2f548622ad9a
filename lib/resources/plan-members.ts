import { found, notFound } from '../errors.ts'
import { paged } from '../fields.ts'
import { operation } from '../operation.ts'
import { Member, presentMember } from '../records/member.ts'
import { members, planMemberships, plans } from '../storage/tables.ts'

export const listPlanMembers = operation({
  id: 'plan_members.list',
  method: 'GET',
  path: '/plans/:plan_id/members',
  scope: 'members:read',
  summary: 'List the members of a plan.',
  returns: paged(Member),
  errors: [notFound('Plan')],
  async handle(call) {
    const { id } = found(await call.tx.get(plans, call.params.plan_id), 'Plan')
    const order = { by: 'member_id', direction: 'asc' } as const
    return call.page(planMemberships, { where: { plan_id: id }, order }, async (rows) => {
      const found = await call.tx.find(members, { where: { id: rows.map((row) => row.member_id) } })
      return found.map((row) => presentMember(call, row))
    })
  },
})
