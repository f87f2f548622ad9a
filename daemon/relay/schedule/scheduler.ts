/**
 * Decides what is sent when, and records what became of it. It moves in ticks (`tick/tick.ts`), one at a time.
 *
 * - `endpoint/` is one endpoint: its state (`sending-state.ts`), its circuit, its health and what waits for it (`queue.ts`).
 * - `choose/` chooses what is sent next: `ready.ts` and `shares.ts` say whose turn it is, `read-ahead.ts` reads what waits, and
 *   `in-flight.ts` has the attempts that are under way.
 * - `tick/` runs ticks over all endpoints: `result.ts` says what results mean, and `recording.ts` records them.
 * - `lease/` follows which endpoints are this relay's, where several relays share a store.
 */
import type { Tracing } from '../../../lib/base/tracing.ts'
import type { RelayContext } from '../context.ts'
import { createCredentialsReader } from '../send/credentials.ts'
import type { ProxyNews } from '../send/proxy-gate.ts'
import type { Sender } from '../send/sender.ts'
import type { Endpoint } from '../store/endpoint/relay-endpoint.ts'
import type { Notice } from '../store/notice.ts'
import { type Disabling, type Ingested, LeaseLost, type Recovered, type RelayStore, type StoreChanges } from '../store/store.ts'
import { createInFlight } from './choose/in-flight.ts'
import { createReadAhead } from './choose/read-ahead.ts'
import { createReady } from './choose/ready.ts'
import { createSubjectOrder } from './choose/subject-order.ts'
import { createCircuitNews } from './endpoint/circuit-news.ts'
import { EndpointRun, noticeInterval } from './endpoint/endpoint-run.ts'
import { createOwnership } from './lease/ownership.ts'
import { createEndpoints } from './tick/endpoints.ts'
import { createRecorder } from './tick/recording.ts'
import { runTick } from './tick/tick.ts'
import { createTickLoop } from './tick/tick-loop.ts'

export interface SchedulerParts extends RelayContext {
  readonly store: RelayStore
  readonly sender: Sender
  readonly tracing?: Tracing | undefined
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  readonly encryptionKeys: readonly string[]
  /** Why an endpoint cannot be sent to though its credentials can be read, for a person. */
  readonly lacking?: (endpoint: Endpoint) => string | undefined
}

export interface Scheduler {
  /** Takes in what came from the outbox. */
  ingested(ingested: Ingested): void
  /** Takes in what others changed in the store. */
  follow(changes: StoreChanges): void
  /** Reads everything again from the store: another process changed it. */
  refresh(): void
  /** Looks whether something may be sent; also after a change of settings. */
  wake(): void
  /** Checks every endpoint again: the settings, and with them the proxy, have changed. */
  reconsider(): void
  /** The proxy fails, or works again. */
  proxyChanged(news: ProxyNews): void
  endpoint(ref: number): EndpointRun | undefined
  readonly endpoints: Iterable<EndpointRun>
  /** Whether what waits for an endpoint is in its order; nothing is sent to it before that. */
  isOrdered(ref: number): boolean
  readonly inFlight: number
  /** Whether the last results could be recorded. */
  readonly healthy: boolean
  /** Milliseconds that the present tick has taken; 0 between ticks. */
  readonly stuckFor: number
  /** Records a notice with the next tick. */
  announce(notice: Notice): void
  /** Stops an endpoint as of the next tick. */
  disable(ref: number, reason: string): void
  change(endpoint: Endpoint): void
  /** Decrypts tokens and secrets of endpoints with other keys from now on. */
  rekey(encryptionKeys: readonly string[]): void
  /** Looks again whether each endpoint can be sent to: what they need may be there now, or gone. */
  reread(): void
  /** An endpoint with its credentials in plain text. @throws EncryptionError */
  open(endpoint: Endpoint): Promise<Endpoint>
  /**
   * Starts nothing more and waits for what is in flight; what is not back in time is aborted and stays due.
   * @param grace milliseconds
   */
  stop(grace: number): Promise<void>
}

/** A lease that was lost is requested again after so many milliseconds. */
const regainPause = 1000
/** A tick runs at least this often while something waits, in milliseconds: so a jump of the clock is noticed. */
const longestPause = 60_000
/** So many milliseconds after the grace no result is waited for any more. */
export const storeGrace = 2000

const proxyNotice = (kind: 'proxy.failed' | 'proxy.recovered', text: string): Notice => ({
  ...{ kind, text },
  ...{ network_id: null, endpoint_id: null, event_id: null },
})

/** The notices about the proxy, as few as those of a circuit. */
function createProxyNotices(timeline: () => number): (news: ProxyNews) => Notice | undefined {
  const limit = createCircuitNews(noticeInterval, false, undefined, 'failed')
  return (news) => {
    if (news.kind === 'recovered')
      return limit.closed() ? proxyNotice('proxy.recovered', 'the proxy works again: sending resumes') : undefined
    const rest = news.kind === 'failed' ? limit.opened(timeline()) : limit.stillOpen(timeline())
    return rest === undefined ? undefined : proxyNotice('proxy.failed', `deliveries wait for the proxy: ${news.reason}${rest}`)
  }
}

export function createScheduler(parts: SchedulerParts, recovered: Recovered): Scheduler {
  const { store, sender, clock, timeline, settings, events } = parts
  const inFlight = createInFlight(settings)
  const ready = createReady<EndpointRun>(inFlight.shares)
  const order = createSubjectOrder(store)
  const recorder = createRecorder(store, inFlight, events)
  const credentials = createCredentialsReader<EndpointRun>(
    parts.encryptionKeys,
    (run, reading) => {
      endpoints.credentialsChanged(run, reading)
      wake()
    },
    parts.lacking,
  )
  const endpoints = createEndpoints({
    ready,
    order,
    credentials,
    newRun: (stored) => new EndpointRun(stored, store, { settings, timeline, sender }),
    onNotice: events.onNotice,
    onRemoved: sender.forget,
  })
  const ownership = createOwnership({ ...parts, endpoints, inFlight })
  const loop = createTickLoop({
    clock,
    tick,
    pause,
    failed: (error) => events.onFault('a tick of the scheduler failed', error),
  })
  const { wake } = loop
  const common = { ...parts, ready, order, wake, isStopping: () => onIdle !== undefined }
  const tickParts = { ...common, reread: credentials.read, endpoints, inFlight, recorder, readAhead: createReadAhead(common) }
  const proxyNotices = createProxyNotices(timeline)
  let toDisable = new Map<number, Disabling>()
  /** Called by a tick that finds nothing in flight any more; there once the scheduler stops. */
  let onIdle: (() => void) | undefined
  /** From now on the store may be closed at any time. */
  let hasEnded = false

  async function tick(): Promise<void> {
    if (hasEnded) return
    // A tick that has begun before may have left something for the next one to record.
    const end = onIdle
    if (ownership.isLost && end) return end()
    try {
      if (ownership.isLost) await ownership.regain()
      ownership.applyChanges()
      const disable = toDisable
      toDisable = new Map()
      await runTick(tickParts, disable)
      if (end && inFlight.deliveries.size === 0 && !inFlight.hasFinished) end()
      else await ownership.release()
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error
      ownership.lose(error)
      toDisable = new Map()
      wake()
    }
  }

  /** Milliseconds until something may be sent without anything else happening first. */
  function pause(): number {
    if (ownership.isLost) return regainPause
    const { earliest } = ready
    return Number.isFinite(earliest) ? Math.min(longestPause, Math.max(1, earliest - timeline())) : earliest
  }

  function reconsider(): void {
    for (const run of endpoints.values()) ready.add(run)
    wake()
  }

  for (const each of recovered.endpoints) endpoints.add(each)
  wake()

  return {
    ingested({ changed, removed, deliveries }) {
      for (const endpoint of changed) {
        if (endpoints.get(endpoint.ref)) endpoints.define(endpoint)
        else endpoints.add({ endpoint, state: undefined })
      }
      for (const { ref } of removed) endpoints.remove(ref)
      ownership.expect(deliveries.keys())
      wake()
    },
    follow(changes) {
      ownership.follow(changes)
      wake()
    },
    refresh() {
      for (const { endpoint } of endpoints.values()) endpoints.refresh(endpoint.ref)
      wake()
    },
    wake,
    reconsider() {
      for (const run of endpoints.values()) run.health.forgetProxy()
      reconsider()
    },
    announce(notice) {
      endpoints.announce(notice)
      wake()
    },
    proxyChanged(news) {
      const notice = proxyNotices(news)
      if (notice) endpoints.announce(notice)
      if (news.kind === 'recovered') reconsider()
      else wake()
    },
    endpoint: endpoints.get,
    get endpoints() {
      return endpoints.values()
    },
    isOrdered(ref) {
      const run = endpoints.get(ref)
      return run !== undefined && order.isOrdered(run)
    },
    get inFlight() {
      return inFlight.deliveries.size
    },
    get healthy() {
      return recorder.healthy && !ownership.isLost
    },
    get stuckFor() {
      return loop.stuckFor
    },
    disable(ref, reason) {
      const fresh_starts = endpoints.get(ref)?.endpoint.fresh_starts
      if (fresh_starts === undefined) return
      toDisable.set(ref, { reason, fresh_starts })
      wake()
    },
    change(endpoint) {
      endpoints.define(endpoint)
      wake()
    },
    rekey(encryptionKeys) {
      credentials.rekey(encryptionKeys)
      for (const run of endpoints.values()) credentials.read(run)
    },
    reread() {
      for (const run of endpoints.values()) credentials.read(run)
    },
    open: credentials.open,
    async stop(grace) {
      loop.stop()
      const { promise: idle, resolve } = Promise.withResolvers<void>()
      onIdle = () => {
        hasEnded = true
        resolve()
      }
      wake()
      const cancelGrace = clock.timer(grace, () => sender.abort('shutting down'))
      // A store that takes nothing must not keep the process from ending: what is not recorded is sent again.
      const cancelWaiting = clock.timer(grace + storeGrace, () => {
        recorder.abort()
        onIdle?.()
      })
      await idle
      cancelGrace()
      cancelWaiting()
    },
  }
}
