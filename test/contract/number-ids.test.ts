/** With `ids: 'number'` every id is a number: in every response, in every event, and in the documents that describe them. */
import { expect, test } from 'vitest'
import { requestSchemas } from '../support/examples.ts'
import type { Json } from '../support/json.ts'
import { at, problemsOf, resolve } from '../support/json-schema.ts'
import { createSeededCommunity } from '../support/seed.ts'
import { exampleOf, routeIds, sendExample } from './support.ts'

const ids = 'number'
const { community } = await createSeededCommunity({ ids })
const [api, hooks] = [community.openapi(), community.openapi('webhooks')]

/** The places of ids that are texts; the choices of a poll are named within it, and events by UUIDs. */
const textIds = (value: Json, place = ''): string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = `${place}.${key}`
    if (/^event_id$/.test(key) && place === '') return []
    if (/(?:^|_)ids?$/.test(key) && !/choice/.test(here)) return [inner].flat().some((id) => typeof id === 'string') ? [here] : []
    return textIds(inner as Json, here)
  })
}

test.each(routeIds)('%s responds and emits with numbers, as documented', async (id) => {
  const t = await createSeededCommunity({ ids })
  const { route } = exampleOf(id)
  const key = route.method === 'POST' ? { headers: { 'idempotency-key': 'once' } } : {}
  const response = await sendExample(t, id, key)
  expect(response.status).toBeLessThan(300)
  expect(textIds(response.body)).toEqual([])
  if (route.operation.returns && response.status !== 204) {
    const { described } = requestSchemas(api, route)
    const schema = at(described, 'responses', String(response.status), 'content', 'application/json', 'schema')
    expect(problemsOf(api, schema, response.body)).toEqual([])
  }
  for (const event of [...t.events(), ...t.events('host')])
    expect([event.event_type, ...textIds(event)]).toEqual([event.event_type])
  for (const { event_type, payload } of t.events()) {
    const described = at(hooks, 'webhooks', event_type, 'post', 'requestBody', 'content', 'application/json', 'schema')
    const schema = at(resolve(hooks, described), 'properties', 'payload')
    expect([event_type, ...problemsOf(hooks, schema, payload)]).toEqual([event_type])
  }
  if (route.method !== 'POST') return
  const again = await sendExample(t, id, key)
  expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', response.body])
})

test('the next page is found with numbers', async () => {
  const { send, community, token } = await createSeededCommunity({ ids })
  const first = await send('members.list', { query: { per_page: 2 } })
  const next = await community.fetch(new Request(first.body.links.next, { headers: { authorization: `Bearer ${token}` } }))
  const { items } = (await next.json()) as Json
  expect(items[0].id).toBeGreaterThan(first.body.items.at(-1).id)
})
