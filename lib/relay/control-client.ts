/** The administration of a relay over its control port, for a panel in another process. Web standards alone. */
import * as v from 'valibot'
import { callable, checkedOptions, must, type RulesOf } from '../base/options.ts'
import { type Call, calls, controlVersion, versionHeader } from './calls.ts'
import type { RelayAdmin } from './relay-admin.ts'

/** The options of `relayAdminOverControl`. */
export interface RelayControlOptions {
  /** The address of the control port: `http://127.0.0.1:9464`. */
  readonly url: string
  /** The control token, or a function that reads it for each call. A relay without its token file makes a new token. */
  readonly token: string | (() => string | Promise<string>)
  /** Milliseconds for each call but a test event: 5000 by default. Then the relay counts as away. */
  readonly timeoutMs?: number
  /** `fetch` by default. */
  readonly fetch?: typeof fetch
  /** Whether the relay writes the lines of the audit: `false` by default, because the panel does so by itself. */
  readonly audits?: boolean
}

/** The header of a request whose caller leaves the lines of the audit by itself, as the panel does. */
export const auditedHeader = 'folkmoot-audited'

/** Milliseconds for a test event: longer than any time-out of a delivery. */
const testTimeoutMs = 310_000
/** The longest response, in bytes: a body has at most 16 MiB, and JSON in JSON is longer. */
const maxBytes = 64 * 1024 * 1024

function isAddress(text: unknown): boolean {
  const url = typeof text === 'string' ? URL.parse(text) : null
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/'
}

const timeoutSays = must('be milliseconds from 1 to 300000')
const rules = {
  url: v.custom<string>(isAddress, must('be an address such as http://127.0.0.1:9464')),
  token: v.custom<RelayControlOptions['token']>(
    (token) => typeof token === 'function' || (typeof token === 'string' && /^[\x21-\x7e]{1,1000}$/.test(token)),
    'must be the text of the token file without blanks, or a function that reads it',
  ),
  timeoutMs: v.optional(v.pipe(v.number(timeoutSays), v.minValue(1, timeoutSays), v.maxValue(300_000, timeoutSays)), 5000),
  fetch: v.optional(callable<typeof fetch>()),
  audits: v.optional(v.boolean(must('be true or false')), false),
} satisfies RulesOf<RelayControlOptions>

/**
 * The administration of a relay by its control port. Only that relay's machine reaches it, because it listens on 127.0.0.1.
 * @throws TypeError that lists every problem of the options
 */
export function relayAdminOverControl(given: RelayControlOptions): RelayAdmin {
  if (typeof given !== 'object' || given === null)
    throw new TypeError('relayAdminOverControl: the options must be an object with `url` and `token`')
  const { problems, options } = checkedOptions('option', rules, given)
  if (problems.length > 0) throw new TypeError(`relayAdminOverControl: ${problems.join('; ')}`)
  const { url, token, timeoutMs, fetch: own, audits } = options
  const { origin } = new URL(url)

  async function textFrom(path: string, init: RequestInit, withinMs: number): Promise<string | undefined> {
    const authorization = `Bearer ${(typeof token === 'function' ? await token() : token).trim()}`
    const response = await (own ?? fetch)(`${origin}/${path}`, {
      ...init,
      headers: { authorization, ...(audits ? {} : { [auditedHeader]: 'yes' }) },
      redirect: 'error',
      signal: AbortSignal.timeout(withinMs),
    })
    const text = await textOf(response)
    if (response.status === 404) return undefined
    if (response.status === 401) throw new Error('the relay refuses the control token')
    if (response.status !== 200)
      throw new Error(`the control of the relay responds with ${response.status}: ${text.slice(0, 300)}`)
    if (response.headers.get(versionHeader) !== controlVersion)
      throw new Error('the control of the relay responds in an unknown form: start a relay of this version')
    return text
  }

  /** @returns a function that makes a call; `undefined` if the relay has no such thing, as for an id that cannot be one */
  const callOf =
    <I extends object, O>({ method, path, input }: Call<I, O>, withinMs = timeoutMs) =>
    async (given: I): Promise<O | undefined> => {
      if (!v.is(input, given)) return undefined
      const rest = new Map(Object.entries(given).filter(([, value]) => value !== undefined))
      const named = path.replace(/:(\w+)/g, (_, name: string) => {
        const value = encodeURIComponent(String(rest.get(name)))
        rest.delete(name)
        return value
      })
      const search = new URLSearchParams()
      if (method === 'GET') for (const [name, value] of rest) search.set(name, String(value))
      const query = search.size > 0 ? `?${search}` : ''
      const init = method === 'GET' ? {} : { method, body: JSON.stringify(Object.fromEntries(rest)) }
      const text = await textFrom(`${named}${query}`, init, withinMs)
      if (text === undefined) return undefined
      return JSON.parse(text) as O
    }

  /** @returns a function that makes a call, and fails if the relay does not have it */
  const need = <I extends object, O>(call: Call<I, O>) => {
    const called = callOf(call)
    return async (given: I): Promise<O> => {
      const found = await called(given)
      if (found !== undefined) return found
      throw new Error(`the control of the relay has no /${call.path}: start a relay of this version`)
    }
  }

  const testBy = callOf(calls.test, Math.max(testTimeoutMs, timeoutMs))
  return {
    status: need(calls.status),
    activity: need(calls.activity),
    list: async (given) => (v.is(calls.list.input, given) ? need(calls.list)(given) : { items: [], next: null }),
    count: need(calls.count),
    get: callOf(calls.get),
    resend: need(calls.resend),
    progress: callOf(calls.progress),
    stop: callOf(calls.stop),
    skip: callOf(calls.skip),
    explain: callOf(calls.explain),
    async test(endpoint) {
      // A relay that hangs is found within the time of any other call.
      await textFrom('livez', {}, timeoutMs)
      return testBy(endpoint)
    },
    enable: callOf(calls.enable),
    disable: callOf(calls.disable),
    closeCircuit: callOf(calls.closeCircuit),
  }
}

/** The text of a response. @throws Error for one that is too long */
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
      throw new Error('the response of the control is too long')
    }
    text += decoder.decode(part.value, { stream: true })
  }
  return text + decoder.decode()
}
