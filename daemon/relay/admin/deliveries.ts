/** Deliveries of a store: a page, their number, and one with its attempts. */
import { setImmediate } from 'node:timers/promises'
import type {
  CappedCount,
  DeliveryDetail,
  DeliveryFilter,
  DeliveryPage,
  DeliveryPaging,
  NamedRef,
} from '../../../lib/relay/relay-admin.ts'
import { systemClock } from '../clock.ts'
import type { OperatorStore } from '../store/operator/operator-store.ts'

/** Rows that one page looks through: a filter that few deliveries match yields a page that is not full, and a next one. */
const mostLooked = 20_000
/** A count ends there, or after so many milliseconds. */
const mostCounted = 500_000
const countMs = 1500

/** The number behind an id; `undefined` for what cannot be one. */
export const numberOf = (id: string): number | undefined => (/^\d{1,15}$/.test(id) ? Number(id) : undefined)

/** A page of deliveries, the newest first. */
export async function pageOf(
  store: OperatorStore,
  { limit = 50, after, ...filter }: DeliveryFilter & DeliveryPaging,
): Promise<DeliveryPage> {
  const search = after === undefined ? filter : { ...filter, before: numberOf(after) ?? 0 }
  const items: DeliveryPage['items'][number][] = []
  let seen = 0
  for await (const { found, reached, looked } of store.walk(search, 'DESC', limit + 1)) {
    items.push(...found)
    if (items.length > limit) return { items: items.slice(0, limit), next: items[limit - 1]?.id ?? null }
    seen += looked
    if (seen >= mostLooked) return { items, next: String(reached) }
  }
  return { items, next: null }
}

export async function countOf(store: OperatorStore, filter: DeliveryFilter): Promise<CappedCount> {
  const until = systemClock.monotonic() + countMs
  let count = 0
  for await (const part of store.counts(filter)) {
    count += part
    if (count >= mostCounted || systemClock.monotonic() > until) return { count: Math.min(count, mostCounted), exact: false }
    await setImmediate()
  }
  return { count, exact: true }
}

export async function detailOf(store: OperatorStore, { id: given, ...filter }: NamedRef): Promise<DeliveryDetail | undefined> {
  const id = numberOf(given)
  if (id === undefined) return undefined
  const [first] = await store.deliveries({ ...filter, id, limit: 1 })
  if (!first) return undefined
  const kept = await store.attempts(id)
  const { attempts: number, last_attempt_at: at, last_status: status, last_outcome: outcome } = first
  const milliseconds = first.milliseconds ?? 0
  // A delivery that succeeded at its first attempt is recorded in its delivery alone.
  const only =
    kept.length === 0 && number > 0 && at !== null && outcome !== null
      ? [{ number, at, milliseconds, status, outcome, answer: null, answer_headers: null, reason: null }]
      : []
  return { ...first, body: (await store.content(id))?.body ?? null, history: [...kept].reverse().concat(only) }
}
