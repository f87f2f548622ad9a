/** Every operation, parameter, field and event has a sentence of its own, and every body an example that its schema takes. */
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { descriptionOf, IdInput, ZonedTimestampInput } from '../../lib/fields.ts'
import { createTestCommunity } from '../support/community.ts'
import { requestSchemas } from '../support/examples.ts'
import { at, type JsonSchema } from '../support/json-schema.ts'

const { community } = await createTestCommunity()
const documents = { api: community.openapi(), webhooks: community.openapi('webhooks') }

interface Described {
  readonly name?: string
  readonly description?: unknown
}

/** Sentences of a kind of field, which say nothing about the one field. */
const ofKinds: readonly unknown[] = [IdInput, ZonedTimestampInput].map(descriptionOf)

const isSentence = (text: unknown): boolean =>
  typeof text === 'string' && /^[`\dA-Z].*[.]$/s.test(text) && !ofKinds.includes(text)

const fieldsOf = (schema: JsonSchema, place: string): [string, Described][] =>
  Object.entries(at(schema, 'properties')).map(([name, field]) => [`${place}.${name}`, field as Described])

const methods = ['get', 'post', 'put', 'patch', 'delete']

/** Everything in a document that ought to explain itself, by its place. */
function describedIn(document: JsonSchema): [string, Described][] {
  const found: [string, Described][] = []
  for (const [name, schema] of Object.entries(at(document, 'components', 'schemas')))
    found.push(...fieldsOf(schema as JsonSchema, name))
  for (const [path, item] of [...Object.entries(at(document, 'paths')), ...Object.entries(at(document, 'webhooks'))]) {
    const shared = ((item as JsonSchema)['parameters'] ?? []) as Described[]
    found.push(...shared.map((parameter): [string, Described] => [`${path} ${parameter.name}`, parameter]))
    for (const method of methods.filter((name) => name in (item as object))) {
      const operation = at(item, method)
      const place = String(operation['operationId'])
      const own = (operation['parameters'] ?? []) as Described[]
      found.push([place, operation], ...own.map((parameter): [string, Described] => [`${place} ${parameter.name}`, parameter]))
      found.push(...fieldsOf(at(operation, 'requestBody', 'content', 'application/json', 'schema'), `${place} body`))
    }
  }
  for (const tag of (document['tags'] ?? []) as Described[]) found.push([`tag ${tag.name}`, tag])
  return found
}

test.each(Object.entries(documents))('every part of the %s document has a sentence', (_, document) => {
  const described = describedIn(document)
  expect(described.length).toBeGreaterThan(300)
  expect(described.filter(([, { description }]) => !isSentence(description)).map(([place]) => place)).toEqual([])
})

test.each(Object.entries(documents))('no sentence of the %s document has more than 35 words', (_, document) => {
  const long = describedIn(document).filter(([, { description }]) =>
    String(description)
      .split(/(?<=[.:;])\s/)
      .some((sentence) => sentence.split(/\s+/).length > 35),
  )
  expect(long.map(([place]) => place)).toEqual([])
})

test('a description says more than its summary', () => {
  const repeated = community.operations.filter(({ summary, description }) => description.startsWith(summary.slice(0, -1)))
  expect(repeated.map(({ id }) => id)).toEqual([])
})

test('every body has an example that its schema takes', () => {
  const refused = community.operations.flatMap((operation) => {
    if (!operation.body) return []
    const { described } = requestSchemas(documents.api, { operation, id: operation.id, method: operation.method })
    const [media] = Object.values(at(described, 'requestBody', 'content'))
    const { issues } = v.safeParse(operation.body, at(media)['example'])
    return issues ? [`${operation.id}: ${issues.map((issue) => `${v.getDotPath(issue)} ${issue.message}`).join(', ')}`] : []
  })
  expect(refused).toEqual([])
})

test('every response with a record has an example', () => {
  const without = community.operations.flatMap((operation) => {
    const { described } = requestSchemas(documents.api, { operation, id: operation.id, method: operation.method })
    const content = at(described, 'responses', String(operation.status), 'content', 'application/json')
    return operation.returns && content['example'] === undefined ? [operation.id] : []
  })
  expect(without).toEqual([])
})
