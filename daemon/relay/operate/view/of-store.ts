/** The relays for the panel over their store alone: no relay is asked, and each one notices changes within a second. */
import { randomUUID } from 'node:crypto'
import { ApiError } from '../../../../lib/errors.ts'
import type { TestAnswer } from '../../../../lib/relay/relay-view.ts'
import { systemClock } from '../../clock.ts'
import { openOperatorStore } from '../../open-store.ts'
import { testEvent } from '../../send/test-delivery.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'
import type { OperatorStore } from '../../store/operator/operator-store.ts'
import { pausedByPerson } from './running-endpoint.ts'
import type { OpenRelayView } from './side.ts'
import { viewOver } from './view.ts'

/** Milliseconds that a relay has to send a test event, and between looks for its result. */
const testMs = 15_000
const lookMs = 100

/**
 * The view of relays by their store, such as the PostgreSQL database that they share.
 * @param outbox the one of the relays
 */
export const relayViewOfStore = (outbox: string): OpenRelayView =>
  viewOver({
    openStore: () => openOperatorStore(outbox),
    now: () => systemClock.now(),
    isRunning: async (store) => (await store.relays()).length > 0,
    // The store does not have it: such a circuit is shown as open.
    probing: () => new Set(),
    onDue: () => undefined,
    test: testThroughStore,
    enable: (store, { ref }) => store.enable(ref),
    disable: (store, { ref }) => store.disable(ref, pausedByPerson),
  })

/**
 * Has a relay send a test event: a delivery like any other, with one attempt.
 * @throws ApiError 409 if no relay runs
 */
async function testThroughStore(store: OperatorStore, endpoint: Endpoint): Promise<TestAnswer> {
  if ((await store.relays()).length === 0) throw new ApiError(409, { error: 'No relay runs now, so no test event can be sent.' })
  const { network_id, id } = endpoint
  const began = systemClock.monotonic()
  const { event_id, event_timestamp, event_type, body } = testEvent(randomUUID(), systemClock.now())
  const record = { kind: 'event', audience: 'integration', network_id, event_id, event_timestamp, event_type, body } as const
  await store.deliver(endpoint, record, systemClock.now())
  while (systemClock.monotonic() - began < testMs) {
    const [delivery] = await store.deliveries({ network: network_id, endpoint: id, event: event_id, limit: 1 })
    if (delivery?.last_outcome != null) {
      const { delivery: number, state, last_outcome: outcome, last_status: status } = delivery
      const milliseconds = delivery.milliseconds ?? 0
      if (state === 'delivered') return { outcome, status, reason: String(status), milliseconds }
      await setAside(store, endpoint, event_id)
      const [attempt] = (await store.attempts(number)).toReversed()
      const reason = attempt?.reason ?? String(status ?? outcome)
      return {
        outcome,
        status,
        reason,
        milliseconds,
        answer: attempt?.answer ?? null,
        answer_headers: attempt?.answer_headers ?? null,
      }
    }
    await new Promise<void>((resolve) => void systemClock.timer(lookMs, resolve))
  }
  await setAside(store, endpoint, event_id)
  const reason = 'No relay sent it in time: the endpoint is paused, its circuit is open, or other deliveries come first.'
  return { outcome: 'aborted', status: null, reason, milliseconds: testMs }
}

/** A test is not tried again: it would arrive when nobody expects it. */
const setAside = (store: OperatorStore, endpoint: Endpoint, event: string): Promise<number> =>
  store.skip(endpoint, { event, limit: 1 }, systemClock.now())
