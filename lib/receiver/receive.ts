import { areEqualTexts, type Bytes } from '../base/bytes.ts'
import { systemClock } from '../base/clock.ts'
import { changedHeader } from '../outbox/headers.ts'
import { isWebhookError, WebhookError } from './errors.ts'
import { parseEvent, type ReceivedEvent } from './event.ts'
import { requireOptions, requireStated } from './given-options.ts'
import { checkRequest, headerReader, rawBody, type WebhookRequest } from './request.ts'
import { listProblem } from './secrets.ts'
import { verifySignature } from './signature.ts'
import type { EventStore } from './store.ts'

/** The token, the secrets and the bounds of a receiver. */
export interface ReceiveOptions {
  /** The token of the endpoint, without the word Bearer. Several while it is being replaced. */
  readonly token: string | readonly string[]
  /**
   * Signing secrets (`whsec_…`) or public keys (`whpk_…`), of which one must match. `false`: deliveries are unsigned, and the token
   * alone is checked.
   */
  readonly secrets: string | readonly string[] | false
  /** The memory of handled events. Left out: nothing is a duplicate. */
  readonly store?: EventStore
  /** Seconds by which the time of a signature may differ from now, both ways; 300 by default. */
  readonly tolerance?: number | undefined
  /** The longest body; 16 MiB by default, which is the longest that a relay sends. */
  readonly maxBytes?: number | undefined
  /** The time in milliseconds since 1970; the machine's by default. */
  readonly now?: (() => number) | undefined
}

/** A delivery that may be believed. */
export interface Delivery {
  /** The event. Compare `event_type`, and TypeScript narrows `payload`. */
  readonly event: ReceivedEvent
  /** The body, byte by byte as it was sent. */
  readonly raw: Bytes
  /** Whether the store has this event: it was handled before. */
  readonly duplicate: boolean
  /** Puts the event into the store. Call it after your work, before you respond. */
  done(): Promise<void>
}

const optionNames: readonly string[] = ['token', 'secrets', 'store', 'tolerance', 'maxBytes', 'now']
const defaultTolerance = 300
const defaultMaxBytes = 16 * 1024 * 1024

/**
 * Checks a delivery: its method, its token, its body, its signature and its event, in this order (interface.md, 11.7).
 * @param request a Web `Request`, or a request of a framework with its raw body
 * @throws WebhookError if it must not be believed; respond with its `status`
 * @throws TypeError for options that cannot be used
 */
export async function receive(request: WebhookRequest, options: ReceiveOptions): Promise<Delivery> {
  checkRequest(request)
  const { tokens, secrets, store, tolerance, maxBytes, now } = checked(options)
  const header = headerReader(request)
  if (request.method !== undefined && request.method !== 'POST')
    throw new WebhookError('method_not_allowed', 'A webhook is sent with POST.')
  await checkToken(header('authorization'), tokens)
  const raw = await rawBody(request, maxBytes)
  if (secrets.length > 0) await verifySignature(header, raw, { secrets, tolerance, now: now() })
  const event = parseEvent(raw, header(changedHeader))
  return {
    event,
    raw,
    duplicate: store !== undefined && (await store.has(event.event_id)),
    async done() {
      await store?.add(event.event_id)
    },
  }
}

/**
 * Receives a delivery, does your work for a new event, and makes the response: 204, or the status of a `WebhookError`.
 * @param work is given each event that the store does not have. If it throws, the event is not stored and the relay tries again
 * @throws TypeError for what is no function, and for options that cannot be used
 * @throws what `work` and the store throw, and errors of the receiver's own, so that the framework logs them and responds with
 * 500
 */
export async function respond(
  request: WebhookRequest,
  options: ReceiveOptions,
  work: (delivery: Delivery) => unknown,
): Promise<Response> {
  if (typeof work !== 'function') throw new TypeError('respond: the third argument must be a function that does your work')
  let delivery: Delivery
  try {
    delivery = await receive(request, options)
  } catch (error) {
    if (!isWebhookError(error) || error.status >= 500) throw error
    const { message, code, status } = error
    return Response.json({ error: message, code }, { status, headers: status === 405 ? { allow: 'POST' } : {} })
  }
  if (!delivery.duplicate) {
    await work(delivery)
    await delivery.done()
  }
  return new Response(null, { status: 204 })
}

/** Every token is compared, so that the time does not depend on which one it was. */
async function checkToken(authorization: string | undefined, tokens: readonly string[]): Promise<void> {
  const [, given] = /^Bearer +(\S+)\s*$/i.exec(authorization ?? '') ?? []
  if (given === undefined)
    throw new WebhookError('token_missing', 'The header Authorization must be Bearer and the token of the endpoint.')
  const matches = await Promise.all(tokens.map((token) => areEqualTexts(given, token)))
  if (!matches.includes(true))
    throw new WebhookError('token_wrong', 'The token is another one than the endpoint is registered with.')
}

/** @throws TypeError that names the option, without its value */
function checked(options: ReceiveOptions) {
  requireOptions('receive', options, optionNames)
  requireStated('receive', options, 'store', 'no delivery would be a duplicate')
  const { token, secrets, store, tolerance = defaultTolerance, maxBytes = defaultMaxBytes, now = systemClock.now } = options
  const isStore = store === undefined || (typeof store.has === 'function' && typeof store.add === 'function')
  const problems = [
    tokenProblem(token),
    secretsProblem(secrets),
    isStore ? '' : 'option `store` must have the functions `has` and `add`',
    tolerance >= 0 ? '' : 'option `tolerance` must be a number of seconds, at least 0',
    maxBytes > 0 ? '' : 'option `maxBytes` must be a number above 0',
    typeof now === 'function' ? '' : 'option `now` must be a function that returns milliseconds',
  ].filter((problem) => problem !== '')
  if (problems.length > 0) throw new TypeError(`receive: ${problems.join('; ')}`)
  return { tokens: listOf(token), secrets: secrets === false ? [] : listOf(secrets), store, tolerance, maxBytes, now }
}

const listOf = <T>(given: T | readonly T[]): readonly T[] => (Array.isArray(given) ? given : [given as T])

/** A host that forgets the secrets, or whose variable is not set, must not accept unsigned deliveries. */
function secretsProblem(given: unknown): string {
  if (given === undefined || given === null)
    return `option \`secrets\` is ${given === null ? 'null' : 'missing or undefined'}, so no signature could be checked: give the signing secret of the endpoint, or \`secrets: false\` if its deliveries are unsigned`
  return given === false ? '' : listProblem(given, 'option `secrets`')
}

const isUnset = (token: unknown): boolean => token === undefined || token === null || token === ''

function tokenProblem(given: unknown): string {
  const tokens = listOf(given)
  if (tokens.length > 0 && tokens.every((token) => typeof token === 'string' && /^[\x21-\x7e]+$/.test(token))) return ''
  const got = tokens.some(isUnset) ? `, got ${JSON.stringify(tokens.find(isUnset))}: is the variable set?` : ''
  return `option \`token\` must be the token that the endpoint is registered with, without the word Bearer: printable ASCII without blanks${got}`
}
