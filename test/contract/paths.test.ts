/** Paths, for every route: unknown ids, wrong methods, trailing slashes. */
import { afterAll, expect, test } from 'vitest'
import { routesOf } from '../../lib/operation.ts'
import { operations } from '../../lib/operations.ts'
import { nobody, request } from '../support/community.ts'
import { createSeededCommunity } from '../support/seed.ts'
import { everyMethod, exampleOf, pathOf, reaching, routeIds, routesWhere, sendExample } from './support.ts'

const network = await createSeededCommunity()
afterAll(() => expect(network.faults).toEqual([]))

const ids = [
  nobody,
  '0',
  '9007199254740993',
  '18446744073709551615',
  '99999999999999999999999999',
  '-1',
  '1.5',
  'abc',
  '%00',
  '%F0%9F',
  '%',
]

test.each(routesWhere(({ params }) => Object.keys(params).length > 0))('%s is 404 for an id that no record has', async (id) => {
  for (const name of Object.keys(exampleOf(id).params))
    for (const value of ids) {
      const response = await sendExample(network, id, { params: { [name]: value } })
      expect({ name, value, status: response.status, body: response.body }).toEqual({
        name,
        value,
        status: 404,
        body: { error: expect.stringMatching(/^[A-Z].* not found$/) },
      })
    }
})

const shapeOf = (path: string): string => path.replace(/\/$/, '').replace(/:\w+/g, ':')

test.each(reaching('neither', routeIds))('the path of %s responds to other methods with 405 and its own list', async (id) => {
  const path = pathOf(exampleOf(id))
  const shape = shapeOf(exampleOf(id).route.operation.path)
  const alike = routesOf(operations).filter(({ operation }) => shapeOf(operation.path) === shape)
  const own = alike.map(({ method }): string => method)
  const allowed = [...new Set(own.includes('GET') ? [...own, 'HEAD'] : own)].sort()
  const others = everyMethod.filter((method) => !allowed.includes(method))
  for (const [method, end] of others.flatMap((method) => [[method, ''] as const, [method, '/'] as const])) {
    const called = path.replace(/\/*$/, end)
    const response = await request(network.community, method, called, { headers: { authorization: `Bearer ${network.token}` } })
    expect({ method, called, status: response.status, allow: response.headers.get('allow') }).toEqual({
      method,
      called,
      status: 405,
      allow: allowed.join(', '),
    })
    if (method !== 'HEAD') expect(response.body).toEqual({ error: expect.stringContaining(method) })
  }
})

test.each(reaching('neither', routeIds))('%s responds alike with and without a trailing slash', async (id) => {
  const [without, withSlash] = await Promise.all(
    ['', '/'].map(async (end) => {
      const seeded = await createSeededCommunity()
      // Ids begin with the time: what is made now gets none that the owner could have.
      seeded.clock.advance(1000)
      const response = await sendExample(seeded, id, { path: (path) => path.replace(/\/*$/, end) })
      return { status: response.status, body: withoutNewIds(response.body, seeded.owner.id) }
    }),
  )
  expect(without?.status).toBe(exampleOf(id).route.operation.status)
  expect(withSlash).toEqual(without)
})

// Two networks give different ids to what they make; and a list's own address has the slash that it was called with.
const withoutNewIds = (body: unknown, owner: string): unknown =>
  body === undefined
    ? body
    : JSON.parse(
        JSON.stringify(body)
          .replaceAll(owner, 'owner')
          .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'new')
          .replace(/"\d{15,16}"/g, '"new"')
          .replace(/\b\d{15,16}\b/g, 'new')
          .replace(/\/(?=\?|",)/g, ''),
      )

test.each(routesWhere(({ route }) => route.method === 'GET'))('%s responds to HEAD as to GET', async (id) => {
  const head = await sendExample(network, id, { method: 'HEAD' })
  expect(head.status).toBe(200)
})
