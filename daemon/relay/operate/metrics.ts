/** The relay's figures for Prometheus. Endpoints are labelled by their id: a URL may hold a secret. */

import { hostEventName, webhookName } from '../../../lib/events/catalogue.ts'
import { durationBounds } from '../../../lib/relay/durations.ts'
import { contentType, createRegistry } from '../../prometheus.ts'
import { systemClock } from '../clock.ts'
import type { RelayEvents } from '../events.ts'
import type { Relay } from '../relay.ts'
import { noticeKinds } from '../store/notice.ts'

/** Beyond so many endpoints the rest share the label `other`: every label is a series to store. */
const maxEndpoints = 1000
/** A store that does not respond within so many milliseconds is not waited for: the other figures matter the more then. */
const scrapeTimeoutMs = 3000
/** Bodies above this are refused by some receivers and proxies. */
const largeBytes = 256 * 1024

export interface Metrics extends RelayEvents {
  readonly contentType: string
  /** The figures now, in Prometheus's text form. */
  text(): Promise<string>
}

/** @param relay read for the gauges at each scrape */
export function createMetrics(relay: () => Relay | undefined, version: string): Metrics {
  const registry = createRegistry()
  /** The labels of endpoints, and the outcomes that each has series of. */
  const labels = new Map<string, Set<string>>()

  const attempts = registry.counter('relay_attempts_total', 'Attempts made, by endpoint and outcome.', 'labelled')
  const durations = registry.histogram(
    'relay_attempt_duration_seconds',
    'Duration of attempts, by endpoint.',
    durationBounds.map((bound) => bound / 1000),
    'labelled',
  )
  const lag = registry.histogram(
    'relay_delivery_age_seconds',
    'Time from when an event was ingested until it was delivered.',
    [0.01, 0.05, 0.25, 1, 5, 30, 300, 3600, 86_400],
  )
  const ingested = registry.counter(
    'relay_events_ingested_total',
    'Events read from the outbox. Includes duplicates, and events that no endpoint receives.',
  )
  const duplicates = registry.counter(
    'relay_duplicate_events_total',
    'Events in the outbox that had been ingested before: duplicates.',
  )
  const large = registry.counter(
    'relay_large_deliveries_total',
    'Deliveries of events above 256 KiB, which some receivers refuse, by event type.',
    'labelled',
  )
  const notices = registry.counter('relay_notices_total', 'Notices, by kind.', 'labelled')
  const corrupt = registry.counter('relay_corrupt_records_total', 'Damaged pieces of the outbox, copied aside and skipped.')
  const transitions = registry.counter('relay_breaker_transitions_total', 'Circuits that opened and closed.', 'labelled')
  const faults = registry.counter('relay_faults_total', 'Failures of the relay itself.')

  // Those that have labels are there from the beginning too: `increase` sees a first one only after a zero.
  for (const kind of noticeKinds) notices.add(0, { kind })
  for (const to of ['open', 'closed']) transitions.add(0, { to })

  const ready = registry.gauge('relay_ready', 'Whether the outbox can be ingested and results can be recorded: 1 or 0.')
  const behind = registry.gauge(
    'relay_outbox_behind_seconds',
    'Seconds since everything in the outbox had been ingested. Grows while it cannot be read or ingested.',
  )
  const waiting = registry.gauge(
    'relay_outbox_waiting',
    'Contents of the outbox that are not ingested yet: bytes of a directory; commits of a database, counted up to 10,000.',
    'labelled',
  )
  const inFlight = registry.gauge('relay_inflight', 'Attempts in flight.')
  const endpoints = registry.gauge('relay_endpoints', 'Endpoints of this relay.')
  const pending = registry.gauge('relay_outbox_pending_events', 'Deliveries waiting to be sent.')
  const dead = registry.gauge('relay_dead_letter_events', 'Deliveries without attempts left.')
  const oldest = registry.gauge(
    'relay_outbox_oldest_pending_seconds',
    'Age of the oldest event that waits to be delivered; the one metric to alert on.',
  )
  const storeLog = registry.gauge(
    'relay_store_log_bytes',
    'Size of the write-ahead log of the relay store; 0 with PostgreSQL, which has its own metrics.',
  )
  const proxyUp = registry.gauge(
    'relay_proxy_up',
    'Whether the proxy makes connections: 1 or 0; missing without a proxy.',
    'labelled',
  )
  const identities = registry.gauge(
    'relay_client_identity_expires_seconds',
    'Seconds until a client certificate expires; below 0 afterwards.',
    'labelled',
  )
  const authorities = registry.gauge(
    'relay_ca_expires_seconds',
    'Seconds until the last certificate of a private authority expires; below 0 afterwards.',
    'labelled',
  )
  const breakers = registry.gauge('relay_breaker_state', 'Circuits: 0 closed, 1 open, 2 probing.', 'labelled')
  registry.gauge('relay_build_info', 'The version of the relay.', 'labelled').set(1, { version })

  function labelOf(endpoint: string): string {
    if (labels.size < maxEndpoints && !labels.has(endpoint)) labels.set(endpoint, new Set())
    return labels.has(endpoint) ? endpoint : 'other'
  }

  /** `undefined` when it fails, or is not there in time. */
  async function inTime<T>(reading: Promise<T>): Promise<T | undefined> {
    const { promise: late, resolve } = Promise.withResolvers<undefined>()
    const cancel = systemClock.timer(scrapeTimeoutMs, () => resolve(undefined))
    try {
      return await Promise.race([reading, late])
    } catch {
      // Writers to the store meet the same error, and report it.
      return undefined
    } finally {
      cancel()
    }
  }

  /** An endpoint is gone: its series end, and another one may have its label. */
  function forget(endpoint: string): void {
    for (const outcome of labels.get(endpoint) ?? []) attempts.remove({ endpoint, outcome })
    durations.remove({ endpoint })
    labels.delete(endpoint)
  }

  async function look(running: Relay): Promise<void> {
    const here = new Set(Array.from(running.scheduler.endpoints, ({ endpoint }) => endpoint.id))
    // Those that another relay removed or has taken over, and late attempts of those that were removed here.
    for (const endpoint of labels.keys()) if (!here.has(endpoint)) forget(endpoint)
    const [counts, backlog] = await Promise.all([inTime(running.store.counts()), inTime(running.backlog())])
    ready.set(running.ready ? 1 : 0)
    behind.set(running.behindFor / 1000)
    waiting.clear()
    if (backlog) waiting.set(backlog.count, { unit: backlog.unit })
    proxyUp.clear()
    if (running.proxyWorks !== undefined) proxyUp.set(running.proxyWorks ? 1 : 0)
    identities.clear()
    authorities.clear()
    const inSeconds = (time: number): number => (time - systemClock.now()) / 1000
    for (const [identity, { expires }] of running.tlsFiles.identities) identities.set(inSeconds(expires), { identity })
    for (const [ca, { expires }] of running.tlsFiles.authorities) authorities.set(inSeconds(expires), { ca })
    inFlight.set(running.scheduler.inFlight)
    storeLog.set(running.store.logBytes())
    // Not known is not 0.
    pending.set(counts?.pending ?? Number.NaN)
    dead.set(counts?.dead ?? Number.NaN)
    if (!counts) oldest.set(Number.NaN)
    else oldest.set(counts.oldestPending === null ? 0 : Math.max(0, running.now() - counts.oldestPending) / 1000)
    breakers.clear()
    const states = new Map<string, number>()
    endpoints.set(here.size)
    for (const { endpoint, circuit } of running.scheduler.endpoints) {
      const label = labelOf(endpoint.id)
      // Of those that share a label the worst one counts.
      states.set(label, Math.max(states.get(label) ?? 0, circuit === 'closed' ? 0 : circuit === 'probing' ? 2 : 1))
    }
    for (const [label, state] of states) breakers.set(state, { endpoint: label })
  }

  /** Undeclared types share a label: any text may be one. */
  const knownType = (type: string): string => (webhookName(type) || hostEventName(type) ? type : 'other')

  return {
    contentType,
    onAttempt(report) {
      const endpoint = labelOf(report.endpoint_id)
      attempts.add(1, { endpoint, outcome: report.outcome })
      labels.get(endpoint)?.add(report.outcome)
      durations.observe(report.milliseconds / 1000, { endpoint })
      if (report.state !== 'delivered') return
      lag.observe(report.age / 1000)
      if (report.bytes > largeBytes) large.add(1, { event_type: knownType(report.event_type) })
    },
    onNotice({ kind, endpoint_id }) {
      if (kind === 'endpoint.removed' && endpoint_id !== null) forget(endpoint_id)
      notices.add(1, { kind })
      if (kind === 'outbox.damaged') corrupt.add()
      if (kind === 'endpoint.opened') transitions.add(1, { to: 'open' })
      if (kind === 'endpoint.recovered') transitions.add(1, { to: 'closed' })
    },
    onFault: () => faults.add(),
    onIngested(counts) {
      ingested.add(counts.events)
      duplicates.add(counts.duplicates)
    },
    async text() {
      const running = relay()
      if (running) await look(running)
      return registry.text()
    },
  }
}
