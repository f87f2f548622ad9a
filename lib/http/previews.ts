/**
 * `POST …/previews`: what another request would change. It has a path of its own, so that a server without it responds with 404
 * and writes nothing. It is none of the interface's operations, and a token needs the scope of the request that is previewed.
 */
import * as v from 'valibot'
import { suggestion } from '../base/suggest.ts'
import { fail, invalid, tooLarge } from '../errors.ts'
import { describe, Id, Integer, listOf, publish, record, Text } from '../fields.ts'
import { recordOf, shape } from '../host/arguments.ts'
import { requireWriting } from '../host/preview.ts'
import { parseInput } from '../kernel/check.ts'
import type { OperationRequest } from '../kernel/run.ts'
import type { Limits } from '../limits.ts'
import { type AnyOperation, operation, type Route, routesOf } from '../operation.ts'

const value = v.union([v.string(), v.number(), v.boolean()], 'must be a text, a number or a boolean')
const values = (description: string) =>
  v.optional(
    publish(recordOf(value), { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] }, description }),
  )

const Request = shape({
  operation: publish(v.string('must be the id of an operation'), {
    ...{ type: 'string', example: 'members.delete' },
    description: 'The id of the operation, as in this document.',
  }),
  params: values('The ids in its path.'),
  query: values('Its query.'),
  body: v.optional(publish(v.unknown(), { description: 'Its JSON body.' })),
})

const counts = { type: 'object', additionalProperties: { type: 'integer' } }
/** What it responds with. */
export const PreviewRecord = record('PreviewResponse', {
  rows: describe(
    publish(v.unknown(), { type: 'object', additionalProperties: counts }),
    'By table, how many rows are `inserted`, `changed` and `removed`.',
  ),
  events: describe(publish(v.unknown(), counts), 'By type, how often each event happens.'),
  deliveries: describe(
    listOf(
      v.object({
        endpoint_id: describe(Id, 'The endpoint.'),
        events: describe(Integer, 'How many of the events it gets.'),
      }),
    ),
    'The endpoints that get events.',
  ),
  sentence: describe(Text, 'The changes, for people.'),
  token: describe(Text, 'Sent as `If-Preview`, the request is done only if it still changes the same.'),
})

/** The declaration of the request. */
export const previews = operation({
  id: 'previews.create',
  method: 'POST',
  path: '/previews',
  scope: 'networks:read',
  summary: 'Shows what another request would change.',
  description:
    'Nothing is changed, and no event is sent. The token needs the scope of the other request, and the preview counts as a request. A ' +
    'request that would be refused is refused here in the same way. One that stores a file, or only reads, has no preview.',
  body: Request,
  example: { operation: 'members.delete', params: { id: '254803968000' } },
  returns: PreviewRecord,
  errors: [invalid('operation', 'params'), tooLarge('This changes too many rows')],
  async handle() {
    throw new Error('previews are no operation of the pipeline')
  },
})

export const previewRoute: Route = { operation: previews, id: previews.id, method: 'POST' }

const texts = (given: object = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(given).map(([name, each]) => [name, String(each)]))

/**
 * The request that a body describes.
 * @throws ApiError 422
 */
export function previewedIn(
  operations: readonly AnyOperation[],
  content: unknown,
  limits: Limits,
): Pick<OperationRequest, 'params' | 'query' | 'body'> & { readonly operation: AnyOperation } {
  const given = parseInput(Request, content, limits)
  const routes = routesOf(operations)
  const route = routes.find(({ id }) => id === given.operation)
  if (!route) {
    const known = routes.map(({ id }) => id)
    return fail(
      invalid('operation'),
      `operation must be the id of an operation; ${suggestion(given.operation.slice(0, 60), known)}`,
    )
  }
  requireWriting(operations, route.id)
  const params = texts(given.params)
  const missing = [...route.operation.path.matchAll(/:(\w+)/g)].find(([, name = '']) => !Object.hasOwn(params, name))
  if (missing) fail(invalid('params'), `params.${missing[1]} is required`)
  return { operation: route.operation, params, query: texts(given.query), body: given.body }
}
