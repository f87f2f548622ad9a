/** Key pairs that sign: made here, shown by their public halves, and verified by a receiver. */
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { receive, sign } from '../../../lib/receiver/index.ts'
import { createTestCommunity } from '../../support/community.ts'

const url = 'https://example.org/hook'
const encryptionKeys = [btoa('k'.repeat(32))]

async function verifies(secret: string, publicKey: string | undefined): Promise<boolean> {
  const body = JSON.stringify({
    event_id: 'e',
    event_timestamp: '2026-11-20T10:00:00.000Z',
    event_type: 'PostCreatedHook',
    payload: {},
  })
  const headers = await sign(body, { token: 'k', secrets: secret })
  const delivery = receive({ headers, body }, { token: 'k', secrets: publicKey ?? '' })
  return delivery.then(
    () => true,
    () => false,
  )
}

test('a pair is made and rotated, and only its public half is shown', async () => {
  const { community, records } = await createTestCommunity({ encryptionKeys })
  const { endpoints } = community
  const made = await endpoints.upsert({ network: '1', url, token: 'k', secrets: 'ed25519' })
  const [secret = ''] = made.secrets ?? []
  expect(secret).toMatch(/^whsk_[A-Za-z0-9+/]{86}==$/)
  expect(made).toMatchObject({ signed: true, public_keys: [expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/)] })
  expect(await verifies(secret, made.public_keys[0])).toBe(true)
  expect(await endpoints.find('1', made.id)).toMatchObject({ public_keys: made.public_keys })
  expect(await endpoints.upsert({ network: '1', url, secrets: 'ed25519' })).not.toHaveProperty('secrets')
  expect((await endpoints.reveal('1', made.id)).secrets).toEqual([secret])

  const rotated = await endpoints.rotate('1', made.id, { secrets: true })
  const [next = ''] = rotated.secrets ?? []
  expect(next).toMatch(/^whsk_/)
  expect(rotated.endpoint.public_keys).not.toEqual(made.public_keys)
  expect(await verifies(next, rotated.endpoint.public_keys[0])).toBe(true)
  expect(await verifies(next, made.public_keys[0])).toBe(false)
  const audit = JSON.stringify([records, await endpoints.list('1'), await community.audit.list({ network: '1' })])
  expect(audit).not.toContain(secret.slice(0, 40))
  expect(JSON.stringify(records)).not.toContain('public_keys')
})

test('the public half of a given key is shown, whatever its form', async () => {
  const { community } = await createTestCommunity()
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(-32)
  const open = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  const whpk = `whpk_${open.toString('base64')}`
  for (const bytes of [seed, Buffer.concat([seed, open])]) {
    const secrets = [`whsk_${bytes.toString('base64')}`]
    expect(await community.endpoints.upsert({ network: '1', url, token: 'k', secrets })).toMatchObject({ public_keys: [whpk] })
  }
  expect(await community.endpoints.upsert({ network: '1', url, secrets: null })).toMatchObject({
    public_keys: [],
    signed: false,
  })
  const refused = community.endpoints.upsert({ network: '1', url, secrets: 'rsa' as 'ed25519' })
  await expect(refused).rejects.toMatchObject({ status: 422, message: expect.stringContaining('secrets must each be whsec_') })
})
