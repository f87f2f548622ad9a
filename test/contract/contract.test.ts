/** The published documents hold every fact of the interface description, and tell it no differently. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestCommunity } from '../support/community.ts'
import { at, type JsonSchema, resolve } from '../support/json-schema.ts'

interface Field {
  readonly required: boolean
  readonly enum?: readonly unknown[]
  /** The record that it holds, or holds a list of. */
  readonly schema?: string
}
type Named = Readonly<Record<string, Field>>
interface Contract {
  readonly operations: readonly {
    readonly id: string
    readonly method: string
    readonly path: string
    readonly query?: Named
    readonly body?: Named
    readonly body_content_type?: string
    readonly responses: readonly { readonly status: number; readonly schema?: string; readonly paginated?: boolean }[]
  }[]
  readonly schemas: Readonly<Record<string, Named>>
  readonly webhooks: readonly { readonly event_type: string; readonly payload?: string }[]
}

const contract = JSON.parse(readFileSync(new URL('contract.json', import.meta.url), 'utf8')) as Contract
const { community } = await createTestCommunity()
const document = community.openapi()
const hooks = community.openapi('webhooks')

const answersPath = '/admin/v1/networks/{network_id}/custom_fields/{custom_field_id}/members/{member_id}/answers'
const noRowId = 'an answer of several places has no row id, and every documented field is present'
const partialPut = 'PUT takes partial bodies as PATCH does'

/** Deliberate deviations of this package, each with its reason. */
const deviations: Readonly<Record<string, string>> = {
  [`GET ${answersPath} 200.id: may be null`]: noRowId,
  [`POST ${answersPath} 200.id: may be null`]: noRowId,
  [`GET ${answersPath}/{id}/ 200.id: may be null`]: noRowId,
  'PUT /admin/v1/networks/{network_id}/events/{event_id}/rsvps/{id}/ body member_id: is not required': partialPut,
  'PUT /admin/v1/networks/{network_id}/events/{event_id}/rsvps/{id}/ body status: is not required': partialPut,
  'PUT /admin/v1/networks/{network_id}/invites/{id}/ body recipient_email: is not required': partialPut,
  'POST /admin/v1/networks/{network_id}/plans/{plan_id}/members query user_id: is required':
    'without it nobody is named, and the answer is the documented 422',
  'POST /admin/v1/networks/{network_id}/assets body asset_style: is required':
    'the description calls it required in practice, and without it the answer is the documented 400',
  'GET /admin/v1/networks/{network_id}/custom_fields query response_type: not the values tag, badge, dropdown_single_select, dropdown_multi_select, text_short, text_long':
    'the filter knows every kind of field that there is, the newer ones too',
}

const joins = 'a limited member becomes a full one by an update too'

/** Deliberate additions to the contract, each with its reason. */
const additions: Readonly<Record<string, string>> = {
  'schemas.MeResponse: id, name, email, network_id, role, created_at': 'GET /me answers in both documented forms at once',
  'schemas.PostResponse: author': "a post's webhook carries both `creator_id` and `author`",
  'operations.members.list.query: email': 'the list is filtered by address',
  'operations.members.update.body: member_type': joins,
  'operations.members.replace.body: member_type': joins,
  'operations.space_members.update.body: member_type': joins,
  'operations.space_members.replace.body: member_type': joins,
  'schemas.InviteResponse: accepted_at': 'accepted invites stay in the lists, and nothing else tells them from open ones',
}

/** Deliberate operations beyond the contract, such as `GET /admin/v1/networks/{}/members/count`, each with its reason. */
const addedOperations: Readonly<Record<string, string>> = {
  'POST /admin/v1/networks/{}/previews': 'it shows what another request would change',
}

/** Deliberate events beyond the contract, such as `SpaceUpdatedHook`, each with its reason. */
const addedEvents: Readonly<Record<string, string>> = {}

/** The published names that are not in the contract: the place in `contract.json` that lacks them, and the names. */
const beyond = new Map<string, Set<string>>()
function noteExtras(entry: string, given: Iterable<string>, wanted: object): void {
  for (const name of given) if (!Object.hasOwn(wanted, name)) beyond.set(entry, (beyond.get(entry) ?? new Set()).add(name))
}

/** Names that are missing without a reason, and deviations that no longer exist. */
const unmeant = (lacks: readonly string[], meant: readonly string[]): string =>
  [
    ...lacks.filter((lack) => !meant.includes(lack)),
    ...meant.filter((lack) => !lacks.includes(lack)).map((lack) => `no deviation any more: ${lack}`),
  ].join('\n')

const methods = ['get', 'post', 'put', 'patch', 'delete']
const shapeOf = (path: string): string => path.replace(/\{[^}]+\}/g, '{}').replace(/\/$/, '')
const published = new Map(
  Object.entries(at(document, 'paths')).flatMap(([path, item]) =>
    methods
      .filter((method) => method in (item as object))
      .map((method) => [`${method.toUpperCase()} ${shapeOf(path)}`, at(item, method)]),
  ),
)

const sameValues = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  JSON.stringify(a.map(String).sort()) === JSON.stringify(b.map(String).sort())

/** The alternatives of a schema, references and null aside; and whether null is one. */
function unwrap(doc: JsonSchema, schema: JsonSchema): { readonly schema: JsonSchema; readonly nullable: boolean } {
  const { anyOf, ...rest } = resolve(doc, schema)
  if (Array.isArray(anyOf)) {
    const others = (anyOf as JsonSchema[]).filter((one) => one['type'] !== 'null')
    return { schema: resolve(doc, others[0] ?? {}), nullable: others.length < anyOf.length }
  }
  return { schema: rest, nullable: [rest['type']].flat().includes('null') }
}

/** The fields that a published record lacks, compared with the one of the contract. */
function lacksOfRecord(doc: JsonSchema, name: string, schema: JsonSchema, place: string, seen: readonly string[] = []): string[] {
  const fields = contract.schemas[name]
  if (!fields || seen.includes(name)) return []
  const properties = at(resolve(doc, schema), 'properties')
  noteExtras(`schemas.${name}`, Object.keys(properties), fields)
  return Object.entries(fields).flatMap(([field, wanted]) => {
    const here = `${place}.${field}`
    const given = properties[field] as JsonSchema | undefined
    if (!given) return [`${here}: missing`]
    const { schema: plain, nullable } = unwrap(doc, given)
    const values = plain['enum']
    const item = plain['type'] === 'array' || [plain['type']].flat().includes('array') ? at(plain, 'items') : plain
    return [
      ...(wanted.required && nullable ? [`${here}: may be null`] : []),
      ...(wanted.enum &&
      !(
        Array.isArray(values) &&
        sameValues(
          wanted.enum,
          values.filter((value) => value !== null),
        )
      )
        ? [`${here}: not the values ${wanted.enum.join(', ')}`]
        : []),
      ...(wanted.schema ? lacksOfRecord(doc, wanted.schema, item, here, [...seen, name]) : []),
    ]
  })
}

const lacksOfRequest = (wanted: Named, given: ReadonlyMap<string, { schema: JsonSchema; required: boolean }>, place: string) =>
  Object.entries(wanted).flatMap(([name, field]) => {
    const here = `${place} ${name}`
    const found = given.get(name)
    if (!found) return [`${here}: missing`]
    const { schema, required } = found
    const { schema: plain } = unwrap(document, schema)
    return [
      ...(field.required === required ? [] : [`${here}: ${field.required ? 'is not required' : 'is required'}`]),
      ...(field.enum &&
      !(
        Array.isArray(plain['enum']) &&
        sameValues(
          field.enum,
          plain['enum'].filter((value) => value !== null),
        )
      )
        ? [`${here}: not the values ${field.enum.join(', ')}`]
        : []),
      ...(field.schema
        ? Object.keys(contract.schemas[field.schema] ?? {})
            .filter(
              (key) => !(key in at(resolve(document, plain['type'] === 'array' ? at(plain, 'items') : plain), 'properties')),
            )
            .map((key) => `${here}.${key}: missing`)
        : []),
    ]
  })

const queryOf = (operation: JsonSchema): JsonSchema[] =>
  ((operation['parameters'] ?? []) as JsonSchema[]).filter((parameter) => parameter['in'] === 'query')

const namesOf = (parameters: readonly JsonSchema[]): string[] => parameters.map(({ name }) => String(name))

const withoutExtensions = (operation: JsonSchema): string[] =>
  namesOf(queryOf(operation).filter((parameter) => parameter['x-extension'] !== true))

function lacksOfOperation({
  id,
  method,
  path,
  query = {},
  body = {},
  body_content_type,
  responses,
}: Contract['operations'][number]) {
  const place = `${method} ${path}`
  const given = published.get(`${method} ${shapeOf(path)}`)
  if (!given) return [`${place}: missing`]
  const parameters = new Map(
    queryOf(given).map((parameter) => [
      String(parameter['name']),
      { schema: at(parameter, 'schema'), required: parameter['required'] === true },
    ]),
  )
  const content = at(given, 'requestBody', 'content', body_content_type ?? 'application/json', 'schema')
  const schema = resolve(document, content)
  const required = (schema['required'] ?? []) as readonly string[]
  const fields = new Map(
    Object.entries(at(schema, 'properties')).map(([name, field]) => [
      name,
      { schema: field as JsonSchema, required: required.includes(name) },
    ]),
  )
  noteExtras(`operations.${id}.query`, withoutExtensions(given), query)
  noteExtras(`operations.${id}.body`, fields.keys(), body)
  return [
    ...lacksOfRequest(query, parameters, `${place} query`),
    ...lacksOfRequest(body, fields, `${place} body`),
    ...responses.flatMap(({ status, schema: record, paginated }) => {
      const here = `${place} ${status}`
      const answer = at(given, 'responses', String(status))
      if (Object.keys(answer).length === 0) return [`${here}: missing`]
      if (!record || !contract.schemas[record] || status >= 300) return []
      const whole = resolve(document, at(answer, 'content', 'application/json', 'schema'))
      const envelope = at(whole, 'properties')
      if (!paginated) return lacksOfRecord(document, record, whole, here)
      if (!('items' in envelope && 'links' in envelope)) return [`${here}: no list with its links`]
      return lacksOfRecord(document, record, at(envelope['items'], 'items'), here)
    }),
  ]
}

const lacksOfApi = contract.operations.flatMap(lacksOfOperation)

test('the document of the API holds every fact of the contract', () => {
  expect(unmeant(lacksOfApi, Object.keys(deviations))).toBe('')
})

const lacksOfWebhooks = contract.webhooks.flatMap(({ event_type, payload }) => {
  const body = resolve(hooks, at(hooks, 'webhooks', event_type, 'post', 'requestBody', 'content', 'application/json', 'schema'))
  const fields = at(body, 'properties')
  if (!('payload' in fields)) return [`${event_type}: missing`]
  return payload ? lacksOfRecord(hooks, payload, fields['payload'] as JsonSchema, `${event_type} payload`) : []
})

test('the document of the webhooks holds every fact of the contract', () => {
  expect(unmeant(lacksOfWebhooks, [])).toBe('')
})

test('every published field is in test/contract/contract.json, or among the additions with a reason', () => {
  const found = [...beyond].map(([entry, names]) => `${entry}: ${[...names].join(', ')}`)
  const told = unmeant(found, Object.keys(additions)).replaceAll(
    /^(?=\w+\.).*/gm,
    (place) =>
      `${place} (not in test/contract/contract.json: add it there, or to the additions of this test if the interface does not have it)`,
  )
  expect(told).toBe('')
})

test('every parameter beyond the interface is in the table of extensions, and optional', () => {
  const pages = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'gaps.md'), 'utf8')
  const rows = [...pages.matchAll(/^\| (.*) \| (`GET [^|]*|every list) \| .* \|$/gm)]
  const told = (place: string) =>
    rows
      .filter(([, , where]) => where === place)
      .map(([, names]) => names)
      .join()
  const missing = [...published].flatMap(([operation, described]) => {
    const extensions = queryOf(described).filter((parameter) => parameter['x-extension'] === true)
    expect(extensions.filter((parameter) => parameter['required'] !== false)).toEqual([])
    const place = `\`${operation.replace('/admin/v1/networks/{}', '')}\``
    return namesOf(extensions)
      .filter((name) => !`${told(place)},${told('every list')}`.includes(`\`${name}\``))
      .map((name) => `docs/gaps.md, Extensions: ${place} lacks \`${name}\``)
  })
  expect(missing).toEqual([])
})

test('the parameters of the interface come before those beyond it', () => {
  for (const [operation, described] of published) {
    const names = namesOf(queryOf(described))
    expect(names.slice(0, withoutExtensions(described).length), operation).toEqual(withoutExtensions(described))
  }
})

test('every operation and every event is in test/contract/contract.json, or among the additions with a reason', () => {
  const known = contract.operations.map(({ method, path }) => `${method} ${shapeOf(path)}`)
  const operations = [...published.keys()].filter((operation) => !known.includes(operation))
  const events = contract.webhooks.map(({ event_type }) => event_type)
  const hosts = Object.keys(at(hooks, 'webhooks')).filter((event) => !events.includes(event))
  expect([operations.toSorted(), hosts.toSorted()]).toEqual([
    Object.keys(addedOperations).toSorted(),
    Object.keys(addedEvents).toSorted(),
  ])
})

test('the interface has 137 operations', () => {
  expect(published.size - Object.keys(addedOperations).length).toBe(137)
})

test('the interface has 47 kinds of event', () => {
  expect(Object.keys(at(hooks, 'webhooks')).length - Object.keys(addedEvents).length).toBe(47)
})

test('operations have the ids of the contract', () => {
  const ids = new Map(contract.operations.map(({ id, method, path }) => [`${method} ${shapeOf(path)}`, id]))
  const wrong = [...published].filter(
    ([operation, described]) => !(operation in addedOperations) && ids.get(operation) !== described['operationId'],
  )
  expect(wrong.map(([operation, described]) => `${operation}: ${described['operationId']}`)).toEqual([])
})
