import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { NewEndpoint } from '../../../lib/index.ts'
import { attributes } from '../../../lib/outbox/endpoint-attributes.ts'
import { webhookEndpoints } from '../../../lib/storage/tables/administration.ts'
import { createTestCommunity } from '../../support/community.ts'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const good = { network: '1', url: 'https://example.org/hook', token: 'k' } satisfies NewEndpoint

test('an endpoint is registered, changed under the same URL, and removed; the outbox is notified of each', async () => {
  const { community, records } = await createTestCommunity()
  const added = await community.endpoints.upsert({ ...good, events: ['PostCreated'], secrets: [secret] })
  const changed = await community.endpoints.upsert({
    ...good,
    token: 'k2',
    order: 'fifo',
    rate_per_second: 0.5,
  })
  expect(await community.endpoints.reveal('1', added.id)).toEqual({ token: 'k2', secrets: [secret] })
  expect(changed).toMatchObject({ id: added.id, signed: true, order: 'fifo', rate_per_second: 0.5 })
  expect(await community.endpoints.list('1')).toEqual([changed])
  await community.endpoints.remove('1', added.id)
  expect(await community.endpoints.list('1')).toEqual([])
  const shared = { kind: 'endpoint', id: added.id, network_id: '1' }
  const asBefore = { events: ['PostCreatedHook'], secrets: [secret] }
  expect(records).toEqual([
    expect.objectContaining({ ...shared, ...asBefore, action: 'upsert', key: 'k' }),
    expect.objectContaining({ ...shared, ...asBefore, action: 'upsert', key: 'k2' }),
    { ...shared, action: 'remove' },
  ])
})

const shown = {
  name: 'Connector',
  events: ['WelcomeEmailRequestedHook'],
  audience: 'host',
  enabled: false,
  order: 'fifo',
  rate_per_second: 5,
} as const
const everything = { ...shown, token: 'k', secrets: [secret] } as const

test('a change of an endpoint keeps what it does not name', async () => {
  const { community } = await createTestCommunity()
  const { endpoints } = community
  const { id } = await endpoints.upsert({ ...good, ...everything })
  const rekeyed = await endpoints.upsert({ network: 'demo', url: good.url, token: 'k2' })
  expect(rekeyed).toMatchObject({ ...shown, id })
  expect(await endpoints.update('demo', id, { rate_per_second: 7 })).toMatchObject({
    name: 'Connector',
    order: 'fifo',
    rate_per_second: 7,
  })
  expect(await endpoints.enable('1', Number(id))).toMatchObject({
    enabled: true,
    signed: true,
    order: 'fifo',
    rate_per_second: 7,
  })
  expect(await endpoints.disable('1', id)).toMatchObject({ enabled: false })
  const cleared = await endpoints.update('1', id, {
    name: null,
    events: [],
    secrets: null,
    rate_per_second: null,
    url: 'https://example.org/b',
  })
  expect(cleared).toMatchObject({ name: null, events: null, signed: false, rate_per_second: null, url: 'https://example.org/b' })
  expect(await endpoints.find('demo', id)).toEqual(cleared)
})

test('two endpoints never have one URL, and events must be of the audience', async () => {
  const { community } = await createTestCommunity()
  const { endpoints } = community
  const first = await endpoints.upsert({ ...good, events: ['PostCreated'] })
  const second = await endpoints.upsert({ ...good, url: 'https://example.org/second' })
  const problem = (error: string) => ({ status: 422, body: { error: expect.stringContaining(error) } })
  await expect(endpoints.update('1', second.id, { url: good.url })).rejects.toMatchObject(problem('url has already been taken'))
  await expect(endpoints.update('1', first.id, { audience: 'host' })).rejects.toMatchObject(problem('events must be'))
  expect(await endpoints.update('1', first.id, { audience: 'host', events: null })).toMatchObject({
    audience: 'host',
    events: null,
  })
  expect(await endpoints.find('1', '77')).toBeUndefined()
  await expect(endpoints.update('1', '77', {})).rejects.toMatchObject({ status: 404, body: { error: 'Endpoint not found' } })
})

test.each([32, 64])('a signing secret may be a private key of ed25519, of %d bytes', async (bytes) => {
  const { community } = await createTestCommunity()
  const whsk = `whsk_${Buffer.alloc(bytes, 7).toString('base64')}`
  const { id } = await community.endpoints.upsert({ ...good, secrets: [whsk, secret] })
  expect((await community.endpoints.reveal('1', id)).secrets).toEqual([whsk, secret])
})

test.each([31, 33, 63])('a private key of %d bytes is refused', async (bytes) => {
  const { community } = await createTestCommunity()
  const whsk = `whsk_${Buffer.alloc(bytes, 7).toString('base64')}`
  await expect(community.endpoints.upsert({ ...good, secrets: [whsk] })).rejects.toThrow(
    'secrets.0 must be whsec_ and 24 to 64 bytes in base64, or whsk_ and an ed25519 private key',
  )
})

test('a token and secrets are made here on request, and kept where there are some', async () => {
  const { community } = await createTestCommunity()
  const made = await community.endpoints.upsert({ ...good, token: true, secrets: true })
  expect(made.token).toMatch(/^[\w-]{43}$/)
  expect(made.secrets).toEqual([expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)])
  const again = await community.endpoints.upsert({ ...good, token: true, secrets: true })
  expect(again).not.toHaveProperty('token')
  expect(again).not.toHaveProperty('secrets')
  expect(await community.endpoints.reveal('demo', made.id)).toEqual({ token: made.token, secrets: made.secrets })
  const part = await community.endpoints.upsert({ ...good, url: 'https://example.org/part', token: true, secrets: [secret] })
  expect([typeof part.token, 'secrets' in part]).toEqual(['string', false])
})

test('a look at the credentials leaves a line in the audit, and changes nothing else', async () => {
  const { community, records } = await createTestCommunity()
  const { id, url } = await community.endpoints.upsert({ ...good, token: null })
  const before = [records.length, await community.endpoints.find('1', id)]
  expect(await community.by({ actor: 'ada' }).endpoints.reveal('1', id)).toEqual({ token: null, secrets: [] })
  const { items } = await community.audit.list({ network: '1', action: 'endpoint.revealed' })
  expect(items).toMatchObject([{ actor: 'ada', subject: { type: 'endpoint', id, name: new URL(url).host }, details: {} }])
  expect([records.length, await community.endpoints.find('1', id)]).toEqual(before)
  await expect(community.endpoints.reveal('1', '404')).rejects.toMatchObject({ status: 404 })
})

test('several secrets replace those before, and none of them may be one of these', async () => {
  const { community, records } = await createTestCommunity()
  const { id } = await community.endpoints.upsert({ ...good, secrets: [secret] })
  const fresh = [7, 8].map((byte) => `whsec_${btoa(String.fromCharCode(byte).repeat(32))}`)
  await expect(community.endpoints.rotate('1', id, { secrets: [...fresh, secret] })).rejects.toThrow('secrets must be new')
  await expect(community.endpoints.rotate('1', id, { secrets: [] })).rejects.toThrow('secrets must each be')
  expect((await community.endpoints.rotate('1', id, { secrets: fresh })).secrets).toEqual(fresh)
  expect(records.at(-1)).toMatchObject({ secrets: fresh, old_secrets: [{ value: secret }] })
})

test('a replaced token and secret stay valid with the new ones for a day, and are gone after that', async () => {
  const { community, clock, records, storage } = await createTestCommunity()
  const { id } = await community.endpoints.upsert({ ...good, secrets: [secret] })
  const { endpoint, token = '', secrets: next = [] } = await community.endpoints.rotate('1', id, { token: true, secrets: true })
  const until = '2026-11-21T10:00:00.000Z'
  expect(endpoint).toMatchObject({ old_token_until: until, old_secrets_until: until })
  const overlap = { old_keys: [{ value: 'k', until }], old_secrets: [{ value: secret, until }] }
  expect(records.at(-1)).toMatchObject({ action: 'upsert', key: token, secrets: next, ...overlap })
  clock.advance(86_400_000 - 1)
  expect(await community.endpoints.find('1', id)).toEqual(endpoint)
  clock.advance(1)
  expect(await community.endpoints.find('1', id)).toMatchObject({ old_token_until: null, old_secrets_until: null })
  await community.endpoints.forgetOld('1')
  const rows = await storage.transaction((tx) => tx.find(webhookEndpoints, {}))
  expect(rows).toEqual([expect.objectContaining({ key: token, secrets: next, old_keys: null, old_secrets: null })])
})

test('a rotation without overlap ends every old token immediately', async () => {
  const { community, records } = await createTestCommunity()
  const { endpoints } = community
  const { id } = await endpoints.upsert(good)
  await endpoints.rotate('1', id, { token: 'k2' })
  await endpoints.rotate('1', id, { token: 'k3', keepOldSeconds: 60 })
  const until = (time: string) => `2026-11-2${time}.000Z`
  const two = [
    { value: 'k2', until: until('0T10:01:00') },
    { value: 'k', until: until('1T10:00:00') },
  ]
  expect(records.at(-1)).toMatchObject({ key: 'k3', old_keys: two })
  const { token } = await endpoints.rotate('1', id, { token: 'k4', keepOldSeconds: 0 })
  expect(token).toBe('k4')
  expect(records.at(-1)).not.toHaveProperty('old_keys')
})

test('a rotation has its replacement and the values before it, and ends', async () => {
  const { community } = await createTestCommunity()
  const { endpoints } = community
  const { id } = await endpoints.upsert(good)
  const problem = (error: string) => ({ status: 422, body: { error: expect.stringContaining(error) } })
  await expect(endpoints.rotate('1', id, {})).rejects.toMatchObject(problem('token or secrets is required'))
  await expect(endpoints.rotate('1', id, { token: 'k' })).rejects.toMatchObject(problem('token must be new'))
  await expect(endpoints.rotate('1', id, { token: true, keepOldSeconds: -1 })).rejects.toMatchObject(problem('keepOldSeconds'))
  for (const token of ['k2', 'k3', 'k4']) await endpoints.rotate('1', id, { token })
  await expect(endpoints.rotate('1', id, { token: 'k5' })).rejects.toMatchObject(problem('3 old tokens are still valid'))
  await endpoints.rotate('1', id, { token: 'k5', keepOldSeconds: 0 })
})

test("the host's own endpoint chooses among the mail that the host sends", async () => {
  const { community } = await createTestCommunity()
  const host = await community.endpoints.upsert({ ...good, audience: 'host', events: ['WelcomeEmailRequestedHook'] })
  expect(host).toMatchObject({ audience: 'host', events: ['WelcomeEmailRequestedHook'] })
})

const wrong: readonly [string, Record<string, unknown>, string][] = [
  ['no URL', { url: 'example' }, 'url'],
  ['another scheme', { url: 'ftp://example.org' }, 'url'],
  ['a password in the URL', { url: 'https://a:b@example.org' }, 'url'],
  ['port 0 in the URL', { url: 'https://example.org:0/hook' }, 'url must have another port than 0'],
  ['port 0 in the URL of an address', { url: 'http://127.0.0.1:00/' }, 'url must have another port than 0'],
  ['a token that would break the header', { token: 'a\r\nb' }, 'token'],
  ['an empty token', { token: '' }, 'token'],
  ['no token', { token: undefined }, 'token is required'],
  ['an unknown event', { events: ['PostEaten'] }, 'events'],
  ['a host event for an integration', { events: ['WelcomeEmailRequestedHook'] }, 'events'],
  ['a webhook event for the host', { audience: 'host', events: ['PostCreatedHook'] }, 'events'],
  ['a secret that is none', { secrets: ['%%%'] }, 'secrets'],
  ['a short secret', { secrets: ['whsec_YWJj'] }, 'secrets'],
  ['an unknown audience', { audience: 'nobody' }, 'audience'],
  ['an unknown order', { order: 'random' }, 'order'],
  ['a rate of none', { rate_per_second: 0 }, 'rate_per_second'],
  ['a rate that is no number', { rate_per_second: Number.NaN }, 'rate_per_second'],
]

test.each(wrong)('refused: %s', async (_, part, field) => {
  const { community, records } = await createTestCommunity()
  const upsert = community.endpoints.upsert({ ...good, ...part } as NewEndpoint)
  await expect(upsert).rejects.toMatchObject({ status: 422, body: { error: expect.stringContaining(field) } })
  expect(records).toEqual([])
})

test('a key cannot be given a scope that does not exist', async () => {
  const { community } = await createTestCommunity()
  for (const scopes of [['nonsense:read'], ['members:dance'], ['*:write'], []])
    await expect(community.keys.create({ network: '1', name: 'x', scopes })).rejects.toMatchObject({ status: 422 })
})

test('what the host publishes is checked, and told in words', async () => {
  const { community } = await createTestCommunity()
  const wrongPayload = community.publish({ network: '1', event: 'MemberLeft', payload: { space_id: true } as never })
  await expect(wrongPayload).rejects.toMatchObject({
    status: 422,
    body: { error: 'member is required; space_id must be an id; network_id is required' },
  })
})

test('docs/webhooks/register.md describes every attribute that a host may set', () => {
  const page = readFileSync(new URL('../../../docs/webhooks/register.md', import.meta.url), 'utf8')
  const settable = ['token', ...Object.keys(attributes).filter((name) => !/^(?:key|old_keys|old_secrets)$/.test(name))]
  expect(settable.filter((name) => !page.includes(`\n| \`${name}\` | `))).toEqual([])
})

const elsewhere = 'https://attacker.example/hook'
const again = (fields: string) => ({
  status: 422,
  message: `${fields} must be given again, or null: url is at another server, which would get the old ones`,
})

test.each([
  [elsewhere, 'another host'],
  ['https://example.org:8443/hook', 'another port'],
  ['http://example.org/hook', 'plain HTTP'],
])('an endpoint does not move to %s, %s, with the token and headers that it has', async (url) => {
  const { community, records } = await createTestCommunity()
  const { endpoints } = community
  const { id } = await endpoints.upsert({ ...good, headers: { 'x-gateway': 'the-gateway-secret' } })
  const before = records.length
  await expect(endpoints.update('1', id, { url })).rejects.toMatchObject(again('token and headers'))
  await expect(endpoints.update('1', id, { url, token: true, headers: {} })).rejects.toMatchObject(again('token'))
  await expect(endpoints.update('1', id, { url, token: 'other' })).rejects.toMatchObject(again('headers'))
  expect(records).toHaveLength(before)
  await endpoints.rotate('1', id, { token: 'k2' })
  expect(await endpoints.update('1', id, { url, token: 'other', headers: null })).toMatchObject({ url, header_names: [] })
  expect(records.at(-1)).toMatchObject({ url, key: 'other' })
  expect(JSON.stringify(records.at(-1))).not.toMatch(/the-gateway-secret|old_keys|"k2?"/)
})

test('an endpoint moves on its server, and one without token and headers anywhere, without more', async () => {
  const { community } = await createTestCommunity()
  const { endpoints } = community
  const headers = { 'x-gateway': 'the-gateway-secret' }
  const { id } = await endpoints.upsert({ ...good, headers })
  expect(await endpoints.update('1', id, { url: 'https://example.org:443/other' })).toMatchObject({ header_names: ['x-gateway'] })
  expect(await endpoints.update('1', id, { url: elsewhere, token: null, headers })).toMatchObject({ url: elsewhere })
  const bare = await endpoints.upsert({ ...good, token: null, secrets: [secret] })
  expect(await endpoints.update('1', bare.id, { url: 'https://new.example/' })).toMatchObject({ signed: true })
})

test.each(['client_identity', 'ca'] as const)('%s is refused for an http URL, however the two come together', async (name) => {
  const { community } = await createTestCommunity()
  const { endpoints } = community
  const refusal = { status: 422, message: `${name} must be null for an http URL: only https uses certificates` }
  const plain = { ...good, token: null, url: 'http://example.org/hook' }
  await expect(endpoints.upsert({ ...plain, [name]: 'bank' })).rejects.toMatchObject(refusal)
  const { id } = await endpoints.upsert(plain)
  await expect(endpoints.upsert({ ...plain, [name]: 'bank' })).rejects.toMatchObject(refusal)
  await expect(endpoints.update('1', id, { [name]: 'bank' })).rejects.toMatchObject(refusal)
  const secure = await endpoints.upsert({ ...good, token: null, [name]: 'bank' })
  await expect(endpoints.update('1', secure.id, { url: 'http://other.example/' })).rejects.toMatchObject(refusal)
  expect(await endpoints.update('1', secure.id, { url: 'http://other.example/', [name]: null })).toMatchObject({ [name]: null })
})
