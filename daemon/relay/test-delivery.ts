/** One delivery to see whether an endpoint can be reached. */
import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from './clock.ts'
import { createCourier } from './deliver.ts'
import type { Resolve } from './guard.ts'
import type { Outcome } from './outcome.ts'
import { systemResolve } from './resolve.ts'
import { defaultSettings, type Settings } from './settings.ts'

/** The type of the event that is sent as a test; no operation causes it. */
export const testEventType = 'TestHook'

/**
 * Sends a test event to an endpoint at once, with the rules of every delivery. Nothing is recorded or tried again.
 * @param settings over the defaults: time-out and guard
 */
export async function sendTest(
  endpoint: { readonly url: string; readonly key: string; readonly secrets: readonly string[] },
  settings: Partial<Settings> = {},
  clock: Clock = systemClock,
  resolve: Resolve = systemResolve(),
): Promise<Outcome> {
  const courier = createCourier(() => ({ ...defaultSettings, ...settings }), clock, resolve)
  const event_id = randomUUID()
  const event = {
    event_id,
    event_timestamp: new Date(clock.now()).toISOString(),
    event_type: testEventType,
    payload: { message: 'This is a test of a webhook endpoint.' },
  }
  try {
    const { url, key, secrets } = endpoint
    return await courier.send({ endpoint: { ref: 0, url, key, secrets }, event_id, body: Buffer.from(JSON.stringify(event)) })
  } finally {
    await courier.close()
  }
}
