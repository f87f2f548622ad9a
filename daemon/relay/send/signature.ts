/** The Standard Webhooks triple: `webhook-id`, `webhook-timestamp`, `webhook-signature`. */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

/** Keys made of secrets: making one costs as much as signing with it. */
const keys = new Map<string, KeyObject>()

function keyOf(secret: string): KeyObject {
  const known = keys.get(secret)
  if (known) return known
  // Secrets rotate: what is left of them must not grow for ever.
  if (keys.size >= 10_000) keys.clear()
  const key = createSecretKey(secret.replace(/^whsec_/, ''), 'base64')
  keys.set(secret, key)
  return key
}

/**
 * The headers that sign one attempt, or none when the endpoint has no secret. While a secret is being rotated both sign.
 * @param secrets `whsec_` and base64, newest first
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
  const signatures = secrets.map((secret) => {
    return `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
