import { found, invalid, notFound } from '../errors.ts'
import { Colour, describe, LongText, optional, optionalOrNull, paged, request, Title } from '../fields.ts'
import { operation } from '../operation.ts'
import { presentMember } from '../records/member.ts'
import { Tag } from '../records/segment.ts'
import { forEachHolder, lockSegment, ownField, segmentOf } from '../rules/segments.ts'
import { addSegment, changedTitle } from '../rules/titles.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import { segments } from '../storage/tables/custom-fields.ts'

const TagCreate = request('TagRequest', {
  title: describe(Title, 'The title of the tag. No other tag of the network may have it, whatever its case.'),
  description: describe(optionalOrNull(LongText), 'What the tag is for; null if that needs no words.'),
  color: describe(optionalOrNull(Colour), 'The colour as `#RRGGBB`; null for none.'),
})

const TagUpdate = request('TagUpdateRequest', {
  title: describe(optional(Title), 'The new title. No other tag of the network may have it, whatever its case.'),
  description: describe(optionalOrNull(LongText), 'What the tag is for; null or an empty text clears it.'),
  color: describe(optionalOrNull(Colour), 'The new colour as `#RRGGBB`; null or an empty text clears it.'),
})

export const listTags = operation({
  id: 'tags.list',
  method: 'GET',
  path: '/tags',
  scope: 'tags:read',
  summary: 'List the tags of the network.',
  description:
    'All tags that hosts can give, in the order of their creation. `GET /members/{member_id}/tags` lists those of one member.',
  returns: paged(Tag),
  handle: ({ page }) => page(segments, { where: { kind: 'tag' } }),
})

export const createTag = operation({
  id: 'tags.create',
  method: 'POST',
  path: '/tags',
  scope: 'tags:write',
  summary: 'Create a tag.',
  description: 'No member has the tag yet, so no event is sent.',
  status: 201,
  body: TagCreate,
  returns: Tag,
  errors: [invalid('title', 'color')],
  async handle(call) {
    const custom_field_id = await ownField(call, 'tag')
    const creator_id = call.principal.member_id
    return addSegment(call, { ...call.body, kind: 'tag', custom_field_id, creator_id })
  },
})

export const showTag = operation({
  id: 'tags.show',
  method: 'GET',
  path: '/tags/:id/',
  scope: 'tags:read',
  summary: 'Show a tag.',
  description: 'A badge or an option with this id is a 404.',
  returns: Tag,
  errors: [notFound('Tag')],
  handle: (call) => segmentOf(call, 'tag', call.params.id),
})

export const updateTag = operation({
  id: 'tags.update',
  method: 'PATCH',
  path: '/tags/:id/',
  also: { id: 'tags.replace', method: 'PUT' },
  scope: 'tags:write',
  summary: 'Change the title, description or colour of a tag.',
  description: 'Only the fields that you send change. Members keep the tag, and no event is sent.',
  body: TagUpdate,
  returns: Tag,
  errors: [notFound('Tag'), invalid('title', 'color')],
  async handle(call) {
    const tag = await lockSegment(call, 'tag', call.params.id)
    const title = await changedTitle(call, tag, call.body.title)
    return found(await call.tx.update(segments, tag.id, { ...call.body, ...title, ...call.touch() }), 'Tag')
  },
})

export const deleteTag = operation({
  id: 'tags.delete',
  method: 'DELETE',
  path: '/tags/:id/',
  scope: 'tags:write',
  summary: 'Delete a tag; every member who carries it loses it.',
  description: 'It sends `MemberTagRemovedHook` for each member who had the tag.',
  errors: [notFound('Tag')],
  emits: ['MemberTagRemoved'],
  async handle(call) {
    const tag = await lockSegment(call, 'tag', call.params.id)
    await forEachHolder(call, tag.id, (member) =>
      call.emit('MemberTagRemoved', { member: presentMember(call, member), tag, network_id: call.network.id }),
    )
    await removeWithDependents(call.tx, segments, tag.id)
  },
})
