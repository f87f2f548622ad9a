/** Bodies, for every route that takes one: what is refused, what is tolerated, and that nothing makes a fault. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { engine } from '../support/engines.ts'
import { requestSchemas } from '../support/examples.ts'
import { at, type JsonSchema, problemsOf, resolve } from '../support/json-schema.ts'
import { rounds } from '../support/rounds.ts'
import { createSeededCommunity } from '../support/seed.ts'
import { isThroughClient } from '../support/through-client.ts'
import { document, exampleOf, reaching, routeIds, routesWhere, sendExample } from './support.ts'

const withBody = routesWhere(({ body }) => body !== undefined)
const bodySchema = (id: string): JsonSchema => requestSchemas(document, exampleOf(id).route).body ?? {}
const fieldsOf = (id: string): [string, JsonSchema][] =>
  Object.entries((bodySchema(id)['properties'] ?? {}) as Record<string, JsonSchema>).map(([name, field]) => [
    name,
    resolve(document, field),
  ])
const requiredOf = (id: string): readonly string[] => (bodySchema(id)['required'] ?? []) as readonly string[]
/** The status without a required field. The interface description has a 400 for an upload. */
const statusWithout = (id: string): number => (exampleOf(id).route.operation.form ? 400 : 422)
const without = (body: object | undefined, name: string) =>
  Object.fromEntries(Object.entries(body ?? {}).filter(([key]) => key !== name))

const typesOf = ({ type, anyOf }: JsonSchema): readonly unknown[] =>
  Array.isArray(anyOf) ? anyOf.flatMap((one) => typesOf(resolve(document, one))) : [type].flat()

/** Values of every JSON type that a field does not have. */
const wrongTypes = (field: JsonSchema): readonly unknown[] => {
  const types = typesOf(field)
  const ofType: Readonly<Record<string, readonly unknown[]>> = {
    boolean: [true],
    string: ['a text'],
    // An empty list counts as an empty object.
    array: types.includes('object') ? [[1], [[]]] : [[], [1], [[]]],
    object: [{}, { id: '1' }],
    number: types.includes('integer') ? [1.5] : [1, 1.5],
  }
  return Object.entries(ofType)
    .filter(([type]) => !types.includes(type))
    .flatMap(([, values]) => values)
}

/** Values of the right type that the field's schema forbids. */
const wrongValues = ({
  type,
  enum: values,
  format,
  minLength,
  maxLength,
  minimum,
  maximum,
  maxItems,
  pattern,
  items,
}: JsonSchema) => [
  // An empty text clears a nullable field.
  ...(Array.isArray(values) || pattern || format ? ['no such value', ...([type].flat().includes('null') ? [] : [''])] : []),
  ...(minLength ? ['', ' \t\n '] : []),
  ...(typeof maxLength === 'number' ? ['x'.repeat(maxLength + 1)] : []),
  ...(typeof minimum === 'number' ? [minimum - 1] : []),
  ...(typeof maximum === 'number' ? [maximum + 1] : []),
  ...(typeof maxItems === 'number' && at({ items }, 'items')['type'] === 'string'
    ? [Array.from({ length: maxItems + 1 }, String)]
    : []),
]

test.each(reaching('client', withBody))('%s names each required field that is missing or null', async (id) => {
  const network = await createSeededCommunity()
  for (const name of requiredOf(id))
    for (const body of [without(exampleOf(id).body, name), { ...exampleOf(id).body, [name]: null }]) {
      const response = await sendExample(network, id, { body })
      expect({ name, status: response.status, body: response.body }).toEqual({
        name,
        status: statusWithout(id),
        body: { error: expect.stringMatching(new RegExp(`\\b${name}\\b`)) },
      })
    }
  expect(network.faults).toEqual([])
})

test.each(reaching('client', withBody))('%s refuses wrong types and values that its schema forbids', async (id) => {
  const network = await createSeededCommunity()
  for (const [name, field] of fieldsOf(id))
    for (const value of [...wrongTypes(field), ...wrongValues(field)]) {
      const response = await sendExample(network, id, { body: { ...exampleOf(id).body, [name]: value } })
      expect({ name, value, status: response.status, body: response.body }).toEqual({
        name,
        value,
        status: 422,
        body: { error: expect.stringContaining(name) },
      })
    }
  expect(network.faults).toEqual([])
})

test.each(reaching('storage', withBody))('%s ignores unknown fields', async (id) => {
  const network = await createSeededCommunity()
  const known = JSON.stringify(exampleOf(id).body).slice(1, -1)
  const strange = '"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}, "unknown": "x", "network_id": "2"'
  const response = await sendExample(network, id, { rawBody: `{${strange}${known === '' ? '' : `, ${known}`}}` })
  expect(response.status).toBe(exampleOf(id).route.operation.status)
  expect(JSON.stringify(response.body ?? null)).not.toContain('polluted')
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  expect(network.faults).toEqual([])
})

test.each(withBody)('%s refuses lone surrogates and NUL in texts, or keeps them whole', async (id) => {
  const network = await createSeededCommunity()
  const texts = fieldsOf(id).filter(([, field]) => typesOf(field).includes('string'))
  for (const [name] of texts)
    for (const text of ['\ud800', 'a\udc00b', 'a\0b']) {
      const response = await sendExample(network, id, { body: { ...exampleOf(id).body, [name]: text } })
      if (response.status !== 422) expect({ name, text, answer: response.body }).toMatchObject({ answer: { [name]: text } })
    }
  expect(network.faults).toEqual([])
})

test.each(reaching('neither', withBody))('%s refuses a body that is nested without end, with a key and without', async (id) => {
  const network = await createSeededCommunity()
  const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}${fieldsBehind(exampleOf(id).body)}}`
  for (const headers of [{}, { 'idempotency-key': 'deep' }]) {
    const refused = await sendExample(network, id, { rawBody: nested(50_000), headers })
    expect({ status: refused.status, body: refused.body }).toEqual({
      status: 400,
      body: { error: 'The body is nested more than 64 levels deep' },
    })
  }
  expect((await sendExample(network, id, { rawBody: nested(63) })).status).toBe(exampleOf(id).route.operation.status)
  expect(network.faults).toEqual([])
})

/** The fields of a body, as they continue behind another one. */
const fieldsBehind = (body: object | undefined): string => {
  const fields = JSON.stringify(body ?? {}).slice(1, -1)
  return fields === '' ? '' : `,${fields}`
}

const broken = [
  ['broken JSON', '{"title": ', 400],
  ['bytes that are no UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400],
  ['a list', '[{"title":"x"}]', 422],
  ['a text', '"title"', 422],
  ['a number', '7', 422],
] as const

test.each(withBody)('%s takes an empty list for an empty object', async (id) => {
  const [list, object] = await Promise.all(
    ['[]', '{}'].map(async (rawBody) => sendExample(await createSeededCommunity(), id, { rawBody })),
  )
  expect({ status: list?.status, error: list?.body?.error }).toEqual({ status: object?.status, error: object?.body?.error })
})

test.each(reaching('neither', withBody))('%s describes the problem of a body that is no JSON object', async (id) => {
  const network = await createSeededCommunity()
  for (const [what, rawBody, status] of broken) {
    const response = await sendExample(network, id, { rawBody })
    expect({ what, status: response.status, body: response.body }).toEqual({
      what,
      status,
      body: { error: expect.stringContaining('body') },
    })
  }
  const text = await sendExample(network, id, { headers: { 'content-type': 'text/plain' } })
  expect({ status: text.status, body: text.body }).toEqual({
    status: 415,
    body: {
      error: expect.stringMatching(
        /^Content-Type must be (?:multipart\/form-data with a boundary, .+ or )?application\/json, got text\/plain$/,
      ),
    },
  })
  const large = await sendExample(network, id, { rawBody: `"${'a'.repeat(1024 * 1024 - 1)}"` })
  expect({ status: large.status, body: large.body }).toEqual({
    status: 413,
    body: { error: 'The body is larger than 1048576 bytes' },
  })
  expect(network.faults).toEqual([])
})

test.each(reaching('storage', withBody))('%s takes no body at all for an empty one', async (id) => {
  const network = await createSeededCommunity()
  const none = await sendExample(network, id, { rawBody: '' })
  const empty = await sendExample(await createSeededCommunity(), id, { rawBody: '{}' })
  expect(none.status).toBe(empty.status)
  if (requiredOf(id).length > 0) expect(none.status).toBe(statusWithout(id))
  expect(network.faults).toEqual([])
})

const withoutBody = routesWhere(({ route, body }) => route.method !== 'GET' && body === undefined)

test.each(reaching('storage', withoutBody))(
  '%s, which takes no body, does not mind one, nor a Content-Type without one',
  async (id) => {
    const { status } = exampleOf(id).route.operation
    for (const body of [undefined, '', '{}', '{"unknown": 1}'])
      expect(
        (
          await sendExample(await createSeededCommunity(), id, {
            ...(body === undefined ? {} : { rawBody: body }),
            headers: { 'content-type': 'application/json' },
          })
        ).status,
      ).toBe(status)
    const network = await createSeededCommunity()
    await sendExample(network, id, { rawBody: '{"broken' })
    expect(network.faults).toEqual([])
  },
)

/**
 * Random bodies and queries: many in memory, and elsewhere fewer of them, because most are refused before a storage is called.
 */
const runs = { seed: 20_261_120, numRuns: rounds(engine === 'memory' && !isThroughClient ? 20 : 10, 40) } as const

/** Every character but lone surrogates. The library's own unit for that writes a million of them into a table first. */
const character = fc.integer({ min: 0, max: 0x10_ffff - 0x800 }).map(
  (index) => String.fromCodePoint(index < 0xd800 ? index : index + 0x800),
  (text) => {
    const [code = 0, ...more] = [...String(text)].map((one) => one.codePointAt(0) ?? 0)
    if (more.length > 0) throw new Error('this is more than one character')
    return code < 0xd800 ? code : code - 0x800
  },
)

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: character, maxLength: 20 }),
  fc.constantFrom(
    '0',
    '1',
    '-1',
    '101',
    '9007199254740993',
    '18446744073709551616',
    1e308,
    -0,
    '2026-02-30',
    '2026-11-20T10:00:00Z',
  ),
)

test.each(reaching('storage', withBody))(
  '%s responds to any JSON with a documented status and never with a fault',
  async (id) => {
    const network = await createSeededCommunity()
    const { described } = requestSchemas(document, exampleOf(id).route)
    const examples = exampleOf(id).body ?? {}
    const fields = Object.fromEntries(
      fieldsOf(id).map(([name, { enum: values }]) => [
        name,
        fc.oneof({ weight: 2, arbitrary: fc.constantFrom(examples[name], ...(Array.isArray(values) ? values : [])) }, anything),
      ]),
    )
    const bodies = fc.oneof({ weight: 3, arbitrary: fc.record(fields, { requiredKeys: [] }) }, fc.jsonValue())
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const response = await sendExample(network, id, { rawBody: JSON.stringify(body) })
        const schema = at(described, 'responses', String(response.status), 'content', 'application/json', 'schema')
        if (Object.keys(schema).length > 0) expect(problemsOf(document, schema, response.body)).toEqual([])
      }),
      runs,
    )
    expect(network.faults).toEqual([])
  },
)

const withQuery = routesWhere(({ route }) => route.operation.query !== undefined)

test.each(withQuery)('%s responds to any query with a documented status and never with a fault', async (id) => {
  const { route } = exampleOf(id)
  const network = await createSeededCommunity()
  const names = Object.keys(route.operation.query ?? {})
  const text = fc.oneof(
    fc.string({ unit: character, maxLength: 30 }),
    anything.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
  )
  const queries = fc.record(Object.fromEntries(names.map((name) => [name, text])), { requiredKeys: [] })
  await fc.assert(
    fc.asyncProperty(queries, async (query) => {
      await sendExample(network, id, { query: Object.fromEntries(Object.entries(query)) as Record<string, string> })
    }),
    runs,
  )
  expect(network.faults).toEqual([])
})

const posts = routeIds.filter((id) => exampleOf(id).route.method === 'POST')

test.each(posts)('%s happens once for one Idempotency-Key', async (id) => {
  const network = await createSeededCommunity()
  const headers = { 'idempotency-key': 'once' }
  const first = await sendExample(network, id, { headers })
  const events = network.events().length
  const second = await sendExample(network, id, { headers })
  expect({ status: second.status, body: second.body }).toEqual({ status: first.status, body: first.body })
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  expect(network.events().length).toBe(events)
  const other = await sendExample(network, id, { headers, query: { other: '1' } })
  expect({ status: other.status, body: other.body }).toEqual({
    status: 422,
    body: { error: 'Idempotency-Key was used for another request. Use a new key for a new request' },
  })
  expect((await sendExample(network, id, { headers: { 'idempotency-key': 'ä' } })).status).toBe(400)
  expect(network.faults).toEqual([])
})
