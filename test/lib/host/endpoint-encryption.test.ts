/** Tokens and signing secrets of endpoints, encrypted where they are kept. */
import { describe, expect, test } from 'vitest'
import { createCommunity, type Endpoints, isEncryptionError } from '../../../lib/index.ts'
import { isEncrypted, keyRing } from '../../../lib/outbox/encryption.ts'
import type { EndpointUpsert, OutboxRecord } from '../../../lib/outbox/record.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { webhookEndpoints } from '../../../lib/storage/tables/administration.ts'
import { manualClock } from '../../support/clock.ts'
import { createTestCommunity } from '../../support/community.ts'

const [first, second] = [1, 2].map((fill) => Buffer.alloc(32, fill).toString('base64')) as [string, string]
const secretOf = (fill: number) => `whsec_${Buffer.alloc(24, fill).toString('base64')}`
const good = { network: '1', url: 'https://example.org/hook', token: 'plain-key-1', secrets: [secretOf(7)] }

const rowsOf = (storage: Storage) => storage.transaction((tx) => tx.find(webhookEndpoints, {}), { readOnly: true })
const upserts = (records: readonly OutboxRecord[]) => records as readonly EndpointUpsert[]

/** Other processes on the same storage, with other encryption keys. */
const endpointsWith = (storage: Storage, encryptionKeys: readonly string[], clock = manualClock()): Endpoints =>
  createCommunity({ storage, encryptionKeys, clock }).endpoints

describe('with an encryption key', () => {
  test('neither the storage nor the outbox holds a key or a secret in plain text, after any change', async () => {
    const { community, storage, records } = await createTestCommunity({ encryptionKeys: [first] })
    const { endpoints } = community
    const { id } = await endpoints.upsert(good)
    const made = [
      await endpoints.rotate('1', id, { token: true, secrets: true }),
      await endpoints.rotate('1', id, { token: true, secrets: true }),
    ]
    await endpoints.update('1', id, { name: 'Renamed' })
    await endpoints.disable('1', id)
    await endpoints.republish('1')
    const plain = [good.token, ...good.secrets, ...made.flatMap(({ token = '', secrets = [] }) => [token, ...secrets])]
    const kept = JSON.stringify([await rowsOf(storage), records])
    for (const value of plain) expect(kept).not.toContain(value)
    const [row] = await rowsOf(storage)
    expect([row?.key, ...(row?.secrets ?? [])].map((value) => isEncrypted(value ?? ''))).toEqual([true, true])
    const last = upserts(records).at(-1)
    expect(last).toMatchObject({ key: row?.key, secrets: row?.secrets, old_keys: row?.old_keys, old_secrets: row?.old_secrets })
    expect(last && (await keyRing([first]).open(last))).toMatchObject({
      key: made[1]?.token,
      secrets: made[1]?.secrets,
      old_keys: [{ value: made[0]?.token }, { value: good.token }],
      old_secrets: [{ value: made[0]?.secrets?.[0] }, { value: good.secrets[0] }],
    })
  })

  test('the calls return the same as without one', async () => {
    const { community } = await createTestCommunity({ encryptionKeys: [first] })
    const { endpoints } = community
    const added = await endpoints.upsert(good)
    expect(added).toMatchObject({ signed: true })
    expect(await endpoints.upsert({ network: '1', url: good.url, name: 'Known' })).toMatchObject({ name: 'Known' })
    expect(await endpoints.reveal('1', added.id)).toEqual({ token: good.token, secrets: good.secrets })
    expect(JSON.stringify([await endpoints.list('1'), await endpoints.find('1', added.id)])).not.toContain('encrypted:')
    await expect(endpoints.rotate('1', added.id, { token: good.token })).rejects.toThrow('token must be new')
    const { secrets: _, ...unsigned } = { ...good, url: 'https://example.org/other' }
    expect(await endpoints.upsert(unsigned)).toMatchObject({ signed: false })
  })

  test('an endpoint in plain text works on, and is encrypted with its next change', async () => {
    const { community, storage, records } = await createTestCommunity()
    const { id } = await community.endpoints.upsert(good)
    await community.endpoints.rotate('1', id, { token: true })
    const keyed = endpointsWith(storage, [first])
    await keyed.rotate('1', id, { token: 'plain-key-3' })
    const kept = JSON.stringify([await rowsOf(storage), records.at(-1)])
    for (const value of [good.token, ...good.secrets, 'plain-key-3']) expect(kept).not.toContain(value)
    const row = (await rowsOf(storage))[0]
    expect(row && (await keyRing([first]).open(row))).toMatchObject({
      key: 'plain-key-3',
      secrets: good.secrets,
      old_keys: [{}, { value: good.token }],
    })
  })

  test('republish encrypts what is in plain text, and what a later key of the ring encrypted', async () => {
    const { community, storage, records } = await createTestCommunity()
    await community.endpoints.upsert(good)
    for (const keys of [[first], [second, first]]) {
      await endpointsWith(storage, keys).republish('1')
      const [row] = await rowsOf(storage)
      expect(row && (await keyRing(keys.slice(0, 1)).open(row))).toMatchObject({ key: good.token, secrets: good.secrets })
      expect([row?.key, ...(row?.secrets ?? [])].map((value) => isEncrypted(value ?? ''))).toEqual([true, true])
      expect(upserts(records).at(-1)).toMatchObject({ key: row?.key, secrets: row?.secrets })
    }
  })
})

describe.each([
  ['without the encryption key', []],
  ['with another encryption key', [second]],
])('%s', (_, keys) => {
  const refused = (work: Promise<unknown>) =>
    work.then(
      () => 'nothing',
      (error: unknown) => (isEncryptionError(error) ? error.message : `not refused as expected: ${error}`),
    )

  test('what has to read a key or a secret is refused with a sentence, and changes nothing', async () => {
    const { community, storage, records } = await createTestCommunity({ encryptionKeys: [first] })
    const { id } = await community.endpoints.upsert(good)
    const before = [await rowsOf(storage), records.length]
    const endpoints = endpointsWith(storage, keys)
    expect(await refused(endpoints.rotate('1', id, { secrets: true }))).toMatch(
      new RegExp(`^the token of endpoint ${id} of network 1 is encrypted with the encryption key [0-9a-f]{16}, which is missing`),
    )
    expect(await refused(endpoints.reveal('1', id))).toMatch(/which is missing/)
    expect([await rowsOf(storage), records.length]).toEqual(before)
  })

  test('a reader of neither continues, and keeps the text', async () => {
    const { community, storage } = await createTestCommunity({ encryptionKeys: [first] })
    const { id } = await community.endpoints.upsert(good)
    const [before] = await rowsOf(storage)
    const endpoints = endpointsWith(storage, keys)
    await endpoints.update('1', id, { name: 'Renamed' })
    await endpoints.disable('1', id)
    await endpoints.republish('1')
    const [after] = await rowsOf(storage)
    expect(after).toMatchObject({ key: before?.key, secrets: before?.secrets, name: 'Renamed', enabled: false })
    expect(await community.endpoints.upsert({ network: '1', url: good.url })).toMatchObject({ id, signed: true })
  })
})

test('without an encryption key nothing new is stored in plain text next to encrypted values', async () => {
  const { community, storage } = await createTestCommunity({ encryptionKeys: [first] })
  const { id } = await community.endpoints.upsert(good)
  const before = await rowsOf(storage)
  const endpoints = endpointsWith(storage, [])
  const sentence = /^endpoints of network 1 are encrypted: give the encryption keys in `encryptionKeys`, /
  await expect(endpoints.upsert({ ...good, url: 'https://example.org/new' })).rejects.toThrow(sentence)
  await expect(endpoints.update('1', id, { token: 'plain-key-2' })).rejects.toThrow(sentence)
  expect(await rowsOf(storage)).toEqual(before)
})

test('an endpoint whose encryption key is lost is saved by a new key and secret', async () => {
  const { community, storage } = await createTestCommunity({ encryptionKeys: [first] })
  await community.endpoints.upsert(good)
  const fresh = { ...good, token: 'plain-key-2', secrets: [secretOf(8)] }
  expect(await endpointsWith(storage, [second]).upsert(fresh)).toMatchObject({ signed: true })
})

test('a rotation that ends the old ones immediately does not have to read them', async () => {
  const { community, storage, records } = await createTestCommunity({ encryptionKeys: [first] })
  const { id } = await community.endpoints.upsert(good)
  const endpoints = endpointsWith(storage, [second])
  const { token, secrets } = await endpoints.rotate('1', id, { token: true, secrets: true, keepOldSeconds: 0 })
  const last = upserts(records).at(-1)
  expect(last && (await keyRing([second]).open(last))).toMatchObject({ key: token, secrets })
  expect(last).not.toHaveProperty('old_keys')
  expect(await endpoints.rotate('1', id, { token: true })).toHaveProperty('token')
  await expect(endpoints.rotate('1', id, { token: 'k', keepOldSeconds: 0 })).resolves.toMatchObject({ token: 'k' })
  await expect(endpoints.rotate('1', id, { token: 'k', keepOldSeconds: 0 })).rejects.toThrow('token must be new')
})

test('an encrypted text is not taken for a key', async () => {
  const { community, storage } = await createTestCommunity({ encryptionKeys: [first] })
  await community.endpoints.upsert(good)
  const [row] = await rowsOf(storage)
  await expect(community.endpoints.upsert({ ...good, token: row?.key ?? '' })).rejects.toThrow(
    'token must be the token itself, and not an encrypted one',
  )
})

test('malformed encryption keys are named by their place, and never shown', async () => {
  const storage = {} as Storage
  const options = { storage, encryptionKeys: [first, 'hunter2'] }
  expect(() => createCommunity(options)).toThrow(/option `encryptionKeys.1` must be 32 bytes in base64/)
  expect(() => createCommunity(options)).not.toThrow(/hunter2/)
  const noList = { storage, encryptionKeys: first as unknown as string[] }
  expect(() => createCommunity(noList)).toThrow('option `encryptionKeys` must be a list, got a string')
})
