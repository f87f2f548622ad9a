/** The calls of a relay's control: the routes of the control and its client come from this table. */
import * as v from 'valibot'
import { deliveryFilter, whole } from './delivery-filter.ts'
import type {
  AttemptCount,
  AttemptRow,
  CappedCount,
  CircuitClosed,
  DeliveryDetail,
  DeliveryPage,
  DeliveryRow,
  EndpointStatus,
  Explanation,
  NoticeStatus,
  RelayActivity,
  RelayAdmin,
  RelayStatus,
  ResendProgress,
  TestAnswer,
} from './relay-admin.ts'

// Answers are checked: another program may have the port by now.
type Answer<T> = v.GenericSchema<unknown, T>

const text = v.string()
const textOrNull = v.nullable(text)
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const counts = { at: text, delivered: count, failed: count }
const attempts: Answer<AttemptCount> = v.object(counts)
const cappedCount: Answer<CappedCount> = v.object({ count, exact: v.boolean() })
const state = v.picklist(['pending', 'delivered', 'dead', 'skipped'])

const health: Answer<EndpointStatus> = v.object({
  endpoint_id: text,
  network_id: text,
  name: textOrNull,
  origin: text,
  path: text,
  state: v.picklist(['active', 'off', 'disabled']),
  activity: v.picklist(['delivering', 'paused', 'circuit open', 'probing', 'disabled', 'unreadable', 'set aside']),
  reason: textOrNull,
  disabled: textOrNull,
  circuit: v.picklist(['closed', 'open']),
  pending: count,
  dead: count,
  last_success_at: textOrNull,
  failing_since: textOrNull,
  oldest_pending_at: textOrNull,
  next_attempt_at: textOrNull,
  next_probe_at: textOrNull,
  last_error: textOrNull,
  unreadable: textOrNull,
  set_aside: v.boolean(),
  hours: v.array(attempts),
})
const notice: Answer<NoticeStatus> = v.object({
  at: text,
  kind: text,
  network_id: textOrNull,
  endpoint_id: textOrNull,
  event_id: textOrNull,
  text,
})
const status: Answer<RelayStatus> = v.object({
  running: v.boolean(),
  relays: v.array(v.object({ host: text, pid: count })),
  endpoints: v.array(health),
  notices: v.array(notice),
})
const activity: Answer<RelayActivity> = v.object({
  minutes: v.array(v.object({ ...counts, circuit_changes: count })),
  oldest_pending_at: textOrNull,
  pending: cappedCount,
})

const deliveryEntries = {
  id: v.pipe(text, v.regex(/^\S{1,200}$/)),
  network_id: text,
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
const progress: Answer<ResendProgress> = v.object({
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
const explanation: Answer<Explanation> = v.object({ reason: text, text, delivery: v.nullable(detail) })
const closed: Answer<CircuitClosed> = v.object({ endpoint_id: text, network_id: text, was: v.picklist(['closed', 'open']) })

const { network_id, endpoint_id, event_id } = deliveryFilter.entries
const network = network_id.wrapped
const number = v.pipe(v.string('takes an id'), v.regex(/^\d{1,15}$/, 'takes the id of a delivery: digits'))
const resend = v.pipe(v.string('takes an id'), v.regex(/^[\w-]{1,64}$/, 'takes the id of a resend'))
const limit = v.exactOptional(whole(1, 100_000))
const short = (length: number) => v.pipe(v.string('takes a text'), v.maxLength(length, `has at most ${length} characters`))
const paceSays = 'takes deliveries per second, above 0 and at most 100000'
/** The most deliveries that one resend names. */
const mostIds = 1000

const endpoint = { network_id: network, endpoint_id: endpoint_id.wrapped }
const { state: _, ...waiting } = deliveryFilter.entries

/** The input of each call, for the commands too. */
export const inputs = {
  list: v.object({ ...deliveryFilter.entries, limit, after: v.exactOptional(number) }),
  resend: v.object({
    ...deliveryFilter.entries,
    state: v.exactOptional(
      v.picklist(['delivered', 'dead', 'skipped'], 'is one of delivered, dead, skipped: pending ones are already due'),
    ),
    ids: v.exactOptional(
      v.pipe(
        v.array(number, 'takes a list of ids of deliveries'),
        v.maxLength(mostIds, `has at most ${mostIds} ids`),
        v.readonly(),
      ),
    ),
    all: v.exactOptional(v.literal(true, 'must be true')),
    limit,
    per_second: v.exactOptional(
      v.pipe(
        v.union([v.number(), v.pipe(v.string(), v.regex(/^\d*\.?\d+$/), v.transform(Number))], paceSays),
        v.gtValue(0, paceSays),
        v.maxValue(100_000, paceSays),
      ),
    ),
    actor: v.exactOptional(short(200)),
    address: v.exactOptional(short(100)),
  }),
  skip: v.object({ ...waiting, ...endpoint, limit }),
  explain: v.object({ ...endpoint, event_id: event_id.wrapped }),
  endpoint: v.object(endpoint),
} as const

/** One call: its route, what it takes and returns, and the function behind it. */
export interface Call<I, O> {
  readonly method: 'GET' | 'POST'
  /** Without a slash at its ends. What `:name` stands for is a part of the input. */
  readonly path: string
  readonly input: v.GenericSchema<unknown, I>
  /** Of the parts of its input. */
  readonly names: readonly string[]
  readonly answer: Answer<O>
  /** @throws v.ValiError for an input that cannot be right */
  readonly handle: (admin: RelayAdmin, given: object) => Promise<O | undefined>
}

function call<E extends v.ObjectEntries, O>(
  route: string,
  input: v.ObjectSchema<E, undefined>,
  answer: Answer<O>,
  run: (admin: RelayAdmin, input: v.InferOutput<v.ObjectSchema<E, undefined>>) => Promise<O | undefined>,
): Call<v.InferOutput<v.ObjectSchema<E, undefined>>, O> {
  const [method, path = ''] = route.split(' /')
  return {
    ...{ method: method === 'GET' ? 'GET' : 'POST', path, input, names: Object.keys(input.entries), answer },
    handle: async (admin, given) => run(admin, v.parse(input, given)),
  }
}
const onEndpoint = (action: string): string => `POST /networks/:network_id/endpoints/:endpoint_id/${action}`
const named = (id: typeof number | typeof resend) => v.object({ id, network_id })

/** The calls; a path without parameters comes before those that it would fit. */
export const calls = {
  status: call('GET /status', v.object({ network_id }), status, (admin, input) => admin.status(input)),
  activity: call('GET /activity', v.object({ network_id: network, minutes: whole(1, 1440) }), activity, (admin, input) =>
    admin.activity(input),
  ),
  list: call('GET /deliveries', inputs.list, page, (admin, input) => admin.list(input)),
  count: call('GET /deliveries/count', deliveryFilter, cappedCount, (admin, input) => admin.count(input)),
  get: call('GET /deliveries/:id', named(number), detail, (admin, input) => admin.get(input)),
  resend: call('POST /resends', inputs.resend, progress, (admin, input) => admin.resend(input)),
  progress: call('GET /resends/:id', named(resend), progress, (admin, input) => admin.progress(input)),
  stop: call('POST /resends/:id/stop', named(resend), progress, (admin, input) => admin.stop(input)),
  skip: call(onEndpoint('skip'), inputs.skip, v.object({ skipped: count }), (admin, input) => admin.skip(input)),
  explain: call('GET /networks/:network_id/endpoints/:endpoint_id/explain', inputs.explain, explanation, (admin, input) =>
    admin.explain(input),
  ),
  test: call(onEndpoint('test'), inputs.endpoint, tested, (admin, input) => admin.test(input)),
  enable: call(onEndpoint('enable'), inputs.endpoint, enabled, (admin, input) => admin.enable(input)),
  disable: call(onEndpoint('disable'), inputs.endpoint, enabled, (admin, input) => admin.disable(input)),
  closeCircuit: call(onEndpoint('close-circuit'), inputs.endpoint, closed, (admin, input) => admin.closeCircuit(input)),
} satisfies Readonly<Record<keyof RelayAdmin, unknown>>
