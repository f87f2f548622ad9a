import * as v from 'valibot'
import type { Context } from '../context.ts'
import { fail, found, invalid, notFound } from '../errors.ts'
import {
  Bool,
  BoolInput,
  Id,
  IdInput,
  Integer,
  LongText,
  listUpTo,
  optional,
  optionalOrNull,
  orNull,
  paged,
  publish,
  record,
  request,
  Text,
  Timestamp,
  Title,
} from '../fields.ts'
import { operation } from '../operation.ts'
import { orderSpaces } from '../rules/collections.ts'
import { lockNetwork } from '../rules/members.ts'
import { titleKey } from '../rules/titles.ts'
import type { Id as IdText } from '../storage/table.ts'
import { collections, spaces } from '../storage/tables/members.ts'

/** How many collections a network may have. */
const maxCollections = 1000

const Collection = record('CollectionResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  name: Text,
  description: orNull(Text),
  visible_to_members: Bool,
  position: Integer,
  explorable: Bool,
})

const OrderItem = record('CollectionOrderItemResponse', { id: Id, name: Text, position: Integer })

const CollectionCreate = request('CollectionCreateRequest', {
  name: Title,
  description: optionalOrNull(LongText),
  visible_to_members: optional(BoolInput),
})

const CollectionUpdate = request('CollectionUpdateRequest', {
  name: optional(Title),
  description: optionalOrNull(LongText),
  visible_to_members: optional(BoolInput),
})

const Position = publish(
  v.pipe(v.number('must be a whole number'), v.safeInteger('must be a whole number'), v.minValue(1, 'must be 1 or more')),
  { type: 'integer', minimum: 1, description: 'The position in the collection, from 1.' },
)

/** More places than a body of the default size can name. */
const maxPositions = 20_000

const CollectionOrder = request('CollectionOrderRequest', {
  spaces: listUpTo(request('CollectionSpacePosition', { space_id: IdInput, position: Position }), maxPositions, 'places'),
})

export const listCollections = operation({
  id: 'collections.list',
  method: 'GET',
  path: '/collections',
  scope: 'collections:read',
  summary: 'List the collections of the network.',
  returns: paged(Collection),
  handle: ({ page }) => page(collections),
})

export const createCollection = operation({
  id: 'collections.create',
  method: 'POST',
  path: '/collections',
  scope: 'collections:write',
  summary: 'Create a collection; it comes last.',
  status: 201,
  body: CollectionCreate,
  returns: Collection,
  errors: [invalid('name')],
  async handle(call) {
    const { tx, body } = call
    const name_key = await freeName(call, body.name)
    await lockNetwork(tx)
    if ((await tx.count(collections, {})) >= maxCollections)
      fail(invalid('name'), `A network has at most ${maxCollections} collections. Delete one first`)
    const [last] = await tx.find(collections, { order: { by: 'position', direction: 'desc' }, limit: 1 })
    return tx.insert(collections, { ...call.stamp(), ...body, name_key, position: (last?.position ?? 0) + 1 })
  },
})

export const showCollection = operation({
  id: 'collections.show',
  method: 'GET',
  path: '/collections/:id/',
  scope: 'collections:read',
  summary: 'Show a collection.',
  returns: Collection,
  errors: [notFound('Collection')],
  handle: async ({ tx, params }) => found(await tx.get(collections, params.id), 'Collection'),
})

export const updateCollection = operation({
  id: 'collections.update',
  method: 'PATCH',
  path: '/collections/:id/',
  also: { id: 'collections.replace', method: 'PUT' },
  scope: 'collections:write',
  summary: 'Change the name, description or visibility of a collection.',
  body: CollectionUpdate,
  returns: Collection,
  errors: [notFound('Collection'), invalid('name')],
  async handle(call) {
    const { tx, body } = call
    const collection = found(await tx.get(collections, call.params.id), 'Collection')
    const key = body.name === undefined ? {} : { name_key: await freeName(call, body.name, collection.id) }
    return found(await tx.update(collections, collection.id, { ...body, ...key, ...call.touch() }), 'Collection')
  },
})

export const deleteCollection = operation({
  id: 'collections.delete',
  method: 'DELETE',
  path: '/collections/:id/',
  scope: 'collections:write',
  summary: 'Delete a collection that holds no spaces.',
  errors: [notFound('Collection'), invalid('id')],
  async handle({ tx, params }) {
    const collection = found(await tx.lock(collections, params.id, 'update'), 'Collection')
    const order = { by: 'position', direction: 'asc' } as const
    if ((await tx.find(spaces, { where: { collection_id: collection.id }, order, limit: 1 })).length > 0)
      fail(invalid('id'), 'The collection still holds spaces. Move or delete them first')
    await tx.remove(collections, collection.id)
  },
})

export const orderCollection = operation({
  id: 'collections.order',
  method: 'PUT',
  path: '/collections/:id/order',
  scope: 'collections:write',
  summary: 'Move spaces of a collection to other positions; the others keep their order in the remaining positions.',
  body: CollectionOrder,
  returns: paged(OrderItem),
  errors: [notFound('Collection'), invalid('spaces')],
  async handle(call) {
    const collection = found(await call.tx.get(collections, call.params.id), 'Collection')
    const ordered = await orderSpaces(call.tx, collection, call.body.spaces)
    // A link to a next page would have to be called by a PUT.
    return call.whole(ordered.map(({ id, name }, index) => ({ id, name, position: index + 1 })))
  },
})

/**
 * The comparison key of a name, if no other collection has it.
 * @throws ApiError 422
 */
async function freeName({ tx }: Pick<Context, 'tx'>, name: string, own?: IdText): Promise<string> {
  const name_key = titleKey(name)
  const holder = await tx.first(collections, { name_key })
  return holder && holder.id !== own ? fail(invalid('name'), 'name has already been taken') : name_key
}
