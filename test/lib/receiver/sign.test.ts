/** Signatures of both kinds, made and verified here, against the same made and verified by Node's own functions. */
import { createHmac, createPublicKey, generateKeyPairSync, sign as nodeSign, verify as nodeVerify } from 'node:crypto'
import { expect, test } from 'vitest'
import { signatureHeaders } from '../../../daemon/relay/send/signature.ts'
import { isWebhookError, receive, sign } from '../../../lib/receiver/index.ts'
import { atNoon, body, event, noon, secret, token, url } from './support.ts'

const otherSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const content = `${event.event_id}.${noon / 1000}.${body}`

/** A pair of ed25519 in the text form of Standard Webhooks. */
function ed25519() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(-32)
  const open = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  return {
    privateKey,
    publicKey,
    whsk: `whsk_${Buffer.concat([seed, open]).toString('base64')}`,
    seedAlone: `whsk_${seed.toString('base64')}`,
    whpk: `whpk_${open.toString('base64')}`,
  }
}

const code = async (headers: Record<string, string>, secrets: string | readonly string[]) =>
  receive(new Request(url, { method: 'POST', headers, body }), { token, secrets, now: atNoon }).then(
    () => 'received',
    (error: unknown) => (isWebhookError(error) ? error.code : String(error)),
  )

test('sign makes the headers that the relay sends', async () => {
  const made = await sign(body, { token, secrets: [secret, otherSecret], now: atNoon })
  const sent = signatureHeaders([secret, otherSecret], event.event_id, Buffer.from(body), noon)
  expect(made).toEqual({
    'content-type': 'application/json',
    accept: 'application/json',
    authorization: `Bearer ${token}`,
    ...sent,
  })
})

test('the relay signs with a private key, too, and the receiver needs only the public one', async () => {
  const pair = ed25519()
  for (const whsk of [pair.whsk, pair.seedAlone]) {
    const sent = signatureHeaders([whsk], event.event_id, Buffer.from(body), noon)
    expect(await sign(body, { secrets: whsk, now: atNoon })).toMatchObject(sent)
    expect(await code({ ...sent, authorization: `Bearer ${token}` }, pair.whpk)).toBe('received')
  }
  const both = signatureHeaders([pair.whsk, secret], event.event_id, Buffer.from(body), noon)
  expect(both['webhook-signature']).toMatch(/^v1a,\S{88} v1,\S{44}$/)
})

test('a signature v1 is the HMAC-SHA256 of the decoded secret', async () => {
  const { 'webhook-signature': signature } = await sign(body, { secrets: secret, now: atNoon })
  const decoded = Buffer.from(secret.slice('whsec_'.length), 'base64')
  expect(signature).toBe(`v1,${createHmac('sha256', decoded).update(content).digest('base64')}`)
})

test('a signature v1a is the one of ed25519, by a seed and by a whole private key', async () => {
  const pair = ed25519()
  const expected = `v1a,${nodeSign(null, Buffer.from(content), pair.privateKey).toString('base64')}`
  for (const secrets of [pair.whsk, pair.seedAlone])
    expect((await sign(body, { secrets, now: atNoon }))['webhook-signature']).toBe(expected)
})

test('each of several secrets is good, whatever their kinds', async () => {
  const pair = ed25519()
  const other = ed25519()
  const symmetric = await sign(body, { token, secrets: [otherSecret, secret], now: atNoon })
  const asymmetric = await sign(body, { token, secrets: pair.whsk, now: atNoon })
  const both = await sign(body, { token, secrets: [secret, pair.whsk], now: atNoon })
  expect({
    rotated: await code(symmetric, secret),
    oneOfMany: await code(symmetric, [pair.whpk, secret]),
    publicKey: await code(asymmetric, pair.whpk),
    otherPublicKey: await code(asymmetric, other.whpk),
    bothByOne: await code(both, pair.whpk),
    bothByOther: await code(both, [otherSecret, other.whpk]),
    wrongKind: await code(asymmetric, secret),
  }).toEqual({
    rotated: 'received',
    oneOfMany: 'received',
    publicKey: 'received',
    otherPublicKey: 'signature_wrong',
    bothByOne: 'received',
    bothByOther: 'signature_wrong',
    wrongKind: 'signature_wrong',
  })
})

test('an HMAC with the bytes of a public key does not pass for its signature', async () => {
  const { whpk } = ed25519()
  const forged = await sign(body, { token, secrets: whpk.replace('whpk_', 'whsec_'), now: atNoon })
  expect(await code(forged, whpk)).toBe('signature_wrong')
  forged['webhook-signature'] = forged['webhook-signature']?.replace('v1,', 'v1a,') ?? ''
  expect(await code(forged, whpk)).toBe('signature_wrong')
})

test('what Node signs is received, and what is signed here Node verifies', async () => {
  const pair = ed25519()
  const byNode = {
    authorization: `Bearer ${token}`,
    'webhook-id': event.event_id,
    'webhook-timestamp': String(noon / 1000),
    'webhook-signature': `v1a,${nodeSign(null, Buffer.from(content), pair.privateKey).toString('base64')}`,
  }
  expect(await code(byNode, pair.whpk)).toBe('received')
  const { 'webhook-signature': signature = '' } = await sign(body, { secrets: pair.whsk, now: atNoon })
  const bytes = Buffer.from(signature.slice('v1a,'.length), 'base64')
  expect(nodeVerify(null, Buffer.from(content), createPublicKey(pair.privateKey), bytes)).toBe(true)
})

test('of a header with very many signatures the first are looked at', async () => {
  const headers = await sign(body, { token, secrets: secret, now: atNoon })
  const genuine = headers['webhook-signature']
  const wrong = `v1,${Buffer.alloc(32).toString('base64')}`
  const among = (before: number) => ({ ...headers, 'webhook-signature': [...Array(before).fill(wrong), genuine].join(' ') })
  expect([await code(among(31), secret), await code(among(32), secret)]).toEqual(['received', 'signature_wrong'])
})

test.each([
  [{ secrets: `whpk_${btoa('a'.repeat(32))}` }, 'whpk_ is a public key, which cannot sign: take whsk_'],
  [{ secrets: `whsk_${btoa('short')}` }, 'a secret must be whsk_ and the 32 bytes'],
  [{ secrets: 'secret' }, 'a secret must be whsec_'],
])('sign refuses %j', async (options, sentence) => {
  await expect(sign(body, options)).rejects.toThrow(sentence)
})

test('sign takes the id from the event, or from its option', async () => {
  expect((await sign(body, { secrets: secret }))['webhook-id']).toBe(event.event_id)
  expect((await sign('text', { secrets: secret, id: 'msg_1' }))['webhook-id']).toBe('msg_1')
  await expect(sign('text', { secrets: secret })).rejects.toThrow('option `id` is needed')
  await expect(sign(event as unknown as string, { secrets: secret })).rejects.toThrow('JSON.stringify(event)')
})
