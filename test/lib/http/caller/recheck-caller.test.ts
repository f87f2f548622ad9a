/** Callers who are remembered, over a storage that has no version to ask: every change of their rows counts at once. */
import { describe, expect, test } from 'vitest'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { expired } from '../../../../lib/kernel/key.ts'
import type { Patch, Storage } from '../../../../lib/storage/contract.ts'
import { type ApiKeyRow, apiKeys, type NetworkRow, networks } from '../../../../lib/storage/tables/administration.ts'
import { createTestCommunity, request } from '../../../support/community.ts'
import { downloadable, testPorts } from '../../../support/ports.ts'

const root = '/admin/v1/networks/1'

/** A key that was used, and requests with it; what happens in the storage and to the host meanwhile. */
async function remembered(options: Parameters<typeof createTestCommunity>[0] = {}) {
  const memory = memoryStorage()
  const seen = { transactions: [] as string[], vetoes: 0, faults: [] as unknown[] }
  const storage: Storage = {
    transaction(work, given) {
      seen.transactions.push(given?.readOnly ? 'read' : 'write')
      return memory.transaction(work, given)
    },
    close: () => memory.close(),
  }
  const { ports, files } = testPorts()
  const hooks = { before: () => void seen.vetoes++, onError: (error: unknown) => void seen.faults.push(error) }
  const made = await createTestCommunity({ ...options, storage, ports, hooks })
  const { token, key } = await made.community.keys.create({ network: '1', name: 'busy', scopes: ['*'] })
  const ask = (method: string, path: string, body?: object) =>
    request(made.community, method, path, {
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  expect((await ask('GET', `${root}/tags`)).status).toBe(200)
  // The first request also notes that the key was used.
  await ask('GET', `${root}/tags`)
  seen.transactions.length = 0
  seen.vetoes = 0
  const change = {
    key: (patch: Patch<ApiKeyRow>) => memory.transaction((tx) => tx.update(apiKeys, key.id, patch)),
    network: (patch: Patch<NetworkRow>) => memory.transaction((tx) => tx.update(networks, '1', patch)),
  }
  return { ...made, key, ask, seen, change, files }
}

const revoked = { body: expired().body, status: 401 }
const requests: Readonly<Record<string, { status: number; sent: readonly [method: string, path: string, body?: object] }>> = {
  'a read': { status: 200, sent: ['GET', `${root}/tags`] },
  'a read of a record that is not there': { status: 404, sent: ['GET', `${root}/tags/1/`] },
  'a read with a wrong parameter': { status: 400, sent: ['GET', `${root}/tags?page=0`] },
  'a write': { status: 201, sent: ['POST', `${root}/tags`, { title: 'Roses' }] },
  'a write with a wrong body': { status: 422, sent: ['POST', `${root}/tags`, { title: 1 }] },
  'a request for another network': { status: 404, sent: ['GET', '/admin/v1/networks/2/tags'] },
  'an upload': { status: 201, sent: ['POST', `${root}/assets`, { asset_style: 'cover', source_url: downloadable }] },
}

describe.each(Object.entries(requests))('%s with a key that was just used', (_name, { status, sent }) => {
  test('gets a 401 once the key is revoked, and does nothing', async () => {
    const { community, key, ask, seen, files } = await remembered()
    await community.keys.revoke('1', key.id)
    const response = await ask(...sent)
    expect({ status: response.status, body: response.body }).toEqual(revoked)
    expect([response.headers.has('ratelimit-limit'), seen.vetoes, files.size]).toEqual([false, 0, 0])
    expect(await community.call('tags.list', { network: '1' })).toMatchObject({ items: [] })
  })

  test('gets the response of any key if nothing has changed', async () => {
    const { ask } = await remembered()
    expect((await ask(...sent)).status).toBe(status)
  })
})

test('the key is read in the transaction of the operation, which is the only one', async () => {
  const { ask, seen } = await remembered()
  await ask('GET', `${root}/tags`)
  await ask('POST', `${root}/tags`, { title: 'Roses' })
  expect(seen.transactions).toEqual(['read', 'write'])
})

test('each minute of use is noted once, after the request', async () => {
  const { ask, clock, community, key, seen } = await remembered()
  clock.advance(120_000)
  await ask('GET', `${root}/tags`)
  await ask('GET', `${root}/tags?page=0`)
  const lastUse = async () => (await community.keys.list('1')).find(({ id }) => id === key.id)?.last_used_at
  await expect.poll(lastUse).toBe('2026-11-20T10:02:00.000Z')
  expect(seen.transactions.filter((kind) => kind === 'write')).toEqual(['write'])
  expect(seen.faults).toEqual([])
})

test('a key that expires is refused at that moment', async () => {
  const { ask, change, clock } = await remembered()
  await change.key({ expires_at: '2026-11-20T10:00:01.000Z' })
  expect((await ask('GET', `${root}/tags`)).status).toBe(200)
  clock.advance(1000)
  expect((await ask('GET', `${root}/tags`)).status).toBe(401)
})

test('scopes that were taken away or given count for the next request', async () => {
  const { ask, change } = await remembered()
  await change.key({ scopes: ['tags:read'] })
  expect((await ask('POST', `${root}/tags`, { title: 'Roses' })).status).toBe(403)
  await change.key({ scopes: ['tags:write'] })
  expect((await ask('POST', `${root}/tags`, { title: 'Roses' })).status).toBe(201)
})

test('a network that was renamed or has another plan is found and counted as it is now', async () => {
  const { ask, change } = await remembered({ rateLimiter: countOnly() })
  expect((await ask('GET', '/admin/v1/networks/demo/tags')).status).toBe(200)
  await change.network({ subdomain: 'garden', service_plan: 'standard' })
  expect((await ask('GET', '/admin/v1/networks/demo/tags')).status).toBe(404)
  const found = await ask('GET', '/admin/v1/networks/garden/tags')
  expect([found.status, found.headers.get('ratelimit-limit')]).toEqual([200, '100'])
})

test('a response shows the network as it is now', async () => {
  const { ask, change } = await remembered()
  await change.network({ title: 'Garden' })
  expect((await ask('GET', `${root}/`)).body.title).toBe('Garden')
})

test('a write that meets a changed network is carried out once', async () => {
  const { ask, change, community } = await remembered()
  await change.network({ title: 'Garden' })
  expect((await ask('POST', `${root}/tags`, { title: 'Roses' })).status).toBe(201)
  expect((await community.call('tags.list', { network: '1' })).items).toHaveLength(1)
})

/** Admits everything. */
const countOnly = () => ({ count: async (_key: string, limit: number) => ({ allowed: true, remaining: limit, resetSeconds: 1 }) })
