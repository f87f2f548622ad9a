/** Deliveries signed with a private key, verified with its public key by `folkmoot/receiver`. */
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { receive } from '../../../../lib/receiver/index.ts'
import { bench, endpoint, event, receiver, until } from '../support.ts'

test('a receiver verifies a delivery with the public key alone', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(-32)
  const whpk = `whpk_${publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`
  const hook = await receiver()
  const all = await bench()
  const head = { event_id: 'a', event_timestamp: '2026-11-20T10:00:00.000Z', event_type: 'PostCreatedHook' }
  const sent = event('a', { body: JSON.stringify({ ...head, payload: {} }) })
  await all.append(endpoint(hook.url, { secrets: [`whsk_${seed.toString('base64')}`] }), sent)
  await until(() => hook.received.length === 1, 'it is delivered')
  const [{ headers = {}, body = '' } = {}] = hook.received
  expect(headers['webhook-signature']).toMatch(/^v1a,/)
  const key = String(headers.authorization).slice('Bearer '.length)
  const delivery = receive({ headers, body }, { token: key, secrets: whpk })
  await expect(delivery).resolves.toMatchObject({ event: { event_id: 'a' } })
})
