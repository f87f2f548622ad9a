/** The calls of a relay's control: the routes of the control and its client come from this table. */
import * as v from 'valibot'
import { deliveryFilter, whole } from './delivery-filter.ts'
import type { RelayAdmin } from './relay-admin.ts'

/**
 * The header of each response of a control, and its value, which goes up with each change of what responses contain. Another
 * program may have the port by now, or a relay of another version.
 */
export const versionHeader = 'folkmoot-control'
export const controlVersion = '2'

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
  test: v.object({ ...endpoint, event_type: deliveryFilter.entries.event_type }),
} as const

/** One call: its route, what it takes and returns, and the function behind it. */
export interface Call<I, O> {
  readonly method: 'GET' | 'POST'
  /** Without a slash at its ends. What `:name` stands for is a part of the input. */
  readonly path: string
  readonly input: v.GenericSchema<unknown, I>
  /** Of the parts of its input. */
  readonly names: readonly string[]
  /** @throws v.ValiError for an input that cannot be right */
  readonly handle: (admin: RelayAdmin, given: object) => Promise<O | undefined>
}

function call<E extends v.ObjectEntries, O>(
  route: string,
  input: v.ObjectSchema<E, undefined>,
  run: (admin: RelayAdmin, input: v.InferOutput<v.ObjectSchema<E, undefined>>) => Promise<O | undefined>,
): Call<v.InferOutput<v.ObjectSchema<E, undefined>>, O> {
  const [method, path = ''] = route.split(' /')
  return {
    ...{ method: method === 'GET' ? 'GET' : 'POST', path, input, names: Object.keys(input.entries) },
    handle: async (admin, given) => run(admin, v.parse(input, given)),
  }
}
const onEndpoint = (method: 'GET' | 'POST', action: string): string =>
  `${method} /networks/:network_id/endpoints/:endpoint_id/${action}`
const named = (id: typeof number | typeof resend) => v.object({ id, network_id })

/** The calls; a path without parameters comes before those that it would fit. */
export const calls = {
  status: call('GET /status', v.object({ network_id }), (admin, input) => admin.status(input)),
  activity: call('GET /activity', v.object({ network_id: network, minutes: whole(1, 1440) }), (admin, input) =>
    admin.activity(input),
  ),
  list: call('GET /deliveries', inputs.list, (admin, input) => admin.list(input)),
  count: call('GET /deliveries/count', deliveryFilter, (admin, input) => admin.count(input)),
  get: call('GET /deliveries/:id', named(number), (admin, input) => admin.get(input)),
  resend: call('POST /resends', inputs.resend, (admin, input) => admin.resend(input)),
  progress: call('GET /resends/:id', named(resend), (admin, input) => admin.progress(input)),
  stop: call('POST /resends/:id/stop', named(resend), (admin, input) => admin.stop(input)),
  skip: call(onEndpoint('POST', 'skip'), inputs.skip, (admin, input) => admin.skip(input)),
  explain: call(onEndpoint('GET', 'explain'), inputs.explain, (admin, input) => admin.explain(input)),
  test: call(onEndpoint('POST', 'test'), inputs.test, (admin, input) => admin.test(input)),
  enable: call(onEndpoint('POST', 'enable'), inputs.endpoint, (admin, input) => admin.enable(input)),
  disable: call(onEndpoint('POST', 'disable'), inputs.endpoint, (admin, input) => admin.disable(input)),
  closeCircuit: call(onEndpoint('POST', 'close-circuit'), inputs.endpoint, (admin, input) => admin.closeCircuit(input)),
} satisfies Readonly<Record<Exclude<keyof RelayAdmin, 'refuses'>, unknown>>
