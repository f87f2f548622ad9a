/** Every operation succeeds with its documented status and with exactly the documented record, on every engine. */
import { expect, test } from 'vitest'
import { operations } from '../../lib/operations.ts'
import { requestSchemas } from '../support/examples.ts'
import { at, problemsOf } from '../support/json-schema.ts'
import { createSeededCommunity } from '../support/seed.ts'
import { document, exampleOf, routeIds, sendExample } from './support.ts'

test.each(routeIds)('%s answers with its documented status and exactly its documented record', async (id) => {
  const seeded = await createSeededCommunity()
  const { route } = exampleOf(id)
  const answer = await sendExample(seeded, id)
  expect(seeded.faults).toEqual([])
  expect({ status: answer.status, ...(answer.status < 300 ? {} : { body: answer.body }) }).toEqual({
    status: route.operation.status,
  })
  const schema = at(
    requestSchemas(document, route).described,
    'responses',
    String(answer.status),
    'content',
    'application/json',
    'schema',
  )
  if (!route.operation.returns) {
    expect({ schema, body: answer.body }).toEqual({ schema: {}, body: undefined })
    return
  }
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(problemsOf(document, schema, answer.body)).toEqual([])
})

test('every operation is tried', () => {
  expect(new Set(routeIds.map((id) => exampleOf(id).route.operation.id)).size).toBe(operations.length)
})

test('texts of any script come back as they went in, and those that no database keeps are refused', async () => {
  const seeded = await createSeededCommunity()
  for (const [title, status] of [
    ['Grüße aus 東京 👩‍👩‍👧', 201],
    [`'; DROP TABLE members; --`, 201],
    ['\ud800', 422],
    ['a\0b', 422],
  ] as const) {
    const answer = await sendExample(seeded, 'tags.create', { body: { title } })
    expect(answer.status).toBe(status)
    if (status === 201) expect(answer.body.title).toBe(title)
  }
  expect(seeded.faults).toEqual([])
})
