/** Nullable fields: null clears each of them, and so does an empty text, as a form sends it. */
import { expect, test } from 'vitest'
import { requestSchemas } from '../support/examples.ts'
import { type JsonSchema, resolve } from '../support/json-schema.ts'
import { createSeededCommunity } from '../support/seed.ts'
import { document, exampleOf, routesWhere, sendExample } from './support.ts'

const isNullable = ({ type, anyOf }: JsonSchema): boolean =>
  [type].flat().includes('null') || (Array.isArray(anyOf) && anyOf.some((one) => isNullable(resolve(document, one))))

/** The nullable fields of the body of a route. */
const nullableOf = (id: string): readonly string[] =>
  Object.entries((requestSchemas(document, exampleOf(id).route).body?.['properties'] ?? {}) as Record<string, JsonSchema>)
    .filter(([, field]) => isNullable(resolve(document, field)))
    .map(([name]) => name)

const withNullable = routesWhere(({ route, body }) => body !== undefined && nullableOf(route.id).length > 0)

test('there are such routes', () => {
  const fields = new Set(withNullable.flatMap(nullableOf))
  for (const name of ['link', 'color', 'recur_until', 'collection_id', 'location', 'by_days', 'url'])
    expect(fields).toContain(name)
})

test.each(withNullable)('%s takes an empty text for null', async (id) => {
  for (const name of nullableOf(id)) {
    const answers: unknown[] = []
    for (const value of [null, '', ' ']) {
      const { status, body } = await sendExample(await createSeededCommunity(), id, {
        body: { ...exampleOf(id).body, [name]: value },
      })
      answers.push({ status, error: body?.error, value: body?.[name] })
    }
    expect({ name, answers }).toEqual({ name, answers: [answers[0], answers[0], answers[0]] })
  }
})
