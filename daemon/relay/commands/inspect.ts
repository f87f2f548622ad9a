/** `folkmoot-relay status`, `deliveries`, `dead` and `replay`: they work beside a running relay, and without one. */
import { lockOwner } from '../../../adapters/process-lock.ts'
import { UsageError } from '../../usage.ts'
import { systemClock } from '../clock.ts'
import { outboxOf } from '../config.ts'
import { lockPath, storePath } from '../relay.ts'
import { type DeliveryStatus, type OperatorStore, openOperatorStore } from '../store/operator.ts'
import { jsonLines, table } from './output.ts'
import { rateOf, type SelectionText, selectionOf } from './selection.ts'

export interface InspectFlags {
  readonly outbox?: string
  readonly json?: boolean
}

export interface SelectionFlags extends InspectFlags, SelectionText {
  readonly all?: boolean
  /** Deliveries a second. */
  readonly rate?: string
}

async function withStore<T>(flags: InspectFlags, work: (store: OperatorStore, outbox: string) => T | Promise<T>): Promise<T> {
  const outbox = outboxOf(flags.outbox)
  const store = openOperatorStore(storePath(outbox))
  try {
    return await work(store, outbox)
  } finally {
    store.close()
  }
}

/** Every endpoint: whether it is sent to, its circuit, what waits and what is dead. */
export async function status(flags: InspectFlags): Promise<string> {
  return withStore(flags, async (store, outbox) => {
    const owner = await lockOwner(lockPath(outbox))
    const endpoints = store.endpoints()
    const notices = store.notices(flags.json ? 100 : 5)
    if (flags.json) return jsonLines([{ running: owner !== undefined, pid: owner?.pid ?? null, endpoints, notices }])
    const head = [
      ...['network', 'endpoint', 'origin', 'state', 'circuit', 'pending', 'oldest', 'next attempt', 'dead', 'last success'],
      ...['failing since', 'last error'],
    ]
    const rows = endpoints.map((each) => [
      ...[each.network_id, each.endpoint_id, each.origin, each.disabled ?? each.state, each.circuit, each.pending],
      ...[each.oldest_pending_at, each.next_attempt_at, each.dead, each.last_success_at, each.failing_since, each.last_error],
    ])
    const running = owner ? `a relay is running (process ${owner.pid})` : 'no relay is running'
    const recent = notices.map(({ at, kind, endpoint_id, text }) => `${at}  ${kind}  ${endpoint_id ?? ''}  ${text}\n`)
    return `${running}\n${table(head, rows)}${recent.join('')}`
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
export async function deliveries(flags: SelectionFlags): Promise<string> {
  const selection = selectionOf(flags, { limit: 50 })
  return withStore(flags, (store) => {
    const found = store.deliveries(selection)
    if (flags.json) return jsonLines(found.map((each) => ({ ...each, history: store.attempts(each.delivery) })))
    return table(deliveryHead, found.map(deliveryRow))
  })
}

/** Dead deliveries with each of their failed attempts, the newest first. */
export async function dead(flags: SelectionFlags): Promise<string> {
  return deliveries({ ...flags, status: 'dead' })
}

/**
 * Makes dead deliveries (or others, with `--status`) due again. A running relay notices within a second.
 * @param progress told how many of how many are done, after each part
 */
export async function replay(flags: SelectionFlags, progress: (done: number, of: number) => void): Promise<string> {
  const { endpoint, network, event, type, since, until, all } = flags
  if (![endpoint, network, event, type, since, until].some((each) => each !== undefined) && all !== true)
    throw new UsageError('replay needs --event, --type, --endpoint, --network, --since or --until to choose by, or --all')
  if (flags.status === 'pending') throw new UsageError('--status pending: those are on their way already')
  const selection = selectionOf(flags, { state: 'dead', limit: 10_000 })
  const perSecond = rateOf(flags.rate)
  return withStore(flags, (store) => {
    const whole = Math.min(store.count(selection), selection.limit)
    const count = store.replay(selection, systemClock.now(), { perSecond, progress: (done) => progress(done, whole) })
    return flags.json
      ? jsonLines([{ replayed: count }])
      : `${count} ${count === 1 ? 'delivery is' : 'deliveries are'} due again\n`
  })
}
