import { fail, invalid, notFound } from '../errors.ts'
import { describe, IdInput, paged, request } from '../fields.ts'
import { operation } from '../operation.ts'
import { presentMember } from '../records/member.ts'
import { Tag } from '../records/segment.ts'
import { activeMember, lockMember } from '../rules/members.ts'
import { assignedSegment, assignedSegments, giveSegment, segmentOf, takeSegment } from '../rules/segments.ts'

const MemberTag = request('MemberTagAddRequest', {
  tag_id: describe(IdInput, 'The tag to give.'),
})

export const listMemberTags = operation({
  id: 'member_tags.list',
  method: 'GET',
  path: '/members/:member_id/tags',
  scope: 'tags:read',
  summary: 'List the tags of a member.',
  description: 'The tags of a former member are gone: they are a 404.',
  returns: paged(Tag),
  errors: [notFound('Member')],
  async handle(call) {
    const { id } = await activeMember(call, call.params.member_id)
    return assignedSegments(call, id, 'tag')
  },
})

export const giveMemberTag = operation({
  id: 'member_tags.create',
  method: 'POST',
  path: '/members/:member_id/tags',
  scope: 'tags:write',
  summary: 'Give a tag to a member; no error if they have it already.',
  description: 'It sends `MemberTagAddedHook` if the member did not have the tag, and responds alike either way.',
  body: MemberTag,
  returns: Tag,
  errors: [notFound('Member'), notFound('Tag')],
  emits: ['MemberTagAdded'],
  async handle(call) {
    const member = await lockMember(call, call.params.member_id)
    const tag = await segmentOf(call, 'tag', call.body.tag_id)
    if (await giveSegment(call, member.id, tag))
      call.emit('MemberTagAdded', { member: presentMember(call, member), tag, network_id: call.network.id })
    return tag
  },
})

export const showMemberTag = operation({
  id: 'member_tags.show',
  method: 'GET',
  path: '/members/:member_id/tags/:tag_id/',
  scope: 'tags:read',
  summary: 'Show a tag of a member.',
  description: 'A tag that exists and that the member does not have is a 404, so this is the way to check for one.',
  returns: Tag,
  errors: [notFound('Member'), notFound('Tag')],
  async handle(call) {
    const { id } = await activeMember(call, call.params.member_id)
    return assignedSegment(call, id, 'tag', call.params.tag_id)
  },
})

export const takeMemberTag = operation({
  id: 'member_tags.delete',
  method: 'DELETE',
  path: '/members/:member_id/tags/:tag_id/',
  scope: 'tags:write',
  summary: 'Take a tag from a member.',
  description: 'It sends `MemberTagRemovedHook`. The tag itself stays, and a tag that the member does not have is a 404.',
  errors: [notFound('Member'), notFound('Tag'), invalid('tag_id')],
  emits: ['MemberTagRemoved'],
  async handle(call) {
    const member = await lockMember(call, call.params.member_id)
    const tag = await assignedSegment(call, member.id, 'tag', call.params.tag_id)
    if (!(await takeSegment(call, member.id, tag.id))) fail(notFound('Tag'))
    call.emit('MemberTagRemoved', { member: presentMember(call, member), tag, network_id: call.network.id })
  },
})
