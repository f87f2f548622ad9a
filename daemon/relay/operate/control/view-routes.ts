/** The relay for a panel in another process: the calls of `RelayView` as routes of the control, each about one network. */
import * as v from 'valibot'
import { matchRoute, segmentsOf } from '../../../../lib/base/match-route.ts'
import type { DeliveryFilter, RelayView, ReplaySelection } from '../../../../lib/relay/relay-view.ts'
import { UsageError } from '../../../usage.ts'
import { id, moment, parsed } from '../tasks/delivery-selection.ts'

/** A call, as the control reads it. */
export interface ViewCall {
  readonly method: string
  /** Without its query. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Reads the JSON object that was sent. */
  readonly body: () => Promise<Readonly<Record<string, unknown>>>
}

/** The most deliveries that one resend names. */
const mostIds = 1000

const digits = /^\d{1,15}$/
const whole = (least: number, most: number) => {
  const says = `takes a whole number from ${least} to ${most}`
  const number = v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,6}$/), v.transform(Number))], says)
  return v.pipe(number, v.integer(says), v.minValue(least, says), v.maxValue(most, says))
}
const matching = (pattern: RegExp, says: string) => v.pipe(v.string(says), v.regex(pattern, says))
const delivery = matching(digits, 'takes the id of a delivery: digits')

const conditions = {
  endpoint_id: v.optional(id('an endpoint')),
  event_type: v.optional(matching(/^\w{1,100}$/, 'takes an event type such as PostCreatedHook')),
  event_id: v.optional(matching(/^[^\0]{1,300}$/, 'takes the id of an event')),
  state: v.optional(v.picklist(['pending', 'delivered', 'dead', 'skipped'], 'is one of pending, delivered, dead, skipped')),
  outcome: v.optional(matching(/^\w{1,40}$/, 'takes an outcome such as timeout')),
  http_status: v.optional(whole(100, 599)),
  min_milliseconds: v.optional(whole(0, 3_600_000)),
  since: v.optional(moment),
  until: v.optional(moment),
}
const counting = v.object(conditions)
const listing = v.object({ ...conditions, limit: whole(1, 100), after: v.optional(delivery) })
const looking = v.object({ minutes: whole(1, 1440) })
const nothing = v.object({})
const replaying = v.object({
  ids: v.optional(
    v.pipe(v.array(delivery, 'takes a list of ids of deliveries'), v.maxLength(mostIds, `has at most ${mostIds} ids`)),
  ),
  filter: v.optional(v.custom<object>((value) => typeof value === 'object' && value !== null, 'takes an object')),
  per_second: whole(1, 10_000),
  actor: v.pipe(v.string('takes a name'), v.maxLength(200, 'has at most 200 characters')),
  address: v.optional(v.pipe(v.string('takes an address'), v.maxLength(100, 'has at most 100 characters'))),
})

/** Without the conditions that are not given. */
const filterOf = (given: v.InferOutput<typeof counting>): DeliveryFilter =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))

function selectionOf({ ids, filter }: v.InferOutput<typeof replaying>): ReplaySelection {
  if ((ids === undefined) === (filter === undefined)) throw new UsageError('give either `ids` or `filter`')
  return ids === undefined ? { filter: filterOf(parsed(counting, { ...filter }, '')) } : { ids }
}

/** @returns null if what the path names is not there */
type Handle = (
  view: RelayView,
  named: { readonly network: string; readonly id: string },
  call: ViewCall,
) => Promise<object | null>

const route = (method: 'GET' | 'POST', path: string, handle: Handle) => ({ method, path: `networks/:network/${path}`, handle })

const routes = [
  route('GET', 'status', async (view, { network }, { query }) => {
    parsed(nothing, query, '')
    return view.status(network)
  }),
  route('GET', 'activity', async (view, { network }, { query }) => view.activity(network, parsed(looking, query, '').minutes)),
  route('GET', 'deliveries', async (view, { network }, { query }) => {
    const { limit, after, ...filter } = parsed(listing, query, '')
    return view.deliveries(network, filterOf(filter), { limit, ...(after === undefined ? {} : { after }) })
  }),
  route('GET', 'deliveries/count', async (view, { network }, { query }) =>
    view.count(network, filterOf(parsed(counting, query, ''))),
  ),
  route('GET', 'deliveries/:id', async (view, { network, id }, { query }) => {
    parsed(nothing, query, '')
    return (await view.delivery(network, id)) ?? null
  }),
  route('POST', 'replays', async (view, { network }, { body }) => {
    const wanted = parsed(replaying, await body(), '')
    const { per_second: perSecond, actor, address } = wanted
    const by = { actor, ...(address === undefined ? {} : { address }) }
    return view.replay(network, selectionOf(wanted), { perSecond, by })
  }),
  route('GET', 'replays/:id', async (view, { network, id }) => (await view.replayed(network, id)) ?? null),
  route('POST', 'replays/:id/stop', async (view, { network, id }, { body }) => {
    parsed(nothing, await body(), '')
    return (await view.stopReplay(network, id)) ?? null
  }),
]

/**
 * Answers a call.
 * @returns null if what it names is not there, and `undefined` if no route fits
 * @throws UsageError
 */
export async function viewAnswer(view: RelayView, call: ViewCall): Promise<object | null | undefined> {
  const { route: found, params } = matchRoute(routes, call.method, segmentsOf(call.path))
  const { network = '', id = '' } = params
  return found && /^\d{1,20}$/.test(network) && /^[\w-]{0,64}$/.test(id) ? found.handle(view, { network, id }, call) : undefined
}
