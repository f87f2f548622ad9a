import type { Context } from '../context.ts'
import { fail, found, invalid, notFound } from '../errors.ts'
import { Colour, describe, IdInput, LongText, optional, optionalOrNull, paged, request, Title } from '../fields.ts'
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
  title: describe(Title, 'The title of the badge. No other badge of the network may have it, whatever its case.'),
  description: describe(optionalOrNull(LongText), 'What the badge stands for; null if that needs no words.'),
  color: describe(optionalOrNull(Colour), 'The colour as `#RRGGBB`; null for none.'),
  avatar_id: describe(IdInput, 'The picture: the id of an uploaded asset of this network.'),
})

const BadgeUpdate = request('BadgeUpdateRequest', {
  title: describe(optional(Title), 'The new title. No other badge of the network may have it, whatever its case.'),
  description: describe(optionalOrNull(LongText), 'What the badge stands for; null or an empty text clears it.'),
  color: describe(optionalOrNull(Colour), 'The new colour as `#RRGGBB`; null or an empty text clears it.'),
  avatar_id: describe(optional(IdInput), 'Another picture: the id of an uploaded asset of this network.'),
})

export const listBadges = operation({
  id: 'badges.list',
  method: 'GET',
  path: '/badges',
  scope: 'badges:read',
  summary: 'List the badges of the network.',
  description:
    'All badges that hosts can give, in the order of their creation. `GET /members/{member_id}/badges` lists those of one member.',
  returns: paged(Badge),
  handle: ({ page }) => page(segments, { where: { kind: 'badge' } }),
})

export const createBadge = operation({
  id: 'badges.create',
  method: 'POST',
  path: '/badges',
  scope: 'badges:write',
  summary: 'Create a badge.',
  description: 'Upload the picture first: the badge needs its `avatar_id`. No member has the badge yet, so no event is sent.',
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
  description: 'A tag or an option with this id is a 404.',
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
  description: 'Only the fields that you send change. Members keep the badge, and no event is sent.',
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
  description: 'It sends `MemberBadgeRemovedHook` for each member who had the badge. The picture stays an asset.',
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
