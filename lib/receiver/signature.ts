/** The Standard Webhooks headers of a delivery: `webhook-id`, `webhook-timestamp`, `webhook-signature`. */
import { fromBase64 } from '../base/bytes.ts'
import { WebhookError } from './errors.ts'
import { type Signature, signedContent, verifierOf } from './secrets.ts'

/** Of the signatures in a header so many are looked at; each costs time. A sender that rotates secrets makes a few. */
const maxSignatures = 32

export interface SignatureCheck {
  readonly secrets: readonly string[]
  /** Seconds, before and after now. */
  readonly tolerance: number
  /** Milliseconds since 1970. */
  readonly now: number
}

/**
 * Verifies that one of the secrets has signed the body, and when.
 * @param header reads a header
 * @throws WebhookError `signature_missing`, `timestamp_invalid`, `timestamp_too_old`, `timestamp_too_new`, `signature_wrong`
 * @throws TypeError for a secret that cannot be used
 */
export async function verifySignature(
  header: (name: string) => string | undefined,
  body: Uint8Array,
  { secrets, tolerance, now }: SignatureCheck,
): Promise<void> {
  const verifiers = await Promise.all(secrets.map(verifierOf))
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => header(name) ?? '')
  if (!id || !timestamp || !signature)
    throw new WebhookError(
      'signature_missing',
      'The delivery is not signed: webhook-id, webhook-timestamp and webhook-signature are needed. Register the endpoint with a secret.',
    )
  checkTime(timestamp, tolerance, now)
  const content = signedContent(id, timestamp, body)
  const signatures = signaturesIn(signature)
  for (const verify of verifiers) if (await verify(content, signatures)) return
  throw new WebhookError(
    'signature_wrong',
    'No signature matches. Either the secret is another one, or the body is not the bytes that were sent.',
  )
}

function checkTime(timestamp: string, tolerance: number, now: number): void {
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError('timestamp_invalid', 'webhook-timestamp must be seconds since 1970.')
  const age = Math.floor(now / 1000) - Number(timestamp)
  if (age > tolerance)
    throw new WebhookError('timestamp_too_old', `webhook-timestamp is more than ${tolerance} s ago: check the clocks.`)
  if (age < -tolerance)
    throw new WebhookError('timestamp_too_new', `webhook-timestamp is more than ${tolerance} s ahead: check the clocks.`)
}

/** The signatures of a header, divided by blanks. Unknown versions are passed over. */
function signaturesIn(header: string): readonly Signature[] {
  return header
    .split(' ', maxSignatures)
    .map((text) => {
      const [version = '', signature = ''] = text.split(',', 2)
      return { version, bytes: fromBase64(signature) }
    })
    .filter((each): each is Signature => each.bytes !== undefined)
}
