/** What differs between a relay in this process and relays that are reached by their store alone. */
import { ApiError } from '../../../lib/errors.ts'
import type { RelayAdmin, TestResult } from '../../../lib/relay/relay-admin.ts'
import { systemClock } from '../clock.ts'
import type { Relay } from '../relay.ts'
import { refusalOf } from '../send/guard.ts'
import { sendTest, testOf } from '../send/test-delivery.ts'
import type { Endpoint } from '../store/endpoint/relay-endpoint.ts'
import type { OperatorStore } from '../store/operator/operator-store.ts'

export interface RelayBackend {
  /** The relay's timeline, in milliseconds since 1970. */
  now(): number
  isRunning(store: OperatorStore): Promise<boolean>
  /** The refs of endpoints whose open circuit sends a probe now. */
  probing(): ReadonlySet<number>
  /** Called after deliveries became due. */
  wake(): void
  readonly refuses?: NonNullable<RelayAdmin['refuses']>
  /** @throws ApiError whose sentence is for the person */
  test(store: OperatorStore, endpoint: Endpoint, event_type?: string): Promise<TestResult>
}

export const embeddedBackend = (relay: Relay): RelayBackend => ({
  now: () => relay.now(),
  isRunning: async () => relay.ready,
  probing: () =>
    new Set([...relay.scheduler.endpoints].flatMap(({ endpoint, circuit }) => (circuit === 'probing' ? endpoint.ref : []))),
  wake: () => relay.scheduler.refresh(),
  refuses: (url) => refusalOf(url, relay.settings),
  async test(store, endpoint, event_type) {
    const { scheduler, settings, userAgent, tlsFiles } = relay
    const tested = await sendTest(endpoint, scheduler.open, settings, userAgent, tlsFiles, event_type)
    const { result, status, reason, milliseconds, responseBody, responseHeaders } = tested
    // It is as good as a probe.
    if (result === 'delivered') await store.resetEndpoint(endpoint.ref, relay.now())
    return {
      outcome: result,
      status,
      reason,
      milliseconds,
      answer: responseBody ?? null,
      answer_headers: responseHeaders ?? null,
    }
  },
})

/** Relays by their store alone, such as the PostgreSQL database that they share: each one notices changes within a second. */
export const storeBackend: RelayBackend = {
  now: () => systemClock.now(),
  isRunning: async (store) => (await store.relays()).length > 0,
  // The store does not have it: such a circuit is shown as open.
  probing: () => new Set(),
  wake: () => undefined,
  test: testThroughStore,
}

/** Milliseconds that a relay has to send a test event, and between looks for its result. */
const testMs = 15_000
const lookMs = 100

/**
 * Has a relay send a test event: a delivery like any other, with one attempt.
 * @throws ApiError 409 if no relay runs
 */
async function testThroughStore(store: OperatorStore, endpoint: Endpoint, type?: string): Promise<TestResult> {
  if ((await store.relays()).length === 0) throw new ApiError(409, { error: 'No relay runs now, so no test event can be sent.' })
  const { network_id, id: endpoint_id } = endpoint
  const began = systemClock.monotonic()
  const { event_id, event_timestamp, event_type, body } = testOf(network_id, systemClock.now(), type)
  const record = { kind: 'event', audience: 'integration', network_id, event_id, event_timestamp, event_type, body } as const
  await store.deliver(endpoint, record, systemClock.now())
  // A test is not tried again: it would arrive when no one expects it.
  const skipTest = () => store.skip(endpoint, { event_id }, 1, systemClock.now())
  while (systemClock.monotonic() - began < testMs) {
    const [delivery] = await store.deliveries({ network_id, endpoint_id, event_id, limit: 1 })
    if (delivery?.last_outcome != null) {
      const { id, state, last_outcome: outcome, last_status: status } = delivery
      const milliseconds = delivery.milliseconds ?? 0
      if (state === 'delivered') return { outcome, status, reason: String(status), milliseconds }
      await skipTest()
      const [attempt] = (await store.attempts(Number(id))).toReversed()
      const { answer = null, answer_headers = null } = attempt ?? {}
      return { outcome, status, reason: attempt?.reason ?? String(status ?? outcome), milliseconds, answer, answer_headers }
    }
    await new Promise<void>((resolve) => void systemClock.timer(lookMs, resolve))
  }
  await skipTest()
  const reason = 'No relay sent it in time: the endpoint is paused, its circuit is open, or other deliveries come first.'
  return { outcome: 'aborted', status: null, reason, milliseconds: testMs }
}
