/** One delivery to see whether an endpoint can be reached. */
import { randomUUID } from 'node:crypto'
import { ApiError } from '../../../lib/errors.ts'
import { webhookName } from '../../../lib/events/catalogue.ts'
import { examplePayload } from '../../../lib/openapi/example-payload.ts'
import { attemptTimeout } from '../attempt-timeout.ts'
import { systemClock } from '../clock.ts'
import type { Settings } from '../settings.ts'
import type { Endpoint } from '../store/endpoint/relay-endpoint.ts'
import { whyUnsupported } from '../store/endpoint/supported.ts'
import { type OpenEndpoint, problemOf } from './credentials.ts'
import type { Outcome } from './outcome.ts'
import { systemResolve } from './resolve.ts'
import { createSender } from './sender.ts'
import { readTlsFiles, type TlsFiles, tlsProblem } from './tls-files.ts'

/** The type of the event that is sent as a test; no operation causes it. */
const testEventType = 'TestHook'

/**
 * A test event, with its body as it is sent.
 * @param now milliseconds since 1970
 */
export function testEvent(event_id: string, now: number, message = 'This is a test of a webhook endpoint.') {
  const head = { event_id, event_timestamp: new Date(now).toISOString(), event_type: testEventType }
  return { ...head, body: JSON.stringify({ ...head, payload: { message } }) }
}

/**
 * A test of an event of choice with example data; a `TestHook` without a type.
 * @throws ApiError 422 for a type that no endpoint gets
 */
export function testOf(network_id: string, now: number, event_type: string | undefined) {
  const test = testEvent(randomUUID(), now)
  if (event_type === undefined) return test
  const name = webhookName(event_type)
  if (!name) throw new ApiError(422, { error: 'There is no event of this type.' })
  const head = { event_id: test.event_id, event_timestamp: test.event_timestamp, event_type: `${name}Hook` }
  return { ...head, body: JSON.stringify({ ...head, payload: examplePayload(name, network_id) }) }
}

/** The result of a test; `unreadable`: nothing was sent, because the relay cannot decrypt its key and secrets or does not know all that it needs. */
export interface TestOutcome extends Pick<Outcome, 'status' | 'reason' | 'milliseconds' | 'responseBody' | 'responseHeaders'> {
  readonly result: Outcome['result'] | 'unreadable'
}

/**
 * Sends a test event to an endpoint immediately, with the rules of every delivery. Nothing is recorded or tried again.
 * @param open decrypts the endpoint's token and secrets
 * @param tlsFiles those of the relay that is running; by default they are read now
 * @param userAgent the one of real deliveries: a receiver may sort by it
 */
export async function sendTest(
  sealed: Endpoint,
  open: (endpoint: Endpoint) => Promise<OpenEndpoint>,
  settings: Settings,
  userAgent: string,
  tlsFiles: TlsFiles = readTlsFiles(settings.clientIdentities),
  event_type?: string,
): Promise<TestOutcome> {
  const problem = whyUnsupported(sealed) ?? tlsProblem(sealed, tlsFiles, systemClock.now())
  if (problem !== undefined) return { result: 'unreadable', status: null, reason: problem, milliseconds: 0 }
  let endpoint: OpenEndpoint
  try {
    endpoint = await open(sealed)
  } catch (error) {
    return { result: 'unreadable', status: null, reason: problemOf(error), milliseconds: 0 }
  }
  const sender = createSender(() => settings, systemClock, systemResolve(), userAgent, { tlsFiles: () => tlsFiles })
  const { event_id, body } = testOf(sealed.network_id, systemClock.now(), event_type)
  const timeout = attemptTimeout(settings, endpoint)
  try {
    return await sender.send({ endpoint, event_id, body: Buffer.from(body), timeout })
  } finally {
    await sender.close()
  }
}
