/** The relay for the panel, over the store of a relay that runs in the same process. */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type {
  CappedCount,
  DeliveryFilter,
  DeliveryRow,
  EndpointHealth,
  RelayView,
  ReplayProgress,
} from '../../../lib/panel/relay-view.ts'
import { openOperatorStore } from '../backing.ts'
import { systemClock } from '../clock.ts'
import type { Relay } from '../relay.ts'
import { sendTest } from '../send/test-delivery.ts'
import type { DeliverySearch, DeliveryStatus, EndpointStatus, OperatorStore } from '../store/operator-store.ts'

/** A count ends there, or after so many milliseconds. */
const mostCounted = 500_000
const countMs = 1500
/** Windows that one page reads through: a filter that few deliveries match yields a page that is not full, and a next one. */
const windowsOfPage = 20
/** Resends that are remembered, and milliseconds for which. */
const mostReplays = 100
const replayMs = 60 * 60 * 1000
/** The newest deliveries that charts are drawn from. */
const newest = 20_000
const day = 24 * 60 * 60 * 1000

/** The view, and the end of what it holds. */
export interface OpenRelayView extends RelayView {
  close(): Promise<void>
}

interface Replay {
  readonly network: string
  readonly began: number
  progress: ReplayProgress
  stopped: boolean
}

function searchOf(network: string, filter: DeliveryFilter): DeliverySearch {
  const { endpoint_id, event_type, event_id, state, outcome, http_status, since, until } = filter
  return {
    network,
    ...(endpoint_id === undefined ? {} : { endpoint: endpoint_id }),
    ...(event_type === undefined ? {} : { type: event_type }),
    ...(event_id === undefined ? {} : { event: event_id }),
    ...(state === undefined ? {} : { state }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(http_status === undefined ? {} : { status: http_status }),
    ...(since === undefined ? {} : { since: Date.parse(since) }),
    ...(until === undefined ? {} : { until: Date.parse(until) }),
  }
}

const rowOf = ({ delivery, network_id: _network, ...rest }: DeliveryStatus): DeliveryRow => ({ id: String(delivery), ...rest })
const numberOf = (id: string): number | undefined => (/^\d{1,15}$/.test(id) ? Number(id) : undefined)

/**
 * The view of a relay in this process.
 * @param outbox the one that the relay was started with
 */
export function relayViewOf(relay: Relay, outbox: string): OpenRelayView {
  let opened: Promise<OperatorStore> | undefined
  const replays = new Map<string, Replay>()
  let ending = false

  /** One connection for every call. One that cannot be opened is tried again by the next call. */
  function storeThere(): Promise<OperatorStore> {
    opened ??= openOperatorStore(outbox).catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  const circuits = () => new Map([...relay.scheduler.endpoints].map(({ endpoint, circuit }) => [endpoint.ref, circuit]))

  const endpointOf = async (network: string, id: string) =>
    (await relay.store.endpoints()).map(({ endpoint }) => endpoint).find((each) => each.network_id === network && each.id === id)

  async function countOf(network: string, filter: DeliveryFilter): Promise<CappedCount> {
    const store = await storeThere()
    const until = systemClock.monotonic() + countMs
    let count = 0
    for await (const { found } of store.walk(searchOf(network, filter), 'ASC')) {
      count += found.length
      if (count >= mostCounted || systemClock.monotonic() > until) return { count: Math.min(count, mostCounted), exact: false }
      await setImmediate()
    }
    return { count, exact: true }
  }

  const waitFor = (milliseconds: number) => new Promise<void>((resolve) => void systemClock.timer(milliseconds, resolve))

  /** Makes some due, spread over the second that follows. */
  async function again(replay: Replay, deliveries: readonly number[], perSecond: number): Promise<void> {
    const store = await storeThere()
    for (let place = 0; place < deliveries.length && !replay.stopped && !ending; place += perSecond) {
      const now = relay.now()
      const some = deliveries.slice(place, place + perSecond)
      const due = some.map((delivery, at) => ({ delivery, due: Math.floor(now + (at / perSecond) * 1000) }))
      const done = await store.makeDue(due)
      relay.scheduler.refresh()
      replay.progress = { ...replay.progress, done: replay.progress.done + done }
      if (some.length === perSecond) await waitFor(1000)
    }
  }

  async function run(replay: Replay, searches: readonly DeliverySearch[], perSecond: number): Promise<void> {
    const store = await storeThere()
    for (const search of searches)
      for await (const { found } of store.walk(search, 'ASC')) {
        if (replay.stopped || ending) break
        const deliveries = found.filter(({ state }) => state !== 'pending').map(({ delivery }) => delivery)
        await again(replay, deliveries, perSecond)
        await setImmediate()
      }
    replay.progress = { ...replay.progress, state: replay.stopped || ending ? 'stopped' : 'done' }
  }

  function replayOf(network: string, id: string): Replay | undefined {
    const replay = replays.get(id)
    return replay?.network === network && systemClock.monotonic() - replay.began < replayMs ? replay : undefined
  }

  return {
    async status(network) {
      const store = await storeThere()
      const known = new Map((await store.knownEndpoints()).map((each) => [`${each.network_id}/${each.id}`, each.ref]))
      const hours = await store.slots(network, relay.now() - day, day / 24, newest)
      const probing = circuits()
      const endpoints = (await store.endpoints()).filter(({ network_id }) => network_id === network)
      return {
        running: relay.ready,
        endpoints: endpoints.map((each) =>
          healthOf(
            each,
            probing.get(known.get(`${network}/${each.endpoint_id}`) ?? -1) === 'probing',
            hours.filter(({ endpoint_id }) => endpoint_id === each.endpoint_id),
          ),
        ),
      }
    },
    async activity(network, minutes) {
      const store = await storeThere()
      const since = relay.now() - Math.min(Math.max(minutes, 1), 1440) * 60_000
      const byMinute = new Map<number, { delivered: number; failed: number; circuit_changes: number }>()
      const minuteAt = (at: number) => {
        const minute = byMinute.get(at) ?? { delivered: 0, failed: 0, circuit_changes: 0 }
        byMinute.set(at, minute)
        return minute
      }
      for (const { at, delivered, failed } of await store.slots(network, since, 60_000, newest)) {
        const minute = minuteAt(at)
        minute.delivered += delivered
        minute.failed += failed
      }
      for (const { at, kind, network_id } of await store.notices(1000))
        if (network_id === network && Date.parse(at) >= since && ['endpoint.opened', 'endpoint.recovered'].includes(kind))
          minuteAt(Math.floor(Date.parse(at) / 60_000) * 60_000).circuit_changes++
      const endpoints = (await store.endpoints()).filter(({ network_id }) => network_id === network)
      const [oldest = null] = endpoints.flatMap(({ oldest_pending_at }) => oldest_pending_at ?? []).toSorted()
      return {
        minutes: [...byMinute]
          .toSorted(([one], [other]) => one - other)
          .map(([at, minute]) => ({ at: new Date(at).toISOString(), ...minute })),
        oldest_pending_at: oldest,
        pending: { count: endpoints.reduce((sum, { pending }) => sum + pending, 0), exact: true },
      }
    },
    async deliveries(network, filter, { limit, after }) {
      const store = await storeThere()
      const before = after === undefined ? undefined : (numberOf(after) ?? 0)
      const search = { ...searchOf(network, filter), ...(before === undefined ? {} : { before }) }
      const items: DeliveryRow[] = []
      let windows = 0
      for await (const { found, reached } of store.walk(search, 'DESC', limit + 1)) {
        items.push(...found.map(rowOf))
        if (items.length > limit) return { items: items.slice(0, limit), next: items[limit - 1]?.id ?? null }
        if (++windows === windowsOfPage) return { items, next: String(reached) }
      }
      return { items, next: null }
    },
    count: countOf,
    async delivery(network, id) {
      const store = await storeThere()
      const asked = numberOf(id)
      if (asked === undefined) return undefined
      for await (const { found } of store.walk({ network, id: asked }, 'DESC', 1)) {
        const [first] = found
        if (!first) continue
        const kept = await store.attempts(asked)
        const { attempts, last_attempt_at, milliseconds, last_status, last_outcome } = first
        // An attempt that was delivered at once is recorded in its delivery alone.
        const only =
          kept.length === 0 && attempts > 0 && last_attempt_at !== null && last_outcome !== null
            ? [
                {
                  number: attempts,
                  at: last_attempt_at,
                  milliseconds: milliseconds ?? 0,
                  status: last_status,
                  outcome: last_outcome,
                  answer: null,
                },
              ]
            : []
        return { ...rowOf(first), body: await store.body(asked), history: [...kept].reverse().concat(only) }
      }
      return undefined
    },
    async replay(network, selection, { perSecond }) {
      const now = systemClock.monotonic()
      for (const [id, { began, progress }] of replays)
        if (now - began >= replayMs || (replays.size >= mostReplays && progress.state !== 'running')) replays.delete(id)
      if (replays.size >= mostReplays) throw new Error('too many resends run already')
      const ids = 'ids' in selection ? selection.ids.flatMap((id) => numberOf(id) ?? []) : []
      const filter = 'filter' in selection ? selection.filter : undefined
      const store = await storeThere()
      const searches = filter ? [{ ...searchOf(network, filter), before: await store.end() }] : ids.map((id) => ({ network, id }))
      const of = filter ? await countOf(network, filter) : { count: ids.length, exact: true }
      const id = randomUUID()
      const started_at = new Date(relay.now()).toISOString()
      const replay: Replay = { network, began: now, stopped: false, progress: { id, state: 'running', done: 0, of, started_at } }
      replays.set(id, replay)
      run(replay, searches, Math.min(Math.max(Math.floor(perSecond), 1), 10_000)).catch(() => {
        replay.progress = { ...replay.progress, state: 'failed' }
      })
      return replay.progress
    },
    replayed: async (network, id) => replayOf(network, id)?.progress,
    async stopReplay(network, id) {
      const replay = replayOf(network, id)
      if (!replay) return undefined
      replay.stopped = true
      if (replay.progress.state === 'running') replay.progress = { ...replay.progress, state: 'stopped' }
      return replay.progress
    },
    async test(network, id) {
      const endpoint = await endpointOf(network, id)
      if (!endpoint) return undefined
      const { result, status, reason, milliseconds } = await sendTest(
        endpoint,
        relay.scheduler.open,
        relay.settings,
        relay.userAgent,
      )
      // It is as good as a probe.
      if (result === 'delivered') await relay.closeCircuit(endpoint.ref)
      return { outcome: result, status, reason, milliseconds }
    },
    async enable(network, id) {
      const endpoint = await endpointOf(network, id)
      if (endpoint) await relay.enable(endpoint.ref)
      return endpoint !== undefined
    },
    async disable() {
      throw new Error('a relay does not pause an endpoint by itself: community.endpoints.disable does')
    },
    async close() {
      ending = true
      const store = await opened?.catch(() => undefined)
      await store?.close()
    },
  }
}

function healthOf(
  each: EndpointStatus,
  isProbing: boolean,
  hours: readonly { at: number; delivered: number; failed: number }[],
): EndpointHealth {
  const { endpoint_id, state, disabled, unreadable, circuit, pending, dead } = each
  const { oldest_pending_at, last_success_at, last_error, next_attempt_at, next_probe_at } = each
  const sending = circuit === 'closed' ? 'delivering' : isProbing ? 'probing' : 'circuit open'
  const activity = disabled !== null ? 'disabled' : state === 'off' ? 'paused' : unreadable !== null ? 'unreadable' : sending
  return {
    ...{ endpoint_id, activity, reason: disabled ?? unreadable, pending, dead },
    ...{ oldest_pending_at, last_success_at, last_error, next_attempt_at, next_probe_at },
    hours: hours.map(({ at, delivered, failed }) => ({ at: new Date(at).toISOString(), delivered, failed })),
  }
}
