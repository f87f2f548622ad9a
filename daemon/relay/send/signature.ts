/** The Standard Webhooks triple: `webhook-id`, `webhook-timestamp`, `webhook-signature`. */
import { createHmac, createPrivateKey, createSecretKey, sign } from 'node:crypto'
import { canSign } from '../../../lib/outbox/endpoint-attributes.ts'
import { Refused } from './guard.ts'

/** Makes the signature of a body: `v1,…` or `v1a,…`. */
type Signer = (head: string, body: Uint8Array) => string

/** Signers by secrets: making a key costs as much as signing with it. */
const signers = new Map<string, Signer>()

function signerOf(secret: string): Signer {
  const known = signers.get(secret)
  if (known) return known
  // Secrets rotate: what is left of them must not grow for ever.
  if (signers.size >= 10_000) signers.clear()
  // Neither an empty key nor the half of one: a signature that anybody could make is worse than none.
  if (!canSign(secret)) throw new Refused('a signing secret of the endpoint cannot sign')
  const signer = secret.startsWith('whsk_') ? asymmetric(secret) : symmetric(secret)
  signers.set(secret, signer)
  return signer
}

function symmetric(secret: string): Signer {
  const key = createSecretKey(secret.replace(/^whsec_/, ''), 'base64')
  return (head, body) => `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`
}

/** The bytes before the seed of an ed25519 key in PKCS #8. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const seedBytes = 32

function asymmetric(secret: string): Signer {
  const seed = Buffer.from(secret.slice('whsk_'.length), 'base64').subarray(0, seedBytes)
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' })
  return (head, body) => `v1a,${sign(null, Buffer.concat([Buffer.from(head), body]), key).toString('base64')}`
}

/**
 * The headers that sign one attempt, or none when the endpoint has no secret. While a secret is being rotated both sign.
 * @param secrets `whsec_` and base64 for HMAC-SHA256, `whsk_` and base64 for ed25519; newest first
 * @param id the event's, the same on every attempt
 * @param now milliseconds since 1970; the timestamp is the attempt's
 */
export function signatureHeaders(
  secrets: readonly string[],
  id: string,
  body: Uint8Array,
  now: number,
): Readonly<Record<string, string>> {
  if (secrets.length === 0) return {}
  const timestamp = String(Math.floor(now / 1000))
  const signatures = secrets.map((secret) => signerOf(secret)(`${id}.${timestamp}.`, body))
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
