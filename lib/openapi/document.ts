/** The OpenAPI 3.1 document of the API, made from the declarations, so that it cannot differ from the served API. */
import type * as v from 'valibot'
import { catalogue } from '../events/catalogue.ts'
import { isExtension, isPaged, type JsonSchema } from '../fields.ts'
import { mostCounted } from '../kernel/page.ts'
import { below } from '../kernel/wire.ts'
import { type AnyOperation, groupOf, groups, routesOf } from '../operation.ts'
import type { Settings } from '../settings.ts'
import { exampleOf } from './example.ts'
import { type Document, idInPath, info, json } from './parts.ts'
import { idParameter, isOptional, type SchemaSettings, type SchemaWriter, schemaWriter } from './schema.ts'

/** The responses that any operation may give, by status. */
const reasons: Readonly<Record<number, string>> = {
  400: 'The request is malformed: a page that is not a number, a body that is not JSON.',
  401: 'The API token is missing, unknown, revoked or expired.',
  403: 'The API token lacks the scope, or the record may not be changed this way.',
  404: 'There is no such record in this network, or no such network.',
  409: 'The record is in a state that does not allow it.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  422: 'A value is refused; the sentence names its field.',
  429: 'Too many requests in this minute.',
}

const neitherForm = 'The body is neither a form nor JSON.'

const errorRef = { $ref: '#/components/schemas/ErrorResponse' }
const accessErrorRef = { $ref: '#/components/schemas/AuthErrorResponse' }

/**
 * The document of the API.
 * @param operations the registry
 * @param extensions requests that the interface does not have
 */
export function apiDocument(
  operations: readonly AnyOperation[],
  settings: SchemaSettings & Pick<Settings, 'basePath'> & Partial<Pick<Settings, 'publicUrl'>>,
  extensions: readonly AnyOperation[] = [],
): Document {
  const writer = schemaWriter(settings)
  const paths: Record<string, Record<string, unknown>> = {}
  const published = new Map<string, string>()
  for (const { operation, id, method } of routesOf([...operations, ...extensions])) {
    // Paths that differ only in the name of a parameter are one path, under the names that come first.
    const shape = operation.path.replace(placeholder, '{}')
    const named = published.get(shape) ?? operation.path
    published.set(shape, named)
    const path = `/admin/v1/networks/{network_id}${named.replace(placeholder, '{$1}')}`
    paths[path] = {
      parameters: pathParameters(named, settings.ids),
      ...paths[path],
      [method.toLowerCase()]: {
        ...describeOperation(operation, id, writer),
        // Which scope they need, their descriptions say.
        ...(extensions.includes(operation) ? { 'x-extension': true, security: [{ apiToken: [] }] } : {}),
      },
    }
  }
  return {
    openapi: '3.1.1',
    info: { ...info, description: 'Members, spaces, posts, polls, tags, badges, plans and events of one community network.' },
    servers: [{ url: serverUrl(settings) }],
    tags: [...new Set(operations.map(groupOf))].sort().map((name) => ({ name, description: groups[name] })),
    paths,
    components: {
      securitySchemes: {
        apiToken: { type: 'http', scheme: 'bearer', description: 'An API token of the network. Roles are its scopes.' },
      },
      schemas: { ...writer.components, ...sharedSchemas },
      headers,
    },
  }
}

const placeholder = /:(\w+)/g

function describeOperation(operation: AnyOperation, id: string, writer: SchemaWriter) {
  const events = operation.emits.filter((name) => Object.hasOwn(catalogue, name)).map((name) => `${name}Hook`)
  return {
    operationId: id,
    summary: operation.summary,
    description: operation.description,
    ...(operation.deprecated ? { deprecated: true } : {}),
    tags: [groupOf(operation)],
    security: [{ apiToken: [operation.scope] }],
    ...(events.length > 0 ? { 'x-events': events } : {}),
    parameters: [
      ...queryParameters(operation, writer),
      ...(operation.method === 'POST' ? [idempotencyKey] : []),
      ...(operation.method === 'GET' || operation.prepare ? [] : [ifPreview]),
    ],
    ...(operation.body
      ? { requestBody: { required: requiresBody(operation.body), content: bodyContent(operation, operation.body, writer) } }
      : {}),
    responses: Object.fromEntries([...successResponses(operation, writer), ...failureResponses(operation)]),
  }
}

// A form is published in one form only: of several, generated clients choose JSON, which holds no file. The server takes all.
function bodyContent({ form, example }: AnyOperation, body: v.GenericSchema, writer: SchemaWriter) {
  const schema = writer.of(body)
  const media = { schema, example: example ?? exampleOf(schema, writer.components) }
  return form ? { 'multipart/form-data': media } : { 'application/json': media }
}

const requiresBody = (body: v.GenericSchema): boolean =>
  Object.values((body as { entries?: v.ObjectEntries }).entries ?? {}).some((field) => !isOptional(field as v.GenericSchema))

function successResponses(operation: AnyOperation, writer: SchemaWriter): [string, unknown][] {
  const { status, returns, noContent } = operation
  const sent = headersOf(operation, status)
  if (!returns) return [[String(status), { description: 'Done.', ...sent }]]
  const schema = isPaged(returns) ? pageOf(writer.of(returns.paged)) : writer.of(returns)
  const description = isPaged(returns) ? 'A page of records.' : 'The record.'
  const content = { 'application/json': { schema, example: exampleOf(schema, { ...writer.components, ...sharedSchemas }) } }
  const responses: [string, unknown][] = [[String(status), { description, ...sent, content }]]
  if (noContent) responses.push(['204', { description: noContent, ...sent }])
  return responses
}

const pageOf = (item: JsonSchema): JsonSchema => ({
  type: 'object',
  required: ['items', 'links'],
  properties: {
    items: { type: 'array', items: item, description: 'The records of this page.' },
    links: { $ref: '#/components/schemas/PageLinks', description: 'Where this page and the next one are.' },
    meta: {
      $ref: '#/components/schemas/PageMeta',
      description: 'The numbers of the whole list, with `count=true`.',
      'x-extension': true,
    },
  },
})

/** Every status with which an operation may fail, in order. */
export function failureStatuses(operation: AnyOperation): number[] {
  const statuses = new Set([401, 403, 404, 429, ...operation.errors.map((failure) => failure.status)])
  if (isPaged(operation.returns)) for (const status of [400, 422]) statuses.add(status)
  if (operation.body) for (const status of [400, 413, 415, 422]) statuses.add(status)
  if (operation.query) statuses.add(422)
  // A query that may also be a body, and an `Idempotency-Key`, can be malformed in further ways.
  if (operation.query && operation.method !== 'GET') for (const status of [400, 413]) statuses.add(status)
  if (operation.method === 'POST') for (const status of [400, 422]) statuses.add(status)
  return [...statuses].sort((a, b) => a - b)
}

const failureResponses = (operation: AnyOperation): [string, unknown][] =>
  failureStatuses(operation).map((status) => {
    const schema = [401, 429].includes(status)
      ? accessErrorRef
      : status === 403
        ? { anyOf: [accessErrorRef, errorRef] }
        : errorRef
    const description = operation.form && status === 415 ? neitherForm : (reasons[status] ?? 'Refused.')
    return [String(status), { description, ...headersOf(operation, status), content: json(schema) }]
  })

const header = (description: string, schema: JsonSchema) => ({ description, schema })
const seconds = { type: 'integer', minimum: 1 }

/** Headers of responses, by the names of their components. */
const headers = {
  'Idempotency-Replayed': header('The first response to this `Idempotency-Key`, sent again.', { type: 'string', const: 'true' }),
  'RateLimit-Limit': header('Requests a minute.', { type: 'integer', minimum: 0 }),
  'RateLimit-Remaining': header('How many of them are left.', { type: 'integer', minimum: 0 }),
  'RateLimit-Reset': header('Whole seconds until the count starts over.', seconds),
  'Retry-After': header('Whole seconds to wait before the next try.', seconds),
  'WWW-Authenticate': header('The way to send a token.', { type: 'string', const: 'Bearer' }),
}

// Of deprecated operations, which are few: they are no components, because unused components are an error.
const deprecatedSince = header('Since when the operation is deprecated: `@` and seconds since 1970.', {
  type: 'string',
  pattern: '^@[0-9]+$',
})
const sunset = header('From when the operation may be gone, as a date of HTTP.', { type: 'string' })

const headersByStatus: Readonly<Record<number, readonly (keyof typeof headers)[]>> = {
  401: ['WWW-Authenticate'],
  429: ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After'],
}

/** The headers of the responses with a status. Under an `Idempotency-Key` the refusals of the operation itself are kept too. */
function headersOf({ method, errors, deprecated }: AnyOperation, status: number) {
  const mayBeKept = method === 'POST' && (status < 300 || errors.some((failure) => failure.status === status))
  const names = [...(headersByStatus[status] ?? []), ...(mayBeKept ? ['Idempotency-Replayed'] : [])]
  if (names.length === 0 && !deprecated) return {}
  return {
    headers: {
      ...Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
      ...(deprecated ? { Deprecation: deprecatedSince } : {}),
      ...(deprecated?.sunset ? { Sunset: sunset } : {}),
    },
  }
}

function pathParameters(path: string, ids: SchemaSettings['ids']): unknown[] {
  const subdomain = { type: 'string', pattern: '^[a-z][a-z0-9-]+$' }
  const network = {
    name: 'network_id',
    in: 'path',
    required: true,
    description: 'The network, by its id or its subdomain.',
    schema:
      ids === 'number'
        ? { anyOf: [idParameter(ids), subdomain] }
        : { type: 'string', pattern: '^(?:[0-9]{1,20}|[a-z][a-z0-9-]+)$' },
  }
  const parameters = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: idInPath(path, name),
    schema: idParameter(ids),
  }))
  return [network, ...parameters]
}

function queryParameters(operation: AnyOperation, writer: SchemaWriter): Record<string, unknown>[] {
  const declared = Object.entries(operation.query ?? {}).map(([name, field]) => {
    const { description, ...schema } = writer.ofParameter(field as v.GenericSchema)
    const required = !isOptional(field as v.GenericSchema)
    const extension = isExtension(field as v.GenericSchema) ? { 'x-extension': true } : {}
    return { name, in: 'query', required, ...(description === undefined ? {} : { description }), ...extension, schema }
  })
  const parameters: Record<string, unknown>[] = isPaged(operation.returns) ? [...declared, ...pagingParameters] : declared
  // Generated clients have parameters by their place.
  return parameters.toSorted((a, b) => Number('x-extension' in a) - Number('x-extension' in b))
}

const pagingParameters = [
  {
    name: 'page',
    in: 'query',
    required: false,
    description: 'The page, from 1.',
    schema: { type: 'integer', format: 'uint64', minimum: 1, default: 1 },
  },
  {
    name: 'per_page',
    in: 'query',
    required: false,
    description: 'Records on a page; more than 100 counts as 100.',
    schema: { type: 'integer', format: 'uint64', minimum: 1, default: 25 },
  },
  {
    name: 'count',
    in: 'query',
    required: false,
    description: `Whether to count the records on all pages, up to ${mostCounted}.`,
    'x-extension': true,
    schema: { type: 'boolean', default: false },
  },
]

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The first response to a key is stored for 24 hours; the same request gets it again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const ifPreview = {
  name: 'If-Preview',
  in: 'header',
  required: false,
  description: 'The token of a preview: the request is done only if it still changes the same, and is a 409 otherwise.',
  'x-extension': true,
  schema: { type: 'string' },
}

const sharedSchemas: Readonly<Record<string, JsonSchema>> = {
  PageLinks: {
    type: 'object',
    required: ['self', 'next'],
    properties: {
      self: { type: 'string', description: 'This page, with the query as it was sent.' },
      next: { type: ['string', 'null'], format: 'uri', description: 'The next page; null on the last.' },
    },
  },
  PageMeta: {
    type: 'object',
    required: ['current_page', 'per_page', 'total_count', 'total_pages'],
    properties: {
      current_page: { type: 'integer', description: 'The page, from 1.' },
      per_page: { type: 'integer', description: 'Records on a page.' },
      total_count: { type: 'integer', maximum: mostCounted, description: 'Records on all pages, as far as they were counted.' },
      total_pages: { type: 'integer', description: 'Pages with these records.' },
      total_count_capped: { type: 'boolean', const: true, description: 'Set if there are more records than `total_count`.' },
    },
    'x-extension': true,
  },
  ErrorResponse: {
    type: 'object',
    required: ['error'],
    properties: { error: { type: 'string', description: 'A sentence that names the field or the record.' } },
  },
  AuthErrorResponse: {
    type: 'object',
    required: ['error', 'message', 'status'],
    properties: {
      error: {
        type: 'string',
        enum: ['unauthorized', 'token_expired', 'forbidden', 'https_required', 'rate limit exceeded'],
        description: 'What is wrong, for programs.',
      },
      message: { type: 'string', description: 'What is wrong and what to do about it, for people.' },
      status: { type: 'integer', description: 'The status of the response once more.' },
    },
  },
}

function serverUrl({ basePath, publicUrl }: Pick<Settings, 'basePath'> & Partial<Pick<Settings, 'publicUrl'>>): string {
  if (!publicUrl) return basePath || '/'
  const { origin, path } = below(publicUrl, basePath, basePath)
  return origin + path
}
