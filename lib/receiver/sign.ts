import { utf8 } from '../base/bytes.ts'
import { systemClock } from '../base/clock.ts'
import { requireOptions, requireStated } from './given-options.ts'
import { listProblem, signedContent, signerOf } from './secrets.ts'

/** How a delivery for a test is signed. */
export interface SignOptions {
  /** The token of the endpoint, for `Authorization`. */
  readonly token?: string
  /** Secrets (`whsec_…`, signature `v1`) and private keys (`whsk_…`, `v1a`). Each makes a signature; left out or `false`: unsigned. */
  readonly secrets?: string | readonly string[] | false
  /** The value of `webhook-id`; by default the `event_id` in the body. */
  readonly id?: string | undefined
  /** The time of the attempt in milliseconds since 1970; the machine's by default. */
  readonly now?: (() => number) | undefined
}

/**
 * The headers of a delivery as the relay sends them, for tests of a receiver.
 * @param body the text or the bytes that are sent
 * @throws TypeError for options that cannot be used
 */
export async function sign(body: string | Uint8Array, options: SignOptions): Promise<Record<string, string>> {
  requireOptions('sign', options, ['token', 'secrets', 'id', 'now'])
  requireStated('sign', options, 'token', 'the delivery would have no token')
  requireStated('sign', options, 'secrets', 'the delivery would be unsigned')
  const { token, secrets = false, id, now = systemClock.now } = options
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('the body must be the text or the bytes that are sent, such as JSON.stringify(event)')
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  const problem = secrets === false ? '' : listProblem(secrets, 'option `secrets`')
  if (problem !== '') throw new TypeError(problem)
  const list = secrets === false ? [] : typeof secrets === 'string' ? [secrets] : secrets
  const signers = await Promise.all(list.map(signerOf))
  if (signers.length === 0) return headers
  const bytes = typeof body === 'string' ? utf8(body) : body
  const webhookId = id ?? eventIdIn(bytes)
  const timestamp = String(Math.floor(now() / 1000))
  const content = signedContent(webhookId, timestamp, bytes)
  const signatures = await Promise.all(signers.map((make) => make(content)))
  return { ...headers, 'webhook-id': webhookId, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

function eventIdIn(bytes: Uint8Array): string {
  try {
    const { event_id } = JSON.parse(new TextDecoder().decode(bytes)) as { readonly event_id?: unknown }
    if (typeof event_id === 'string') return event_id
  } catch {
    // No JSON: the option is needed.
  }
  throw new TypeError('option `id` is needed: the body has no event_id')
}
