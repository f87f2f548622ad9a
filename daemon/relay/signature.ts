/** The Standard Webhooks triple: `webhook-id`, `webhook-timestamp`, `webhook-signature`. */
import { createHmac } from 'node:crypto'

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
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
