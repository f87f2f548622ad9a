/**
 * Which deliveries a person or a program means: one set of rules for the command line and for the control port.
 *
 * A selection that is misread may send a week of events again. So nothing is ignored: every name must be known, every value
 * must be of its type, and what a selection names must be there.
 */
import * as v from 'valibot'
import { isDay } from '../../../../lib/base/date-time.ts'
import { hostEventName, webhookName } from '../../../../lib/events/catalogue.ts'
import { about, CommandFailure, UsageError } from '../../../usage.ts'
import type { OperatorStore, Selection } from '../../store/operator/operator-store.ts'
import { isNoticeType } from '../../store/plans/notices.ts'

/** The conditions as the command line gives them. */
export interface SelectionFlags {
  readonly status?: string
  readonly endpoint?: string
  readonly network?: string
  readonly event?: string
  readonly type?: string
  readonly since?: string
  readonly until?: string
  readonly slower?: string
  readonly limit?: string
}

export interface ReplayFlags extends SelectionFlags {
  readonly rate?: string
  readonly all?: boolean
}

/** An id of digits; a number counts as its digits. */
export const id = (what: string) =>
  v.pipe(
    v.union([v.string(), v.pipe(v.number(), v.safeInteger(), v.transform(String))], `takes the id of ${what}`),
    v.regex(/^\d{1,20}$/, `takes the id of ${what}: digits`),
  )
const numberOf = (says: string) => v.union([v.number(), v.pipe(v.string(), v.regex(/^\d*\.?\d+$/), v.transform(Number))], says)
const momentSays = 'takes a date and time that exists (2026-11-20T10:00:00Z)'
/** A day, or a time of a day. */
export const moment = v.pipe(
  v.string(momentSays),
  v.maxLength(40, momentSays),
  v.regex(/^\d{4}-\d\d-\d\d([T ]|$)/, momentSays),
  v.check((text) => isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)), momentSays),
)
const time = v.pipe(
  moment,
  v.transform((text) => Date.parse(text)),
)
const slowerSays = 'takes seconds, from 0 to 3600'
const limitSays = 'takes a whole number from 1 to 100000'
const rateSays = 'takes deliveries per second, above 0 and at most 100000'

const conditions = {
  status: v.optional(v.picklist(['pending', 'delivered', 'dead', 'skipped'], 'is one of pending, delivered, dead, skipped')),
  endpoint: v.optional(id('an endpoint')),
  network: v.optional(id('a network (the relay has no subdomains)')),
  event: v.optional(v.pipe(v.string('takes the id of an event'), v.regex(/^[\x20-\x7e]{1,200}$/, 'takes the id of an event'))),
  type: v.optional(v.pipe(v.string('takes an event type'), v.regex(/^\w{1,100}$/, 'takes an event type such as PostCreated'))),
  since: v.optional(time),
  until: v.optional(time),
  slower: v.optional(
    v.pipe(
      numberOf(slowerSays),
      v.minValue(0, slowerSays),
      v.maxValue(3600, slowerSays),
      v.transform((seconds) => Math.round(seconds * 1000)),
    ),
  ),
  limit: v.optional(v.pipe(numberOf(limitSays), v.integer(limitSays), v.minValue(1, limitSays), v.maxValue(100_000, limitSays))),
}
const listing = v.object(conditions)
const replaying = v.object({
  ...conditions,
  status: v.optional(
    v.picklist(['delivered', 'dead', 'skipped'], 'is one of delivered, dead, skipped: pending ones are already due'),
  ),
  rate: v.optional(v.pipe(numberOf(rateSays), v.gtValue(0, rateSays), v.maxValue(100_000, rateSays))),
  all: v.optional(v.literal(true, 'must be true')),
})

const { network, event, type, limit } = conditions
const skipping = v.object({ endpoint: conditions.endpoint, network, event, type, before: v.optional(time), limit })

/** How names are written where a selection comes from: `--limit` or `limit`. */
export type Prefix = '--' | ''

/**
 * Values by their rules; a name without a rule is refused.
 * @throws UsageError naming every problem
 */
export function parsed<S extends v.ObjectSchema<v.ObjectEntries, undefined>>(
  schema: S,
  given: Readonly<Record<string, unknown>>,
  prefix: Prefix,
): v.InferOutput<S> {
  const names = Object.keys(schema.entries)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const shown = /^\w{1,40}$/.test(unknown) ? `\`${unknown}\`` : 'a name of that kind'
    throw new UsageError(`there is no ${shown} here; allowed: ${names.join(', ')}`)
  }
  const result = v.safeParse(schema, given)
  if (result.success) return result.output
  const problems = result.issues.map(({ path, message }) => {
    const name = String(path?.[0]?.key)
    return { name, text: `${prefix}${name} ${Object.hasOwn(given, name) ? message : 'is missing'}` }
  })
  const sentences = new Set(problems.map(({ text }) => text))
  throw about(new UsageError([...sentences].join('; ')), ...problems.map(({ name }) => name))
}

function selectionFrom(
  { status, type, limit, ...rest }: v.InferOutput<typeof listing>,
  fallback: Pick<Selection, 'state' | 'limit'>,
): Selection {
  const state = status ?? fallback.state
  const set = Object.entries(rest).filter(([, value]) => value !== undefined)
  return {
    limit: limit ?? fallback.limit,
    ...(state === undefined ? {} : { state }),
    ...(type === undefined ? {} : { type: type.endsWith('Hook') ? type : `${type}Hook` }),
    ...(Object.fromEntries(set) as Omit<Selection, 'limit'>),
  }
}

/**
 * Deliveries to list: 50 of any state unless something is said.
 * @throws UsageError naming every problem
 */
export const selectionOf = (given: Readonly<Record<string, unknown>>, prefix: Prefix): Selection =>
  selectionFrom(parsed(listing, given, prefix), { limit: 50 })

export interface Skip {
  readonly endpoint: string
  readonly network: string | undefined
  readonly selection: Selection
}

/**
 * Waiting deliveries of one endpoint to skip: all of them unless something is said.
 * @throws UsageError naming every problem
 */
export function skipOf(given: Readonly<Record<string, unknown>>, prefix: Prefix): Skip {
  const { endpoint, network, before, ...rest } = parsed(skipping, given, prefix)
  if (endpoint === undefined) throw new UsageError(`skip needs ${prefix}endpoint`)
  const selection = selectionFrom(
    { ...rest, status: undefined, endpoint, network, since: undefined, until: before, slower: undefined },
    { limit: Number.MAX_SAFE_INTEGER },
  )
  return { endpoint, network, selection }
}

export interface Replay {
  readonly selection: Selection
  /** Deliveries a second; all of them immediately when it is left out. */
  readonly perSecond: number | undefined
}

/**
 * Deliveries to replay: dead ones unless something is said, and never all of them unless that is said.
 * @throws UsageError naming every problem
 */
export function replayOf(given: Readonly<Record<string, unknown>>, prefix: Prefix): Replay {
  const { rate, all, ...conditions } = parsed(replaying, given, prefix)
  const { endpoint, network, event, type, since, until, slower } = conditions
  const chosen = [endpoint, network, event, type, since, until, slower].some((each) => each !== undefined)
  if (!chosen && all !== true) {
    const names = ['event', 'type', 'endpoint', 'network', 'since', 'until'].map((name) => `${prefix}${name}`).join(', ')
    const everything = prefix === '--' ? '--all' : '"all": true'
    throw new UsageError(`a replay needs ${names} or ${prefix}slower to choose by, or ${everything}`)
  }
  return { selection: selectionFrom(conditions, { state: 'dead', limit: 10_000 }), perSecond: rate }
}

/**
 * Refuses a selection of unknown things: an empty list would pass for good news.
 * @throws UsageError
 */
export async function checkKnown(store: OperatorStore, { endpoint, network, type }: Selection): Promise<void> {
  if (endpoint !== undefined || network !== undefined) {
    const known = await store.knownEndpoints()
    const inNetwork = known.filter((each) => network === undefined || each.network_id === network)
    if (inNetwork.length === 0)
      throw about(new CommandFailure(`there is no endpoint of network ${network ?? ''}: see status`), 'network')
    if (endpoint !== undefined && !inNetwork.some(({ id }) => id === endpoint))
      throw about(
        new CommandFailure(`there is no endpoint ${endpoint}${network ? ` of network ${network}` : ''}: see status`),
        'network',
      )
  }
  if (type === undefined || webhookName(type) || hostEventName(type) || isNoticeType(type)) return
  if (!(await store.hasEventType(type))) throw new UsageError(`there is no event type ${type}: docs/events.md lists them`)
}

/** The parameters of a query, each of which may be given once. @throws UsageError */
export function queryOf(params: URLSearchParams): Readonly<Record<string, string>> {
  const names = [...params.keys()]
  const twice = names.find((name, place) => names.indexOf(name) !== place)
  if (twice !== undefined)
    throw new UsageError(`a parameter may be given once${/^\w{1,40}$/.test(twice) ? `: \`${twice}\` is there twice` : ''}`)
  return Object.fromEntries(params)
}
