import type { Context } from '../context.ts'
import { fail, found, invalid, notFound } from '../errors.ts'
import { Colour, IdInput, LongText, optional, optionalOrNull, paged, request, Title } from '../fields.ts'
import { operation } from '../operation.ts'
import { presentMember } from '../records/member.ts'
import { Badge } from '../records/segment.ts'
import { forEachHolder, lockSegment, ownField, segmentOf } from '../rules/segments.ts'
import { addSegment, changedTitle } from '../rules/titles.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import type { Id } from '../storage/table.ts'
import { assets } from '../storage/tables/content.ts'
import { type SegmentRow, segments } from '../storage/tables/custom-fields.ts'

const BadgeCreate = request('BadgeRequest', {
  title: Title,
  description: optionalOrNull(LongText),
  color: optionalOrNull(Colour),
  avatar_id: IdInput,
})

const BadgeUpdate = request('BadgeUpdateRequest', {
  title: optional(Title),
  description: optionalOrNull(LongText),
  color: optionalOrNull(Colour),
  avatar_id: optional(IdInput),
})

export const listBadges = operation({
  id: 'badges.list',
  method: 'GET',
  path: '/badges',
  scope: 'badges:read',
  summary: 'List the badges of the network.',
  returns: paged(Badge),
  handle: ({ page }) => page(segments, { where: { kind: 'badge' } }),
})

export const createBadge = operation({
  id: 'badges.create',
  method: 'POST',
  path: '/badges',
  scope: 'badges:write',
  summary: 'Create a badge.',
  status: 201,
  body: BadgeCreate,
  returns: Badge,
  errors: [invalid('title', 'color', 'avatar_id')],
  async handle(call) {
    const image = await imageOf(call, call.body.avatar_id)
    const custom_field_id = await ownField(call, 'badge')
    const creator_id = call.principal.member_id
    return addSegment(call, { ...call.body, ...image, kind: 'badge', custom_field_id, creator_id })
  },
})

export const showBadge = operation({
  id: 'badges.show',
  method: 'GET',
  path: '/badges/:id/',
  scope: 'badges:read',
  summary: 'Show a badge.',
  returns: Badge,
  errors: [notFound('Badge')],
  handle: (call) => segmentOf(call, 'badge', call.params.id),
})

export const updateBadge = operation({
  id: 'badges.update',
  method: 'PATCH',
  path: '/badges/:id/',
  also: { id: 'badges.replace', method: 'PUT' },
  scope: 'badges:write',
  summary: 'Change the title, description, colour or image of a badge.',
  body: BadgeUpdate,
  returns: Badge,
  errors: [notFound('Badge'), invalid('title', 'color', 'avatar_id')],
  async handle(call) {
    const badge = await lockSegment(call, 'badge', call.params.id)
    const { avatar_id } = call.body
    const title = await changedTitle(call, badge, call.body.title)
    const image = avatar_id === undefined ? {} : await imageOf(call, avatar_id)
    return found(await call.tx.update(segments, badge.id, { ...call.body, ...title, ...image, ...call.touch() }), 'Badge')
  },
})

export const deleteBadge = operation({
  id: 'badges.delete',
  method: 'DELETE',
  path: '/badges/:id/',
  scope: 'badges:write',
  summary: 'Delete a badge; every member who carries it loses it.',
  errors: [notFound('Badge')],
  emits: ['MemberBadgeRemoved'],
  async handle(call) {
    const badge = await lockSegment(call, 'badge', call.params.id)
    await forEachHolder(call, badge.id, (member) =>
      call.emit('MemberBadgeRemoved', { member: presentMember(call, member), badge, network_id: call.network.id }),
    )
    await removeWithDependents(call.tx, segments, badge.id)
  },
})

/** @throws ApiError 422 when the network has no such asset */
async function imageOf({ tx }: Pick<Context, 'tx'>, avatar_id: Id): Promise<Pick<SegmentRow, 'avatar_id' | 'avatar_url'>> {
  const asset = await tx.get(assets, avatar_id)
  if (!asset) fail(invalid('avatar_id'), `avatar_id: there is no asset ${avatar_id} in this network`)
  return { avatar_id: asset.id, avatar_url: asset.url }
}
