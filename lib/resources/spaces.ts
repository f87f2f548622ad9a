import { fail, found, invalid, notFound } from '../errors.ts'
import { describe, IdInput, optional, optionalOrNull, paged, request, Title } from '../fields.ts'
import { operation } from '../operation.ts'
import { Space } from '../records/space.ts'
import { changePosition, moveToCollection } from '../rules/collections.ts'
import { activeMember } from '../rules/members.ts'
import { spacesOf } from '../rules/membership.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import { posts } from '../storage/tables/content.ts'
import { spaceMemberships, spaces } from '../storage/tables/members.ts'

const SpaceCreate = request('SpaceRequest', {
  name: describe(Title, 'The name that members see. Several spaces may share one.'),
})

const SpaceUpdate = request('SpaceUpdateRequest', {
  name: describe(optional(Title), 'The new name that members see.'),
  collection_id: describe(
    optionalOrNull(IdInput),
    'The collection to move it to the end of; null removes it from its collection.',
  ),
})

export const listMemberSpaces = operation({
  id: 'member_spaces.list',
  method: 'GET',
  path: '/members/:member_id/spaces',
  scope: 'spaces:read',
  summary: 'List the spaces of a member.',
  description: 'The spaces that the member has joined, by whatever way.',
  returns: paged(Space),
  errors: [notFound('Member')],
  async handle(call) {
    const { id } = await activeMember(call, call.params.member_id)
    const order = { by: 'space_id', direction: 'asc' } as const
    return call.page(spaceMemberships, { where: { member_id: id }, order }, (rows) =>
      spacesOf(
        call.tx,
        rows.map((row) => row.space_id),
      ),
    )
  },
})

export const listSpaces = operation({
  id: 'spaces.list',
  method: 'GET',
  path: '/spaces',
  scope: 'spaces:read',
  summary: 'List the spaces of the network.',
  description: 'All spaces, whether they are in a collection or not.',
  returns: paged(Space),
  handle: ({ page }) => page(spaces),
})

export const createSpace = operation({
  id: 'spaces.create',
  method: 'POST',
  path: '/spaces',
  scope: 'spaces:write',
  summary: 'Create a space.',
  description: 'It is empty and in no collection: move it by `PATCH /spaces/{id}`. No event is sent.',
  status: 201,
  body: SpaceCreate,
  returns: Space,
  errors: [invalid('name')],
  handle: ({ tx, body, stamp }) => tx.insert(spaces, { ...stamp(), ...body }),
})

export const showSpace = operation({
  id: 'spaces.show',
  method: 'GET',
  path: '/spaces/:id',
  scope: 'spaces:read',
  summary: 'Show a space.',
  description: 'Members, posts and courses of the space have operations of their own.',
  returns: Space,
  errors: [notFound('Space')],
  handle: async ({ tx, params }) => found(await tx.get(spaces, params.id), 'Space'),
})

export const updateSpace = operation({
  id: 'spaces.update',
  method: 'PATCH',
  path: '/spaces/:id',
  also: { id: 'spaces.replace', method: 'PUT' },
  scope: 'spaces:write',
  summary: 'Change the name of a space, or move it to the end of another collection; null removes it from its collection.',
  description: 'Only the fields that you send change. The spaces behind it in its former collection move up. No event is sent.',
  body: SpaceUpdate,
  returns: Space,
  errors: [notFound('Space'), invalid('name', 'collection_id')],
  async handle(call) {
    const { tx } = call
    const space = found(await tx.get(spaces, call.params.id), 'Space')
    const { collection_id, ...changes } = call.body
    if (collection_id !== undefined) await moveToCollection(call, space, collection_id)
    return found(await tx.update(spaces, space.id, { ...changes, ...call.touch() }), 'Space')
  },
})

export const deleteSpace = operation({
  id: 'spaces.delete',
  method: 'DELETE',
  path: '/spaces/:id',
  scope: 'spaces:write',
  summary: 'Delete a space without posts, including its memberships and courseworks.',
  description:
    'With a post, poll or event in it, it is a 422: delete those first. Its members stay in the network, and no event is sent for their leaving.',
  errors: [notFound('Space'), invalid('id')],
  async handle({ tx, params }) {
    const space = found(await tx.get(spaces, params.id), 'Space')
    // This locks it: no one writes in it from here on.
    await changePosition(tx, space, { collection_id: null, position: null })
    if (await tx.first(posts, { space_id: space.id }))
      fail(invalid('id'), 'The space still holds posts, polls or events. Delete them first')
    await removeWithDependents(tx, spaces, space.id)
  },
})
