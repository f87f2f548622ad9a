/** `folkmoot-relay status`, `deliveries`, `dead` and `replay`: they work beside a running relay, and without one. */
import { openOperatorStore } from '../backing.ts'
import { systemClock } from '../clock.ts'
import { outboxOf } from '../config.ts'
import type { DeliveryStatus, OperatorStore } from '../store/operator.ts'
import { jsonLines, table } from './output.ts'
import { checkKnown, type ReplayFlags, replayOf, type SelectionFlags, selectionOf } from './selection.ts'

export interface InspectFlags {
  readonly outbox?: string
  readonly json?: boolean
  readonly wide?: boolean
}

/** What of the flags chooses deliveries. */
const choosing = <F extends InspectFlags>({ outbox: _outbox, json: _json, wide: _wide, ...rest }: F) => rest

async function withStore<T>(flags: InspectFlags, work: (store: OperatorStore) => Promise<T>): Promise<T> {
  const store = await openOperatorStore(outboxOf(flags.outbox))
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Every endpoint: whether it is sent to, its circuit, what waits and what is dead. */
export async function status(flags: InspectFlags): Promise<string> {
  return withStore(flags, async (store) => {
    const relays = await store.relays()
    const endpoints = await store.endpoints()
    const notices = await store.notices(flags.json ? 100 : 5)
    if (flags.json) return jsonLines([{ running: relays.length > 0, pid: relays[0]?.pid ?? null, relays, endpoints, notices }])
    const head = [
      ...['network', 'endpoint', 'origin', 'state', 'circuit', 'pending', 'oldest', 'next attempt', 'dead', 'last success'],
      ...['failing since', 'last error'],
    ]
    const rows = endpoints.map((each) => [
      ...[each.network_id, each.endpoint_id, each.origin, each.disabled ?? each.state, each.circuit, each.pending],
      ...[each.oldest_pending_at, each.next_attempt_at, each.dead, each.last_success_at, each.failing_since, each.last_error],
    ])
    const running = relays.map(({ host, pid }) => `a relay is running (process ${pid} on ${host})`)
    const recent = notices.map(({ at, kind, endpoint_id, text }) => `${at}  ${kind}  ${endpoint_id ?? ''}  ${text}\n`)
    return `${running.join('\n') || 'no relay is running'}\n${table(head, rows)}${recent.join('')}`
  })
}

const deliveryHead = [
  'delivery',
  'state',
  'event',
  'type',
  'endpoint',
  'attempts',
  'last attempt',
  'outcome',
  'status',
  'next attempt',
]
const deliveryRow = (each: DeliveryStatus) => [
  ...[each.delivery, each.state, each.event_id, each.event_type, each.endpoint_id, each.attempts, each.last_attempt_at],
  ...[each.last_outcome, each.last_status, each.next_attempt_at],
]

/** Deliveries, the newest first; as JSON with each of their attempts that failed. */
export async function deliveries(flags: InspectFlags & SelectionFlags): Promise<string> {
  const selection = selectionOf(choosing(flags), '--')
  return withStore(flags, async (store) => {
    await checkKnown(store, selection)
    const found = await store.deliveries(selection)
    if (!flags.json) return table(deliveryHead, found.map(deliveryRow))
    const told: object[] = []
    for (const each of found) told.push({ ...each, history: await store.attempts(each.delivery) })
    return jsonLines(told)
  })
}

/** Dead deliveries with each of their failed attempts, the newest first. */
export async function dead(flags: InspectFlags & SelectionFlags): Promise<string> {
  return deliveries({ ...flags, status: 'dead' })
}

/**
 * Makes dead deliveries (or others, with `--status`) due again. A running relay notices within a second.
 * @param progress told how many of how many are done, after each part
 */
export async function replay(flags: InspectFlags & ReplayFlags, progress: (done: number, of: number) => void): Promise<string> {
  const { selection, perSecond } = replayOf(choosing(flags), '--')
  return withStore(flags, async (store) => {
    await checkKnown(store, selection)
    const whole = Math.min(await store.count(selection), selection.limit)
    const count = await store.replay(selection, systemClock.now(), { perSecond, progress: (done) => progress(done, whole) })
    return flags.json
      ? jsonLines([{ replayed: count }])
      : `${count} ${count === 1 ? 'delivery is' : 'deliveries are'} due again\n`
  })
}
