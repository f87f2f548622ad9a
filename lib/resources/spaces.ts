import { found, invalid, notFound } from '../errors.ts'
import { paged, request, Title } from '../fields.ts'
import { operation } from '../operation.ts'
import { Space } from '../records/space.ts'
import { activeMember } from '../rules/members.ts'
import { spacesOf } from '../rules/membership.ts'
import { spaceMemberships, spaces } from '../storage/tables.ts'

const SpaceCreate = request('SpaceRequest', { name: Title })

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
