/** The options of a client and of a call. */
import { systemTiming, type Timing } from './timing.ts'

/** A retry that is about to happen. */
export interface Retry {
  /** The method and the path. */
  readonly request: string
  /** How many tries there were. */
  readonly tries: number
  /** Milliseconds until the next one. */
  readonly waitMs: number
  /** Why the try before it failed. */
  readonly error: Error
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call immediately, also while it waits to retry. The call throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that one try may take, with its whole response. */
  readonly timeout?: number | undefined
  /** How often a failed request is tried again. */
  readonly maxRetries?: number | undefined
  /** The `Idempotency-Key` of a POST, the same for all of its tries. By default a new one for each call. */
  readonly idempotencyKey?: string | undefined
  /** The `token` of a preview: the request happens only if it still changes what that has shown, and is a `Conflict` otherwise. */
  readonly ifPreview?: string
}

/** Options of `createClient`. */
export interface ClientOptions {
  /** The address of the server, such as `https://api.example.org`, with the prefix of the path if there is one. */
  readonly baseUrl: string | URL
  /** The id of the network, or its subdomain. */
  readonly network: string | number
  /** The API token, or a function that returns it, called before each try. */
  readonly token: string | (() => string | Promise<string>)
  /** Sends a request. `globalThis.fetch` by default; `(request) => community.fetch(request)` needs no network. */
  readonly fetch?: ((request: Request) => Response | Promise<Response>) | undefined
  /** Milliseconds that one try may take, with its whole response. 60,000 by default. */
  readonly timeout?: number | undefined
  /** How often a failed request is tried again. 3 by default. */
  readonly maxRetries?: number | undefined
  /**
   * The longest wait for a next try, in milliseconds. If the server wants more, the call fails immediately. 120,000 by default.
   */
  readonly maxRetryWait?: number | undefined
  /** The largest response that is read, in bytes. 64 MiB by default. */
  readonly maxResponseBytes?: number | undefined
  /** `'string'` gives ids as texts, which the types are, though the server sends numbers. By default they stay as they are sent. */
  readonly ids?: 'string' | undefined
  /** Called before each retry. */
  readonly onRetry?: ((retry: Retry) => void) | undefined
  /** For tests. */
  readonly timing?: Timing | undefined
}

/** Checked options. */
export interface Settings {
  /** `https://api.example.org/prefix/admin/v1/networks/1`. */
  readonly root: string
  readonly token: () => string | Promise<string>
  readonly fetch: (request: Request) => Response | Promise<Response>
  readonly timeout: number
  readonly maxRetries: number
  readonly maxRetryWait: number
  readonly maxResponseBytes: number
  readonly ids: 'string' | undefined
  readonly onRetry: (retry: Retry) => void
  readonly timing: Timing
}

const optionNames = new Set([
  'baseUrl',
  'network',
  'token',
  'fetch',
  'timeout',
  'maxRetries',
  'maxRetryWait',
  'maxResponseBytes',
  'ids',
  'onRetry',
  'timing',
])
const callOptionNames = new Set(['signal', 'timeout', 'maxRetries', 'idempotencyKey', 'ifPreview'])

/** Whether a name is an option of a call, which a query must not hold by mistake. */
export const isCallOption = (name: string): boolean => callOptionNames.has(name)

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
/** The longest time that timers of every runtime can wait. */
const maxTimer = 2 ** 31 - 1
const isTime = (value: unknown): boolean => typeof value === 'number' && value > 0 && value <= maxTimer

const limitProblems = (given: ClientOptions | CallOptions): string[] => [
  ...(given.timeout === undefined || isTime(given.timeout) ? [] : ['`timeout` must be a number of milliseconds above 0']),
  ...(given.maxRetries === undefined || isWhole(given.maxRetries) ? [] : ['`maxRetries` must be a whole number from 0']),
]

/** Whether a token can be sent in a header. Its value is never repeated in a message. */
export const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)
export const tokenRule = '`token` must be the API token: a text of printable ASCII without blanks'

function rootOf(baseUrl: unknown, network: unknown): string | undefined {
  const url = URL.parse(String(baseUrl))
  if (!url || !/^https?:$/.test(url.protocol) || url.username + url.password + url.search + url.hash !== '') return undefined
  // Some give the address with the version, as documents of the API do.
  const prefix = url.pathname.replace(/\/+$/, '').replace(/\/admin\/v1$/, '')
  return `${url.origin}${prefix}/admin/v1/networks/${encodeURIComponent(String(network))}`
}

/**
 * Checks the options of a client.
 * @throws TypeError that names every problem
 */
export function checkedSettings(given: ClientOptions): Settings {
  if (typeof given !== 'object' || given === null) throw new TypeError('createClient needs { baseUrl, network, token }')
  const { baseUrl, network, token, fetch, timing = systemTiming } = given
  const root = rootOf(baseUrl, network)
  const problems = [
    ...Object.keys(given).flatMap((name) => (optionNames.has(name) ? [] : [`\`${name.slice(0, 40)}\` does not exist`])),
    ...(root ? [] : ['`baseUrl` must be an http or https URL without query, fragment and credentials']),
    ...(/^[A-Za-z0-9][\w-]*$/.test(String(network)) ? [] : ['`network` must be the id or the subdomain of a network']),
    ...(isToken(token) || typeof token === 'function' ? [] : [tokenRule]),
    ...(fetch === undefined || typeof fetch === 'function' ? [] : ['`fetch` must be a function']),
    ...limitProblems(given),
    ...(given.ids === undefined || given.ids === 'string' ? [] : ["`ids` must be 'string', or left out"]),
    ...(given.onRetry === undefined || typeof given.onRetry === 'function' ? [] : ['`onRetry` must be a function']),
    ...(given.maxRetryWait === undefined || isTime(given.maxRetryWait)
      ? []
      : ['`maxRetryWait` must be a number of milliseconds above 0']),
    ...(given.maxResponseBytes === undefined || (isWhole(given.maxResponseBytes) && given.maxResponseBytes > 0)
      ? []
      : ['`maxResponseBytes` must be a number of bytes above 0']),
  ]
  if (problems.length > 0 || !root) throw new TypeError(`createClient: ${problems.map((one) => `option ${one}`).join('; ')}`)
  return {
    root,
    token: typeof token === 'function' ? token : () => token,
    // Some runtimes refuse a `fetch` that is called on another object.
    fetch: fetch ?? ((request) => globalThis.fetch(request)),
    timeout: given.timeout ?? 60_000,
    maxRetries: given.maxRetries ?? 3,
    maxRetryWait: given.maxRetryWait ?? 120_000,
    maxResponseBytes: given.maxResponseBytes ?? 64 * 1024 * 1024,
    ids: given.ids,
    onRetry: given.onRetry ?? (() => {}),
    timing,
  }
}

/**
 * Checks the options of a call.
 * @throws TypeError that names every problem
 */
export function checkCallOptions(name: string, given: CallOptions): void {
  if (typeof given !== 'object' || given === null) throw new TypeError(`${name}: options must be an object`)
  const { idempotencyKey } = given
  const problems = [
    ...Object.keys(given).flatMap((key) => (isCallOption(key) ? [] : [`\`${key.slice(0, 40)}\` does not exist`])),
    ...limitProblems(given),
    ...(idempotencyKey === undefined || (typeof idempotencyKey === 'string' && /^[\x20-\x7e]{1,255}$/.test(idempotencyKey))
      ? []
      : ['`idempotencyKey` must be 1 to 255 printable ASCII characters']),
    // With a variable that is not set, the request would happen in any case.
    ...('ifPreview' in given && !isToken(given.ifPreview) ? ['`ifPreview` must be the token of a preview'] : []),
  ]
  if (problems.length > 0)
    throw new TypeError(
      `${name}: ${problems.map((one) => `option ${one}`).join('; ')}. Options: ${[...callOptionNames].join(', ')}`,
    )
}
