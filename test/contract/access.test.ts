/** The access of each caller to every route: tokens, scopes and networks (interface.md, 5 and 6). */
import { afterAll, expect, test } from 'vitest'
import { newToken } from '../../lib/base/token.ts'
import { operations } from '../../lib/operations.ts'
import { createSeededCommunity } from '../support/seed.ts'
import { exampleOf, reaching, routeIds, sendExample } from './support.ts'

// Refused requests change nothing, so one network does for all of them.
const network = await createSeededCommunity()
const { community, clock, token } = network

const scopes = [...new Set(operations.map(({ scope }) => scope))]
const tokenOf = async (held: readonly string[]) => network.newToken(held)
const keyOf = (name: string, more: object = {}) => community.keys.create({ network: '1', name, scopes: ['*'], ...more })

const revoked = await keyOf('revoked')
await community.keys.revoke('1', revoked.key.id)
const expired = await keyOf('expired', { expires_at: new Date(clock.now() + 1000).toISOString() })
clock.advance(1000)
const other = await community.networks.create({
  subdomain: 'other',
  title: 'Other',
  owner: { email: 'other@example.org', first_name: 'Olga', last_name: 'Other' },
})
const strangers = await community.keys.create({ network: other.network.id, name: 'other', scopes: ['*'] })

afterAll(() => expect(network.faults).toEqual([]))

const unauthorized: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['no header', { authorization: '' }],
  ['another scheme', { authorization: `Basic ${token}` }],
  ['no scheme', { authorization: token }],
  ['no token', { authorization: 'Bearer ' }],
  ['two tokens', { authorization: `Bearer ${token}, Bearer ${token}` }],
  ['two words', { authorization: `Bearer ${token} ${token}` }],
  ['a garbled token', { authorization: `Bearer ${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}` }],
  ['a shortened token', { authorization: `Bearer ${token.slice(0, -1)}` }],
  ['an unknown token', { authorization: `Bearer ${newToken()}` }],
  ['a key of another interface', { authorization: `Bearer ${token.replace('fmt_', 'fmg_')}` }],
]

// The client sends its own token alone.
test.each(reaching('storage', routeIds))('%s is 401 `unauthorized` without a good token', async (id) => {
  for (const [what, headers] of unauthorized) {
    const response = await sendExample(network, id, { headers })
    expect({ what, status: response.status, body: response.body }).toEqual({
      what,
      status: 401,
      body: { error: 'unauthorized', message: expect.any(String), status: 401 },
    })
  }
})

test.each(routeIds)('%s is 401 `token_expired` with a revoked or an expired key', async (id) => {
  for (const key of [revoked, expired]) {
    const response = await sendExample({ community, token: key.token }, id)
    expect({ status: response.status, body: response.body }).toEqual({
      status: 401,
      body: { error: 'token_expired', message: expect.any(String), status: 401 },
    })
  }
})

test.each(routeIds)('%s is 403 `forbidden` with every scope but its own', async (id) => {
  const { scope } = exampleOf(id).route.operation
  const others = scopes.filter((held) => held !== scope)
  const held = scope.endsWith(':write') ? [...others, '*:read'] : others
  const response = await sendExample({ community, token: await tokenOf(held) }, id)
  expect({ status: response.status, body: response.body }).toEqual({
    status: 403,
    body: { error: 'forbidden', message: `The API token lacks the scope ${scope}.`, status: 403 },
  })
})

test.each(routeIds)('%s needs its own scope and no other', async (id) => {
  const { operation } = exampleOf(id).route
  const seeded = await createSeededCommunity({}, [operation.scope])
  expect((await sendExample(seeded, id)).status).toBe(operation.status)
})

test.each(routeIds)('%s responds to a token of another network as if the network did not exist', async (id) => {
  const missing = await sendExample(network, id, { path: (path) => path.replace('/networks/1', '/networks/77') })
  const foreign = await sendExample({ community, token: strangers.token }, id)
  expect([foreign, missing].map(({ status, body }) => ({ status, body }))).toEqual(
    Array.from({ length: 2 }, () => ({ status: 404, body: { error: 'Network not found' } })),
  )
})
