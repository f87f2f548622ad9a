import { expect, test } from 'vitest'
import { webhookEndpoints } from '../../../lib/storage/tables/administration.ts'
import { createTestCommunity } from '../../support/community.ts'

const good = { network: '1', url: 'https://example.org/hook', token: 'k' }

test('headers of an endpoint go to relays, and only their names are shown', async () => {
  const { community, records } = await createTestCommunity()
  const { endpoints } = community
  const made = await endpoints.upsert({ ...good, headers: { 'X-Api-Key': 'gateway-secret' } })
  expect(made).toMatchObject({ header_names: ['X-Api-Key'] })
  const kept = await endpoints.update('1', made.id, { name: 'CRM' })
  const replaced = await endpoints.update('1', made.id, { headers: { 'X-Other': 'other-secret' } })
  const removed = await endpoints.update('1', made.id, { headers: null })
  expect([kept, replaced, removed].map(({ header_names }) => header_names)).toEqual([['X-Api-Key'], ['X-Other'], []])
  const headers = [{ name: 'X-Api-Key', value: 'gateway-secret' }]
  expect(records).toMatchObject([
    { headers, requires: ['headers'] },
    { headers, requires: ['headers'] },
    { headers: [{ name: 'X-Other', value: 'other-secret' }], requires: ['headers'] },
    {},
  ])
  expect(records.at(-1)).not.toHaveProperty('requires')
  const seen = JSON.stringify([
    made,
    kept,
    replaced,
    removed,
    await endpoints.list('1'),
    await community.audit.list({ network: '1' }),
  ])
  expect(seen).not.toMatch(/gateway-secret|other-secret/)
  expect(seen).toContain('"headers":"replaced"')
})

const many = Object.fromEntries(Array.from({ length: 21 }, (_, place) => [`x-${place}`, 'a']))

test.each<readonly [string, Record<string, string>, string]>([
  ['the key', { authorization: 'Basic x' }, 'headers: `Authorization` is set from the token; give token: null'],
  ['a hop-by-hop one', { 'Proxy-Connection': 'close' }, '"Proxy-Connection" is set by'],
  ['a signature', { 'webhook-signature': 'v1,x' }, '"webhook-signature" is set by'],
  ['a name with a blank', { 'x y': 'a' }, '"x y" is not a name'],
  ['two of a name', { 'x-a': 'a', 'X-A': 'b' }, '"X-A" is there twice'],
  ['a line break', { 'x-a': 'a\r\nx-b: c' }, 'the value of header "x-a" must be printable ASCII'],
  ['an umlaut', { 'x-a': 'ä' }, 'must be printable ASCII'],
  ['no value', { 'x-a': '' }, 'must be printable ASCII'],
  ['21 of them', many, 'must have at most 20 headers'],
  ['too much', { 'x-a': 'a'.repeat(4096) }, 'must have at most 4096 characters together'],
])('headers with %s are refused', async (_, headers, message) => {
  const { community } = await createTestCommunity()
  await expect(community.endpoints.upsert({ ...good, headers })).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining(message),
  })
  expect(await community.endpoints.list('1')).toEqual([])
})

test.each<readonly [string, object]>([
  ['a Map', new Map([['x-a', 'a']])],
  ['Headers', new Headers({ 'x-a': 'a' })],
  ['URLSearchParams', new URLSearchParams('x-a=a')],
  ['a list of pairs', [['x-a', 'a']]],
  ['a Date', new Date(0)],
])('headers in %s are refused, and not taken for none', async (_, headers) => {
  const { community } = await createTestCommunity()
  const made = await community.endpoints.upsert({ ...good, headers: { 'x-a': 'a' } })
  const given = { headers: headers as Record<string, string> }
  const refusal = { status: 422, message: expect.stringContaining('headers must be a plain object of names and values, or null') }
  await expect(community.endpoints.update('1', made.id, given)).rejects.toMatchObject(refusal)
  await expect(community.endpoints.upsert({ ...good, ...given })).rejects.toMatchObject(refusal)
  expect(await community.endpoints.find('1', made.id)).toMatchObject({ header_names: ['x-a'] })
})

test.each<readonly [string, object]>([
  ['a Map', new Map([['name', 'x']])],
  ['a FormData', new FormData()],
  ['a Date', new Date(0)],
])('changes in %s are a mistake of the program, and not taken for none', async (kind, changes) => {
  const { community } = await createTestCommunity()
  const { id } = await community.endpoints.upsert(good)
  await expect(community.endpoints.update('1', id, changes)).rejects.toThrow(new RegExp(`^endpoints.update: .*, got ${kind}$`))
  const call = community.call('members.list', { network: '1', query: changes as Record<string, string> })
  await expect(call).rejects.toMatchObject({ status: 422, message: expect.stringContaining('query must be a plain object') })
})

test('a network has at most 1000 endpoints; those that are there can be changed', async () => {
  const { community, storage } = await createTestCommunity()
  const made = await community.endpoints.upsert(good)
  await storage.transaction(async (tx) => {
    const row = await tx.get(webhookEndpoints, made.id)
    if (!row) throw new Error('it is there')
    for (let place = 1; place < 1000; place++)
      await tx.insert(webhookEndpoints, { ...row, id: `${5000 + place}`, url: `https://example.org/${place}` })
  })
  await expect(community.endpoints.upsert({ ...good, url: 'https://example.org/one-more' })).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining('network 1 has 1000 endpoints, the most that a network may have: remove one first'),
  })
  expect(await community.endpoints.upsert({ ...good, name: 'still here' })).toMatchObject({ id: made.id, name: 'still here' })
  await community.endpoints.remove('1', '5001')
  expect(await community.endpoints.upsert({ ...good, url: 'https://example.org/one-more' })).toMatchObject({ name: null })
})

test('the filters of a network have at most 5000 conditions together', async () => {
  const { community, storage } = await createTestCommunity()
  const twenty = { any: Array.from({ length: 20 }, (_, place) => ({ not: { path: `/${place}`, exists: true } })) }
  const made = await community.endpoints.upsert({ ...good, filter: twenty })
  await storage.transaction(async (tx) => {
    const row = await tx.get(webhookEndpoints, made.id)
    if (!row) throw new Error('it is there')
    for (let place = 1; place < 250; place++)
      await tx.insert(webhookEndpoints, { ...row, id: `${5000 + place}`, url: `https://example.org/${place}` })
  })
  const url = 'https://example.org/one-more'
  const one = { path: '/a', exists: true }
  const refusal = {
    status: 422,
    message: expect.stringContaining(
      "filter: the filters of a network's endpoints may have 5000 conditions together, and these are 5001",
    ),
  }
  await expect(community.endpoints.upsert({ ...good, url, filter: one })).rejects.toMatchObject(refusal)
  const { id } = await community.endpoints.upsert({ ...good, url })
  await expect(community.endpoints.update('1', id, { filter: one })).rejects.toMatchObject(refusal)
  // Its own are replaced, and count once.
  await community.endpoints.update('1', made.id, { filter: { any: twenty.any.slice(1) } })
  expect(await community.endpoints.update('1', id, { filter: one })).toMatchObject({ filter: one })
  expect(await community.endpoints.update('1', made.id, { filter: null })).toMatchObject({ filter: null })
})

test('an endpoint without a key may have an Authorization of its own, and old relays are kept from it', async () => {
  const { community, records } = await createTestCommunity({ encryptionKeys: [btoa('k'.repeat(32))] })
  const { endpoints } = community
  const made = await endpoints.upsert({ ...good, token: null, headers: { Authorization: 'Basic YTpi' } })
  expect(made).toMatchObject({ header_names: ['Authorization'] })
  expect(records).toMatchObject([{ key: '', requires: ['headers', 'no-key'] }])
  expect(JSON.stringify(records)).not.toContain('YTpi')
  const refusal = { status: 422, message: expect.stringContaining('`Authorization` is set from the token') }
  await expect(endpoints.update('1', made.id, { token: 'k' })).rejects.toMatchObject(refusal)
  await expect(endpoints.rotate('1', made.id, { token: true })).rejects.toMatchObject(refusal)
  const keyed = await endpoints.upsert({ ...good, token: true, headers: null })
  expect(keyed).toMatchObject({ id: made.id, token: expect.stringMatching(/^.{43}$/) })
  await expect(endpoints.update('1', made.id, { headers: { Authorization: 'Basic YTpi' } })).rejects.toMatchObject(refusal)
  await endpoints.update('1', made.id, { token: null })
  expect(records.at(-1)).toMatchObject({ key: '', requires: ['no-key'] })
  expect(await endpoints.rotate('1', made.id, { token: true })).toMatchObject({ endpoint: { old_token_until: null } })
})

test('a filter is kept, changed and removed, and a mistake in it is named with its place', async () => {
  const { community, records } = await createTestCommunity()
  const filter = { all: [{ path: '/space_id', equals: '2001' }] }
  const { id } = await community.endpoints.upsert({ ...good, filter })
  expect(await community.endpoints.find('1', id)).toMatchObject({ filter })
  expect(records).toMatchObject([{ filter, requires: ['filter'] }])
  const bad = { all: [{ path: 'space_id', equals: '2001' }] }
  await expect(community.endpoints.update('1', id, { filter: bad })).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining('filter at all[0].path must be a JSON pointer'),
  })
  expect(await community.endpoints.update('1', id, { filter: null })).toMatchObject({ filter: null })
  expect(records.at(-1)).not.toHaveProperty('filter')
})

test('a filter on a field that no event names as changed is refused, and another change of the endpoint is not', async () => {
  const { community } = await createTestCommunity()
  const { id } = await community.endpoints.upsert({ ...good, filter: { changed: ['role', 'starts_at'] } })
  for (const filter of [{ changed: ['role', 'roel'] }, { any: [{ not: { changed: ['roel'] } }] }])
    for (const refused of [
      community.endpoints.update('1', id, { filter }),
      community.endpoints.upsert({ ...good, url: 'https://example.org/other', filter }),
    ])
      await expect(refused).rejects.toMatchObject({
        status: 422,
        message: 'filter: no event names "roel" as changed; did you mean role?',
      })
  expect(await community.endpoints.update('1', id, { name: 'CRM' })).toMatchObject({ name: 'CRM' })
})

test('allowed addresses are kept, changed and removed, and a mistake in them is refused', async () => {
  const { community, records } = await createTestCommunity()
  const allow_addresses = ['192.0.2.5', '2001:db8::/32']
  const { id } = await community.endpoints.upsert({ ...good, allow_addresses })
  expect(await community.endpoints.find('1', id)).toMatchObject({ allow_addresses })
  expect(records).toMatchObject([{ allow_addresses, requires: ['allow_addresses'] }])
  for (const bad of [[], ['example.org'], ['10.0.0.0/33'], ['010.0.0.1'], ['::1%lo'], Array(101).fill('10.0.0.1')])
    await expect(community.endpoints.update('1', id, { allow_addresses: bad })).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('allow_addresses must be null or a list of 1 to 100 addresses or ranges'),
    })
  expect(await community.endpoints.update('1', id, { allow_addresses: null })).toMatchObject({ allow_addresses: null })
  expect(records.at(-1)).not.toHaveProperty('allow_addresses')
  expect(records.at(-1)).not.toHaveProperty('requires')
})

test('a client identity and an authority are names, kept, changed and removed', async () => {
  const { community, records } = await createTestCommunity()
  const names = { client_identity: 'bank-2026', ca: 'bank.root' }
  const { id } = await community.endpoints.upsert({ ...good, ...names })
  expect(await community.endpoints.find('1', id)).toMatchObject(names)
  expect(records).toMatchObject([{ ...names, requires: ['client_identity', 'ca'] }])
  for (const name of ['client_identity', 'ca'])
    for (const bad of ['', 'a b', '../key.pem', 'a'.repeat(101)])
      await expect(community.endpoints.update('1', id, { [name]: bad })).rejects.toMatchObject({
        status: 422,
        message: expect.stringContaining(`${name} must be null or 1 to 100 letters, digits, dots`),
      })
  expect(await community.endpoints.update('1', id, { client_identity: null, ca: null })).toMatchObject({ ca: null })
  expect(records.at(-1)).not.toHaveProperty('requires')
})
