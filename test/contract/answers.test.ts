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

test('a list has the same bytes on every engine, lists within its records too', async () => {
  const seeded = await createSeededCommunity()
  await sendExample(seeded, 'answers.upsert', {
    params: { custom_field_id: '351', member_id: '101' },
    body: { segment_ids: ['321', '322', '324'] },
  })
  const response = await seeded.community.fetch(
    new Request('https://api.test/admin/v1/networks/1/members', { headers: { authorization: `Bearer ${seeded.token}` } }),
  )
  const text = await response.text()
  expect(JSON.parse(text).items[0].categories).toEqual([
    { id: '321', title: 'Gardeners' },
    { id: '322', title: 'Cooks' },
    { id: '324', title: 'Singers' },
  ])
  expect(text).toBe(JSON.stringify(JSON.parse(text)))
})
