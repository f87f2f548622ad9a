import * as v from 'valibot'
import { expect, test } from 'vitest'
import { notFound, refused } from '../../lib/errors.ts'
import {
  defaultTextLimits,
  demanded,
  describe,
  Id,
  IdInput,
  listOf,
  oneOf,
  optional,
  optionalOrNull,
  orNull,
  paged,
  record,
  request,
  Text,
  Title,
} from '../../lib/fields.ts'
import { apiDocument, failureStatuses } from '../../lib/openapi/document.ts'
import { schemaWriter } from '../../lib/openapi/schema.ts'
import { operation, routesOf } from '../../lib/operation.ts'
import { createTestCommunity } from '../support/community.ts'
import { publishedPath } from '../support/examples.ts'
import { at, type JsonSchema } from '../support/json-schema.ts'

const settings = { ids: 'string', limits: defaultTextLimits, basePath: '' } as const
const { community } = await createTestCommunity()
const documents = { api: community.openapi(), webhooks: community.openapi('webhooks') }

/** Every value of a key, at any depth. */
const valuesOf = (value: unknown, key: string): unknown[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...valuesOf(inner, key)])

test.each(Object.entries(documents))('every reference of the %s document leads somewhere', (_, document) => {
  for (const reference of valuesOf(document, '$ref'))
    expect(
      Object.keys(at(document, ...String(reference).replace('#/', '').split('/'))).length,
      String(reference),
    ).toBeGreaterThan(0)
})

test.each(Object.entries(documents))('every component of the %s document is used', (_, document) => {
  const used = new Set(valuesOf(document, '$ref'))
  const unused = Object.keys(at(document, 'components', 'schemas')).filter((name) => !used.has(`#/components/schemas/${name}`))
  expect(unused).toEqual([])
})

test.each(Object.entries(documents))('the %s document is JSON and the same every time', (part, document) => {
  expect(JSON.parse(JSON.stringify(document))).toEqual(document)
  expect(JSON.stringify(community.openapi(part as 'api'))).toBe(JSON.stringify(document))
})

test('every route is published under its own id, with its scope, and no id comes twice', () => {
  const ids: string[] = []
  for (const { operation, id, method } of routesOf(community.operations)) {
    const published = at(publishedPath(documents.api, operation.path), method.toLowerCase())
    expect({ id: published['operationId'], security: published['security'], summary: published['summary'] }).toEqual({
      id,
      security: [{ apiToken: [operation.scope] }],
      summary: operation.summary,
    })
    ids.push(id)
  }
  expect(new Set(ids).size).toBe(ids.length)
})

test('no two paths differ only in the names of their parameters, and each names its own', () => {
  const paths = Object.entries(at(documents.api, 'paths'))
  const shapes = paths.map(([path]) => path.replace(/\{\w+\}/g, '{}'))
  expect(new Set(shapes).size).toBe(shapes.length)
  for (const [path, item] of paths)
    expect((item as { parameters: { name: string }[] }).parameters.map(({ name }) => name)).toEqual(
      [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]),
    )
})

test('operations are in the order of their paths, so that the document is the same in every runtime', () => {
  const paths = community.operations.map(({ path }) => path)
  expect(paths).toEqual(paths.toSorted())
})

test('every operation names the events that it may publish', () => {
  const events = Object.keys(at(documents.webhooks, 'webhooks'))
  const named = valuesOf(documents.api, 'x-events').flat()
  expect(named.filter((event) => !events.includes(String(event)))).toEqual([])
  expect(at(documents.api, 'paths', '/admin/v1/networks/{network_id}/members', 'post')['x-events']).toEqual(['MemberJoinedHook'])
})

const said = { summary: 'x.', description: 'y.' } as const

const Colour = oneOf('red', 'green')
const Thing = record('Thing', {
  id: Id,
  title: Text,
  owner: orNull(record('Owner', { id: Id })),
  colour: orNull(Colour),
  parts: listOf(record('Part', { id: orNull(Id) })),
})
const ThingRequest = request('ThingRequest', { title: Title, colour: optional(Colour), parent_id: optionalOrNull(IdInput) })

test('records and requests become components, with null where null may come', () => {
  const writer = schemaWriter(settings)
  expect(writer.of(Thing)).toEqual({ $ref: '#/components/schemas/Thing' })
  expect(writer.of(ThingRequest)).toEqual({ $ref: '#/components/schemas/ThingRequest' })
  const id = { type: 'string', pattern: '^[0-9]{1,16}$', example: '254803968000' }
  expect(writer.components).toEqual({
    Thing: {
      type: 'object',
      properties: {
        id,
        title: { type: 'string' },
        owner: { anyOf: [{ $ref: '#/components/schemas/Owner' }, { type: 'null' }] },
        colour: { type: ['string', 'null'], enum: ['red', 'green', null] },
        parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } },
      },
      required: ['id', 'title', 'owner', 'colour', 'parts'],
    },
    Owner: { type: 'object', properties: { id }, required: ['id'] },
    Part: { type: 'object', properties: { id: { ...id, type: ['string', 'null'] } }, required: ['id'] },
    ThingRequest: {
      type: 'object',
      properties: {
        title: { type: 'string', minLength: 1, maxLength: 255 },
        colour: { type: 'string', enum: ['red', 'green'] },
        parent_id: expect.objectContaining({ type: ['integer', 'string', 'null'] }),
      },
      required: ['title'],
    },
  })
})

test.each([
  { ids: 'string', one: { type: 'string', pattern: '^[0-9]{1,20}$' } },
  { ids: 'number', one: { type: 'integer', format: 'uint64', minimum: 0 } },
] as const)('ids in paths and queries have the type that records give them: $ids', async ({ ids, one }) => {
  const { community } = await createTestCommunity({ ids })
  const document = community.openapi()
  const { type } = at(document, 'components', 'schemas', 'MemberResponse', 'properties', 'id')
  const isId = ({ name }: JsonSchema) => /^id$|_id$/.test(String(name)) && name !== 'network_id'
  const parameters = Object.values(at(document, 'paths')).flatMap((item) =>
    [item, ...Object.values(item as object)].flatMap((described) => (described as JsonSchema)['parameters'] ?? []),
  ) as JsonSchema[]
  const found = parameters.filter(isId)
  expect(found.length).toBeGreaterThan(50)
  expect(found.map(({ schema }) => schema)).toEqual(found.map(() => one))
  expect(one.type).toBe(type)
})

test('option `ids` turns every id of a record into an integer', () => {
  const writer = schemaWriter({ ...settings, ids: 'number' })
  writer.of(Thing)
  expect(at(writer.components, 'Thing', 'properties', 'id')).toEqual({ type: 'integer', minimum: 0, example: 254803968000 })
  expect(at(writer.components, 'Part', 'properties', 'id')['type']).toEqual(['integer', 'null'])
})

test('a description is published wherever null is allowed, with ids as numbers too', () => {
  const about = 'The one before.'
  const Described = record('Described', {
    around: describe(orNull(Id), about),
    within: orNull(describe(Id, about)),
    record: describe(orNull(Thing), about),
    recordWithin: orNull(describe(Thing, about)),
    given: describe(optionalOrNull(IdInput), about),
  })
  const thing = { anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }], description: about }
  for (const ids of ['string', 'number'] as const) {
    const writer = schemaWriter({ ...settings, ids })
    writer.of(Described)
    const { around, within, record, recordWithin, given } = at(writer.components, 'Described', 'properties')
    expect(around).toEqual({ ...writer.of(orNull(Id)), description: about })
    expect(within).toEqual(around)
    expect([record, recordWithin]).toEqual([thing, thing])
    expect(given).toEqual({ type: ['integer', 'string', 'null'], description: about })
  }
})

test("a community's limits are in its document", async () => {
  const limits = { titleCharacters: 7, longTextCharacters: 70, choices: 3 }
  const own = (await createTestCommunity({ limits })).community.openapi()
  const poll = at(own, 'components', 'schemas', 'PollRequest', 'properties')
  expect(at(poll, 'title')['maxLength']).toBe(7)
  expect(at(poll, 'choices')['maxItems']).toBe(3)
  expect(at(poll, 'choices', 'items')['maxLength']).toBe(7)
})

test('a field without a published schema is an error immediately', () => {
  expect(() => schemaWriter(settings).of(v.string())).toThrow('publish() it')
})

test('an optional field that the operation demands is published as required, and so is its body', () => {
  const Demanding = request('Demanding', { title: demanded(optional(Title)) })
  expect(v.safeParse(Demanding, {}).success).toBe(true)
  const base = { ...said, path: '/things', scope: 'options:write', handle: async () => undefined as never } as const
  const document = apiDocument([operation({ ...base, id: 'a', method: 'POST', body: Demanding })], settings)
  expect(at(document, 'components', 'schemas', 'Demanding')).toEqual({
    type: 'object',
    properties: { title: { type: 'string', minLength: 1, maxLength: 255 } },
    required: ['title'],
  })
  expect(at(document, 'paths', '/admin/v1/networks/{network_id}/things', 'post', 'requestBody')['required']).toBe(true)
})

test('only addresses that the server makes itself have the format of a URI', () => {
  const placesOf = (value: unknown, place: string): string[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([name, inner]) =>
          name === 'format' && inner === 'uri' ? [place] : placesOf(inner, `${place}/${name}`),
        )
  expect(placesOf(documents, '')).toEqual(['/api/components/schemas/PageLinks/properties/next'])
})

test('headers are declared where they are sent, and each is used', () => {
  const names = (response: unknown) => Object.keys(at(response, 'headers'))
  const responses = at(documents.api, 'paths', '/admin/v1/networks/{network_id}/comments/{comment_id}/reactions')
  expect(['201', '401', '404', '415', '422', '429'].map((status) => names(at(responses, 'post', 'responses', status)))).toEqual([
    ['Idempotency-Replayed'],
    ['WWW-Authenticate'],
    ['Idempotency-Replayed'],
    [],
    ['Idempotency-Replayed'],
    ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After'],
  ])
  expect(names(at(responses, 'get', 'responses', '200'))).toEqual([])
  const used = new Set(valuesOf(documents.api, '$ref'))
  const declared = Object.keys(at(documents.api, 'components', 'headers'))
  expect(declared).toHaveLength(6)
  expect(declared.filter((name) => !used.has(`#/components/headers/${name}`))).toEqual([])
})

test('an operation is described with everything in its declaration', () => {
  const declared = operation({
    id: 'things.update',
    method: 'PATCH',
    path: '/things/:id/',
    also: { id: 'things.replace', method: 'PUT' },
    scope: 'options:write',
    summary: 'Change a thing.',
    description: 'It stays where it is.',
    query: { colour: optional(Colour) },
    body: ThingRequest,
    returns: Thing,
    errors: [notFound('Thing'), refused('Not yours')],
    emits: ['PostCreated'],
    handle: async () => {
      throw new Error('never called')
    },
  })
  const document = apiDocument([declared], settings)
  const path = at(document, 'paths', '/admin/v1/networks/{network_id}/things/{id}/')
  expect(Object.keys(path)).toEqual(['parameters', 'patch', 'put'])
  expect(at(path, 'put')).toEqual({ ...at(path, 'patch'), operationId: 'things.replace' })
  expect(at(path, 'patch')).toMatchObject({
    operationId: 'things.update',
    summary: 'Change a thing.',
    description: 'It stays where it is.',
    tags: ['options'],
    security: [{ apiToken: ['options:write'] }],
    'x-events': ['PostCreatedHook'],
    parameters: [
      { name: 'colour', in: 'query', required: false, schema: { type: 'string', enum: ['red', 'green'] } },
      { name: 'If-Preview', in: 'header', 'x-extension': true },
    ],
    requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/ThingRequest' } } } },
  })
  expect(Object.keys(at(path, 'patch', 'responses'))).toEqual(['200', '400', '401', '403', '404', '413', '415', '422', '429'])
})

test('the statuses of an operation follow from its declaration', () => {
  const base = { ...said, path: '/things', scope: 'options:read', handle: async () => undefined as never } as const
  const list = operation({ ...base, id: 'a', method: 'GET', returns: paged(Thing) })
  const search = operation({ ...base, id: 'b', method: 'GET', returns: Thing, query: { colour: Colour } })
  const create = operation({ ...base, id: 'c', method: 'POST', body: ThingRequest, returns: Thing })
  const mute = operation({ ...base, id: 'd', method: 'DELETE', query: { colour: Colour } })
  const remove = operation({ ...base, id: 'e', method: 'DELETE', errors: [refused('Not yours')] })
  expect([list, search, create, mute, remove].map(failureStatuses)).toEqual([
    [400, 401, 403, 404, 422, 429],
    [401, 403, 404, 422, 429],
    [400, 401, 403, 404, 413, 415, 422, 429],
    [400, 401, 403, 404, 413, 422, 429],
    [401, 403, 404, 429],
  ])
})
