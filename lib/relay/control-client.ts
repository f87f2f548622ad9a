/** The relay for the panel over its control port, for a panel in another process. Web standards alone. */
import * as v from 'valibot'
import { callable, checkedOptions, must, type RulesOf } from '../base/options.ts'
import { answers } from './control-answers.ts'
import type { DeliveryFilter, RelayView } from './relay-view.ts'

/** The options of `relayViewOverControl`. */
export interface RelayControlOptions {
  /** The address of the control port: `http://127.0.0.1:9464`. */
  readonly url: string
  /** The control key, or a function that reads it for each call. A relay without its key file makes a new key. */
  readonly key: string | (() => string | Promise<string>)
  /** Milliseconds for each call but a test event: 5000 by default. Then the relay counts as away. */
  readonly timeoutMs?: number
  /** `fetch` by default. */
  readonly fetch?: typeof fetch
}

/** The header of a request whose caller leaves the lines of the audit by itself, as the panel does. */
export const auditedHeader = 'folkmoot-audited'

/** Milliseconds for a test event: longer than any time-out of a delivery. */
const testTimeoutMs = 310_000
/** The longest answer, in bytes: a body has at most 16 MiB, and JSON in JSON is longer. */
const maxBytes = 64 * 1024 * 1024

function isAddress(text: unknown): boolean {
  const url = typeof text === 'string' ? URL.parse(text) : null
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/'
}

const timeoutSays = must('be milliseconds from 1 to 300000')
const rules = {
  url: v.custom<string>(isAddress, must('be an address such as http://127.0.0.1:9464')),
  key: v.custom<RelayControlOptions['key']>(
    (key) => typeof key === 'function' || (typeof key === 'string' && /^[\x21-\x7e]{1,1000}$/.test(key)),
    'must be the text of the key file without blanks, or a function that reads it',
  ),
  timeoutMs: v.optional(v.pipe(v.number(timeoutSays), v.minValue(1, timeoutSays), v.maxValue(300_000, timeoutSays)), 5000),
  fetch: v.optional(callable<typeof fetch>()),
} satisfies RulesOf<RelayControlOptions>

interface Call<T> {
  readonly path: string
  readonly answer: v.GenericSchema<unknown, T>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** Sent with POST. */
  readonly body?: object
  readonly withinMs?: number
}

/**
 * The view of a relay by its control port. Only that relay's machine reaches it, because it listens on 127.0.0.1.
 * @throws TypeError that lists every problem of the options
 */
export function relayViewOverControl(given: RelayControlOptions): RelayView {
  if (typeof given !== 'object' || given === null)
    throw new TypeError('relayViewOverControl: the options must be an object with `url` and `key`')
  const { problems, options } = checkedOptions('option', rules, given)
  if (problems.length > 0) throw new TypeError(`relayViewOverControl: ${problems.join('; ')}`)
  const { url, key, timeoutMs, fetch: own } = options
  const { origin } = new URL(url)

  /** @returns `undefined` if the relay has no such thing */
  async function ask<T>({ path, answer, query = {}, body, withinMs = timeoutMs }: Call<T>): Promise<T | undefined> {
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
    const authorization = `Bearer ${(typeof key === 'function' ? await key() : key).trim()}`
    const response = await (own ?? fetch)(`${origin}${path}${search.size > 0 ? `?${search}` : ''}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { authorization, [auditedHeader]: 'yes' },
      redirect: 'error',
      signal: AbortSignal.timeout(withinMs),
    })
    const text = await textOf(response)
    if (response.status === 404) return undefined
    if (response.status === 401) throw new Error('the relay refuses the control key')
    if (response.status !== 200) throw new Error(`the control of the relay answers ${response.status}: ${text.slice(0, 300)}`)
    const result = v.safeParse(answer, JSON.parse(text))
    if (!result.success) throw new Error('the control of the relay answers in an unknown form')
    return result.output
  }

  /** @throws Error if the relay does not have it */
  async function askFor<T>(call: Call<T>): Promise<T> {
    const found = await ask(call)
    if (found === undefined) throw new Error(`the control of the relay has no ${call.path}: start a relay of this version`)
    return found
  }

  const below = (network: string, ...path: readonly string[]): string =>
    ['/networks', network, ...path].map((each, place) => (place === 0 ? each : encodeURIComponent(each))).join('/')
  const queryOf = (filter: DeliveryFilter): Call<unknown>['query'] => ({ ...filter })
  const enabledBy = async (network: string, endpoint: string, action: 'enable' | 'disable') =>
    (await ask({ path: below(network, 'endpoints', endpoint, action), answer: answers.enabled, body: {} })) !== undefined

  return {
    status: (network) => askFor({ path: below(network, 'status'), answer: answers.status }),
    activity: (network, minutes) => askFor({ path: below(network, 'activity'), query: { minutes }, answer: answers.activity }),
    deliveries: async (network, filter, { limit, after }) =>
      after !== undefined && !isDelivery(after)
        ? { items: [], next: null }
        : askFor({ path: below(network, 'deliveries'), query: { ...queryOf(filter), limit, after }, answer: answers.page }),
    count: (network, filter) =>
      askFor({ path: below(network, 'deliveries', 'count'), query: { ...queryOf(filter) }, answer: answers.cappedCount }),
    delivery: (network, id) =>
      isDelivery(id) ? ask({ path: below(network, 'deliveries', id), answer: answers.detail }) : Promise.resolve(undefined),
    replay: (network, selection, { perSecond, by }) =>
      askFor({
        path: below(network, 'replays'),
        body: { ...selection, per_second: perSecond, ...by },
        answer: answers.progress,
      }),
    replayed: (network, id) =>
      isReplay(id) ? ask({ path: below(network, 'replays', id), answer: answers.progress }) : Promise.resolve(undefined),
    stopReplay: (network, id) =>
      isReplay(id)
        ? ask({ path: below(network, 'replays', id, 'stop'), body: {}, answer: answers.progress })
        : Promise.resolve(undefined),
    async test(network, endpoint) {
      // A relay that hangs is found within the time of any other call.
      await askFor({ path: '/livez', answer: v.object({ alive: v.boolean() }) })
      return ask({
        path: below(network, 'endpoints', endpoint, 'test'),
        body: {},
        answer: answers.tested,
        withinMs: Math.max(testTimeoutMs, timeoutMs),
      })
    },
    enable: (network, endpoint) => enabledBy(network, endpoint, 'enable'),
    disable: (network, endpoint) => enabledBy(network, endpoint, 'disable'),
  }
}

/** A link may contain anything: the relay is asked for ids alone. */
const isDelivery = (id: string): boolean => /^\d{1,15}$/.test(id)
const isReplay = (id: string): boolean => /^[\w-]{1,64}$/.test(id)

/** The text of an answer. @throws Error for one that is too long */
async function textOf({ body }: Response): Promise<string> {
  if (!body) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  const reader = body.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.byteLength
    if (bytes > maxBytes) {
      await reader.cancel()
      throw new Error('the answer of the control is too long')
    }
    text += decoder.decode(part.value, { stream: true })
  }
  return text + decoder.decode()
}
