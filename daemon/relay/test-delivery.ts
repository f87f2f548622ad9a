/** One delivery to see whether an endpoint can be reached. */
import { randomUUID } from 'node:crypto'
import { systemClock } from './clock.ts'
import { type Attempt, createCourier } from './deliver.ts'
import type { Outcome } from './outcome.ts'
import { systemResolve } from './resolve.ts'
import type { Settings } from './settings.ts'

/** The type of the event that is sent as a test; no operation causes it. */
export const testEventType = 'TestHook'

/**
 * Sends a test event to an endpoint at once, with the rules of every delivery. Nothing is recorded or tried again.
 * @param userAgent the one of real deliveries: a receiver may sort by it
 */
export async function sendTest(
  endpoint: Omit<Attempt['endpoint'], 'ref'>,
  settings: Settings,
  userAgent: string,
): Promise<Outcome> {
  const courier = createCourier(() => settings, systemClock, systemResolve(), userAgent)
  const event_id = randomUUID()
  const event = {
    event_id,
    event_timestamp: new Date(systemClock.now()).toISOString(),
    event_type: testEventType,
    payload: { message: 'This is a test of a webhook endpoint.' },
  }
  try {
    return await courier.send({ endpoint: { ...endpoint, ref: 0 }, event_id, body: Buffer.from(JSON.stringify(event)) })
  } finally {
    await courier.close()
  }
}
