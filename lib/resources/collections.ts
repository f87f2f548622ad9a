import * as v from 'valibot'
import type { Context } from '../context.ts'
import { fail, found, invalid, notFound } from '../errors.ts'
import {
  Bool,
  BoolInput,
  byDefault,
  describe,
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
  Title,
} from '../fields.ts'
import { operation } from '../operation.ts'
import { stamps } from '../records/stamps.ts'
import { orderSpaces } from '../rules/collections.ts'
import { lockNetwork } from '../rules/members.ts'
import { titleKey } from '../rules/titles.ts'
import type { Id as IdText } from '../storage/table.ts'
import { collections, spaces } from '../storage/tables/members.ts'

/** How many collections a network may have. */
const maxCollections = 1000

const Collection = record('CollectionResponse', {
  ...stamps,
  name: describe(Text, 'The name that members see. No two collections of the network share one, whatever its case.'),
  description: describe(orNull(Text), 'What the collection holds, in words; null if that needs none.'),
  visible_to_members: describe(Bool, 'Whether members see the collection.'),
  position: describe(Integer, 'The place among the collections of the network, ascending; a new one comes last.'),
  explorable: describe(Bool, 'Whether the collection is offered to people who look for spaces. No operation sets it.'),
})

const OrderItem = record('CollectionOrderItemResponse', {
  id: describe(Id, 'The id of the space.'),
  name: describe(Text, 'The name of the space.'),
  position: describe(Integer, 'The place of the space in the collection, from 1.'),
})

const CollectionCreate = request('CollectionCreateRequest', {
  name: describe(Title, 'The name. No other collection of the network may have it, whatever its case.'),
  description: describe(optionalOrNull(LongText), 'What the collection holds, in words.'),
  visible_to_members: describe(byDefault(optional(BoolInput), true), 'Whether members see the collection; true by default.'),
})

const CollectionUpdate = request('CollectionUpdateRequest', {
  name: describe(optional(Title), 'The new name. No other collection of the network may have it, whatever its case.'),
  description: describe(optionalOrNull(LongText), 'What the collection holds, in words; null or an empty text clears it.'),
  visible_to_members: describe(optional(BoolInput), 'Whether members see the collection.'),
})

const Position = publish(
  v.pipe(v.number('must be a whole number'), v.safeInteger('must be a whole number'), v.minValue(1, 'must be 1 or more')),
  { type: 'integer', minimum: 1 },
)

/** More places than a body of the default size can name. */
const maxPositions = 20_000

const CollectionOrder = request('CollectionOrderRequest', {
  spaces: describe(
    listUpTo(
      request('CollectionSpacePosition', {
        space_id: describe(IdInput, 'A space of this collection, named once.'),
        position: describe(
          Position,
          'The place that the space gets, from 1 to the number of spaces in the collection; each is given once.',
        ),
      }),
      maxPositions,
      'places',
    ),
    'The spaces that move, each with its new position; the others fill the remaining ones in their order.',
  ),
})

export const listCollections = operation({
  id: 'collections.list',
  method: 'GET',
  path: '/collections',
  scope: 'collections:read',
  summary: 'List the collections of the network.',
  description: 'Collections group spaces for members. `position` gives the order in which to show them.',
  returns: paged(Collection),
  handle: ({ page }) => page(collections),
})

export const createCollection = operation({
  id: 'collections.create',
  method: 'POST',
  path: '/collections',
  scope: 'collections:write',
  summary: 'Create a collection; it comes last.',
  description: 'It is empty at first: put spaces into it by `PATCH /spaces/{id}`. A network has at most 1,000 collections.',
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
  description: 'The spaces of a collection name it in their `collection_id`.',
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
  description: 'Only the fields that you send change. Its spaces and its position stay.',
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
  description: 'With a space in it, it is a 422: move or delete the spaces first.',
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
  description:
    'Name only the spaces that move. All of it happens or none, and the response has every space of the collection on one page.',
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
