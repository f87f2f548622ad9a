/** The relay for a panel in another process: the calls of `RelayView` as routes of the control, each about one network. */
import * as v from 'valibot'
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

const routes = /^\/networks\/(\d{1,20})\/(status|activity|deliveries|replays)(?:\/([\w-]{1,64}))?(\/stop)?$/

/**
 * Answers a call.
 * @returns null if what it names is not there, and `undefined` if no route fits
 * @throws UsageError
 */
export async function viewAnswer(view: RelayView, { method, path, query, body }: ViewCall): Promise<object | null | undefined> {
  const [, network = '', about = '', part, stop = ''] = routes.exec(path) ?? []
  const single = part === undefined ? '' : part === 'count' ? '/count' : '/{id}'
  switch (`${method} ${about}${single}${stop}`) {
    case 'GET status':
      parsed(nothing, query, '')
      return view.status(network)
    case 'GET activity':
      return view.activity(network, parsed(looking, query, '').minutes)
    case 'GET deliveries': {
      const { limit, after, ...filter } = parsed(listing, query, '')
      return view.deliveries(network, filterOf(filter), { limit, ...(after === undefined ? {} : { after }) })
    }
    case 'GET deliveries/count':
      return view.count(network, filterOf(parsed(counting, query, '')))
    case 'GET deliveries/{id}':
      parsed(nothing, query, '')
      return (await view.delivery(network, part ?? '')) ?? null
    case 'POST replays': {
      const wanted = parsed(replaying, await body(), '')
      const { per_second: perSecond, actor, address } = wanted
      return view.replay(network, selectionOf(wanted), {
        perSecond,
        by: { actor, ...(address === undefined ? {} : { address }) },
      })
    }
    case 'GET replays/{id}':
      return (await view.replayed(network, part ?? '')) ?? null
    case 'POST replays/{id}/stop':
      parsed(nothing, await body(), '')
      return (await view.stopReplay(network, part ?? '')) ?? null
    default:
      return undefined
  }
}
