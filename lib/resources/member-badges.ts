import { fail, notFound } from '../errors.ts'
import { describe, IdInput, paged, request } from '../fields.ts'
import { operation } from '../operation.ts'
import { presentMember } from '../records/member.ts'
import { Badge } from '../records/segment.ts'
import { activeMember, lockMember } from '../rules/members.ts'
import { assignedSegment, assignedSegments, giveSegment, segmentOf, takeSegment } from '../rules/segments.ts'

const MemberBadge = request('MemberBadgeRequest', {
  badge_id: describe(IdInput, 'The badge to give.'),
})

export const listMemberBadges = operation({
  id: 'member_badges.list',
  method: 'GET',
  path: '/members/:member_id/badges',
  scope: 'badges:read',
  summary: 'List the badges of a member.',
  description: 'The badges of a former member are gone: they are a 404.',
  returns: paged(Badge),
  errors: [notFound('Member')],
  async handle(call) {
    const { id } = await activeMember(call, call.params.member_id)
    return assignedSegments(call, id, 'badge')
  },
})

export const giveMemberBadge = operation({
  id: 'member_badges.create',
  method: 'POST',
  path: '/members/:member_id/badges',
  scope: 'badges:write',
  summary: 'Give a badge to a member; no error if they have it already.',
  description: 'It sends `MemberBadgeAddedHook` if the member did not have the badge, and responds alike either way.',
  status: 201,
  body: MemberBadge,
  returns: Badge,
  errors: [notFound('Member'), notFound('Badge')],
  emits: ['MemberBadgeAdded'],
  async handle(call) {
    const member = await lockMember(call, call.params.member_id)
    const badge = await segmentOf(call, 'badge', call.body.badge_id)
    if (await giveSegment(call, member.id, badge))
      call.emit('MemberBadgeAdded', { member: presentMember(call, member), badge, network_id: call.network.id })
    return badge
  },
})

export const showMemberBadge = operation({
  id: 'member_badges.show',
  method: 'GET',
  path: '/members/:member_id/badges/:badge_id/',
  scope: 'badges:read',
  summary: 'Show a badge of a member.',
  description: 'A badge that exists and that the member does not have is a 404, so this is the way to check for one.',
  returns: Badge,
  errors: [notFound('Member'), notFound('Badge')],
  async handle(call) {
    const { id } = await activeMember(call, call.params.member_id)
    return assignedSegment(call, id, 'badge', call.params.badge_id)
  },
})

export const takeMemberBadge = operation({
  id: 'member_badges.delete',
  method: 'DELETE',
  path: '/members/:member_id/badges/:badge_id/',
  scope: 'badges:write',
  summary: 'Take a badge from a member.',
  description: 'It sends `MemberBadgeRemovedHook`. The badge itself stays, and a badge that the member does not have is a 404.',
  errors: [notFound('Member'), notFound('Badge')],
  emits: ['MemberBadgeRemoved'],
  async handle(call) {
    const member = await lockMember(call, call.params.member_id)
    const badge = await assignedSegment(call, member.id, 'badge', call.params.badge_id)
    if (!(await takeSegment(call, member.id, badge.id))) fail(notFound('Badge'))
    call.emit('MemberBadgeRemoved', { member: presentMember(call, member), badge, network_id: call.network.id })
  },
})
