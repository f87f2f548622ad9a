/** One delivery to see whether an endpoint can be reached. */
import { randomUUID } from 'node:crypto'
import { attemptTimeout } from '../attempt-timeout.ts'
import { systemClock } from '../clock.ts'
import type { Settings } from '../settings.ts'
import type { Endpoint } from '../store/endpoint/endpoint.ts'
import { problemOf } from './credentials.ts'
import type { Outcome } from './outcome.ts'
import { systemResolve } from './resolve.ts'
import { createSender } from './sender.ts'

/** The type of the event that is sent as a test; no operation causes it. */
export const testEventType = 'TestHook'

/** The result of a test; `unreadable`: the endpoint's key and secrets cannot be decrypted, and nothing was sent. */
export interface TestOutcome extends Pick<Outcome, 'status' | 'reason' | 'milliseconds'> {
  readonly result: Outcome['result'] | 'unreadable'
}

/**
 * Sends a test event to an endpoint at once, with the rules of every delivery. Nothing is recorded or tried again.
 * @param open decrypts the endpoint's key and secrets
 * @param userAgent the one of real deliveries: a receiver may sort by it
 */
export async function sendTest(
  sealed: Endpoint,
  open: (endpoint: Endpoint) => Promise<Endpoint>,
  settings: Settings,
  userAgent: string,
): Promise<TestOutcome> {
  let endpoint: Endpoint
  try {
    endpoint = await open(sealed)
  } catch (error) {
    return { result: 'unreadable', status: null, reason: problemOf(error), milliseconds: 0 }
  }
  const sender = createSender(() => settings, systemClock, systemResolve(), userAgent)
  const event_id = randomUUID()
  const event = {
    event_id,
    event_timestamp: new Date(systemClock.now()).toISOString(),
    event_type: testEventType,
    payload: { message: 'This is a test of a webhook endpoint.' },
  }
  try {
    const body = Buffer.from(JSON.stringify(event))
    return await sender.send({ endpoint: { ...endpoint, ref: 0 }, event_id, body, timeout: attemptTimeout(settings) })
  } finally {
    await sender.close()
  }
}
