import { fail, found, invalid, notFound } from '../errors.ts'
import { IdInput, optional, optionalOrNull, paged, request, Title } from '../fields.ts'
import { operation } from '../operation.ts'
import { Space } from '../records/space.ts'
import { changePosition, moveToCollection } from '../rules/collections.ts'
import { activeMember } from '../rules/members.ts'
import { spacesOf } from '../rules/membership.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import { posts } from '../storage/tables/content.ts'
import { spaceMemberships, spaces } from '../storage/tables/members.ts'

const SpaceCreate = request('SpaceRequest', { name: Title })

const SpaceUpdate = request('SpaceUpdateRequest', { name: optional(Title), collection_id: optionalOrNull(IdInput) })

export const listMemberSpaces = operation({
  id: 'member_spaces.list',
  method: 'GET',
  path: '/members/:member_id/spaces',
  scope: 'spaces:read',
  summary: 'List the spaces of a member.',
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
  returns: paged(Space),
  handle: ({ page }) => page(spaces),
})

export const createSpace = operation({
  id: 'spaces.create',
  method: 'POST',
  path: '/spaces',
  scope: 'spaces:write',
  summary: 'Create a space.',
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
  errors: [notFound('Space'), invalid('id')],
  async handle({ tx, params }) {
    const space = found(await tx.get(spaces, params.id), 'Space')
    // This locks it: nobody writes in it from here on.
    await changePosition(tx, space, { collection_id: null, position: null })
    if (await tx.first(posts, { space_id: space.id }))
      fail(invalid('id'), 'The space still holds posts, polls or events. Delete them first')
    await removeWithDependents(tx, spaces, space.id)
  },
})
