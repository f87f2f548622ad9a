/** The answers of a relay's control, checked: another program may have its port by now. */
import * as v from 'valibot'
import type {
  AttemptCount,
  AttemptRow,
  CappedCount,
  DeliveryDetail,
  DeliveryPage,
  DeliveryRow,
  EndpointHealth,
  RelayActivity,
  RelayStatus,
  ReplayProgress,
  TestAnswer,
} from './relay-view.ts'

type Answer<T> = v.GenericSchema<unknown, T>

const text = v.string()
const textOrNull = v.nullable(text)
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const counts = { at: text, delivered: count, failed: count }
const attempts: Answer<AttemptCount> = v.object(counts)
const cappedCount: Answer<CappedCount> = v.object({ count, exact: v.boolean() })
const state = v.picklist(['pending', 'delivered', 'dead', 'skipped'])

const health: Answer<EndpointHealth> = v.object({
  endpoint_id: text,
  activity: v.picklist(['delivering', 'paused', 'circuit open', 'probing', 'disabled', 'unreadable', 'set aside']),
  reason: textOrNull,
  pending: count,
  dead: count,
  oldest_pending_at: textOrNull,
  last_success_at: textOrNull,
  last_error: textOrNull,
  next_attempt_at: textOrNull,
  next_probe_at: textOrNull,
  hours: v.array(attempts),
})
const status: Answer<RelayStatus> = v.object({ running: v.boolean(), endpoints: v.array(health) })
const activity: Answer<RelayActivity> = v.object({
  minutes: v.array(v.object({ ...counts, circuit_changes: count })),
  oldest_pending_at: textOrNull,
  pending: cappedCount,
})

const deliveryEntries = {
  id: v.pipe(text, v.regex(/^\S{1,200}$/)),
  endpoint_id: text,
  event_id: text,
  event_type: text,
  event_timestamp: text,
  state,
  attempts: count,
  last_attempt_at: textOrNull,
  last_outcome: textOrNull,
  last_status: v.nullable(count),
  milliseconds: v.nullable(count),
  next_attempt_at: textOrNull,
}
const delivery: Answer<DeliveryRow> = v.object(deliveryEntries)
const page: Answer<DeliveryPage> = v.object({ items: v.array(delivery), next: textOrNull })
const attempt: Answer<AttemptRow> = v.object({
  number: count,
  at: text,
  milliseconds: count,
  status: v.nullable(count),
  outcome: text,
  answer: textOrNull,
  // Of an earlier relay these are unknown.
  answer_headers: v.optional(textOrNull, null),
  reason: v.optional(textOrNull, null),
})
const detail: Answer<DeliveryDetail> = v.object({ ...deliveryEntries, body: textOrNull, history: v.array(attempt) })
const progress: Answer<ReplayProgress> = v.object({
  id: v.pipe(text, v.regex(/^\S{1,200}$/)),
  state: v.picklist(['running', 'done', 'stopped', 'failed']),
  done: count,
  of: cappedCount,
  started_at: text,
})
const tested: Answer<TestAnswer> = v.object({
  outcome: text,
  status: v.nullable(count),
  reason: text,
  milliseconds: count,
  answer: v.exactOptional(textOrNull),
  answer_headers: v.exactOptional(textOrNull),
})
const enabled = v.object({ enabled: v.boolean() })

/** The answer of each call. */
export const answers = { status, activity, page, cappedCount, detail, progress, tested, enabled } as const
