import { type Clock, systemClock } from './base/clock.ts'
import { kind, shown } from './base/given.ts'
import type { PermalinkKind } from './context.ts'
import type { CommittedEvent } from './events/catalogue.ts'
import { reporterOf } from './kernel/report.ts'
import { defaultLimits, type Limits } from './limits.ts'
import type { OperationBody, OperationId } from './operations.ts'
import { encryptionKeyBytes, encryptionKeyRule, keyRing } from './outbox/encryption.ts'
import { type Ports, portMethods } from './ports.ts'
import type { BeforeCall, FaultContext, HostPrincipal, RateLimiter, Settings } from './settings.ts'
import type { Storage } from './storage/contract.ts'
import type { Id } from './storage/table.ts'

/** The request for one operation, as a hook sees it. */
interface BeforeOperation<Name extends OperationId> extends BeforeCall {
  /** The operation's id, which selects the type of `body`. PUT has the id of PATCH. */
  readonly id: Name
  /** Parsed by the operation's schema. */
  readonly body: OperationBody<Name>
}

/** The request that a hook may veto. Compare `id`, and TypeScript narrows `body`. */
export type BeforeHook = { [Name in OperationId]: BeforeOperation<Name> }[OperationId]

export interface Hooks {
  /** Runs inside the transaction, before the operation. Throw an `ApiError` to veto it. */
  readonly before?: (call: BeforeHook) => void | Promise<void>
  /** Runs after the commit, best effort. Read the outbox if you need certainty. Its errors go to `onError`. */
  readonly after?: (event: CommittedEvent) => void | Promise<void>
  /**
   * Called for every fault: each answer 500 and 503, and each fault outside of a request. Without it faults go to
   * `console.error`; `() => {}` silences them.
   */
  readonly onError?: (error: unknown, about: FaultContext) => void
}

export interface Options {
  /** The storage of all rows. Required: there is no hidden default. */
  readonly storage: Storage
  /** The path at which the host mounts the API: `''`, or a path such as `/community`. */
  readonly basePath?: string
  /**
   * The public address for links, such as `https://api.example.org`. Add a path if a proxy removes one:
   * `https://api.example.org/community`. By default links use the address of the request.
   */
  readonly publicUrl?: string
  /** Accept plain HTTP: for development, and for hosts that end TLS themselves. */
  readonly allowHttp?: boolean
  /**
   * Believe `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Prefix`. `true`: one proxy sets them and discards the
   * client's values. A number: so many proxies each append a value.
   */
  readonly trustProxy?: boolean | number
  /** The JSON type of ids in every record and payload. The TypeScript type is `string` in both cases. */
  readonly ids?: 'string' | 'number'
  /** Sizes and rates; omitted ones keep their defaults. */
  readonly limits?: Partial<Limits>
  /** Counts requests; `folkmoot/rate-limits` makes some. Closed with the community. Without one, requests are not limited. */
  readonly rateLimiter?: RateLimiter
  /** Checks the host's own keys, before the library's. `undefined`: not a key of the host. */
  readonly authenticate?: (token: string) => Promise<HostPrincipal | 'expired' | undefined>
  /** Functions of the host that run around operations. */
  readonly hooks?: Hooks
  /** Returns the public address of a record's page in the host's product. */
  readonly permalink?: (page: { kind: PermalinkKind; id: Id; subdomain: string; network_id: Id }) => string
  /** Libraries for files, recurrence rules and phone numbers; `ports()` of `folkmoot/ports`. */
  readonly ports?: Ports
  /** The source of the time; the system's clock by default. For tests. */
  readonly clock?: Clock
  /**
   * Whether new members have consented to commercial e-mail; `false` by default. Others see a member's address only with
   * consent. Applies to members made by the API, by invites and with their network; `community.notify.emailConsent` changes it
   * for one member.
   */
  readonly newMembersConsent?: boolean
  /** Whether the keys of removed, banned or deleted members still work: `'accept'` by default, or `'refuse'`. */
  readonly keysOfFormerMembers?: 'accept' | 'refuse'
  /**
   * Encrypts keys and signing secrets of webhook endpoints in the storage, the outbox and the relay's store. Each is 32 bytes
   * in base64, as `openssl rand -base64 32` makes them. The first key encrypts, all keys decrypt. The relay needs them too.
   */
  readonly encryptionKeys?: readonly string[]
}

const known = new Set<string>([
  'storage',
  'basePath',
  'publicUrl',
  'allowHttp',
  'trustProxy',
  'ids',
  'limits',
  'rateLimiter',
  'authenticate',
  'hooks',
  'permalink',
  'ports',
  'clock',
  'newMembersConsent',
  'keysOfFormerMembers',
  'encryptionKeys',
] satisfies (keyof Options)[])

/**
 * Checks the options and fills in the defaults. The object is not changed.
 * @throws TypeError that lists every problem, each with the option's name and what to do
 */
export function settings(options: Options): Settings {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('createCommunity: the options must be an object with at least `storage`')
  const problems: string[] = []
  const check = (ok: boolean, problem: string) => {
    if (!ok) problems.push(problem)
  }
  for (const name of Object.keys(options)) check(known.has(name), `option \`${name}\` does not exist`)
  check(
    typeof options.storage?.transaction === 'function',
    isPromise(options.storage)
      ? 'option `storage` got a Promise: await it, as in `storage: await lowdbStorage(…)`'
      : 'option `storage` is required: memoryStorage(), lowdbStorage(…) or your own',
  )
  const { basePath = '', publicUrl, ids = 'string' } = options
  check(
    basePath === '' || isPath(basePath),
    `option \`basePath\` must be '' or the path of a URL without a trailing slash, got ${shown(basePath)}`,
  )
  check(
    publicUrl === undefined || isPublicUrl(publicUrl),
    `option \`publicUrl\` must be an address such as https://api.example.org or https://api.example.org/community, without a trailing slash, got ${shown(publicUrl)}`,
  )
  check(ids === 'string' || ids === 'number', `option \`ids\` must be 'string' or 'number', got ${shown(ids)}`)
  for (const name of ['allowHttp', 'newMembersConsent'] as const)
    check(['boolean', 'undefined'].includes(typeof options[name]), `option \`${name}\` must be true or false`)
  const { keysOfFormerMembers = 'accept' } = options
  check(
    keysOfFormerMembers === 'accept' || keysOfFormerMembers === 'refuse',
    `option \`keysOfFormerMembers\` must be 'accept' or 'refuse', got ${shown(keysOfFormerMembers)}`,
  )
  const { encryptionKeys = [] } = options
  check(Array.isArray(encryptionKeys), `option \`encryptionKeys\` must be a list, got ${kind(encryptionKeys)}`)
  for (const [place, key] of Array.isArray(encryptionKeys) ? encryptionKeys.entries() : [])
    check(encryptionKeyBytes(key) !== undefined, `option \`encryptionKeys\`: key ${place + 1} ${encryptionKeyRule}`)
  check(
    ['boolean', 'undefined'].includes(typeof options.trustProxy) || isLimit(options.trustProxy),
    'option `trustProxy` must be true or false, or the number of proxies',
  )
  for (const name of ['authenticate', 'permalink'] as const)
    check(['function', 'undefined'].includes(typeof options[name]), `option \`${name}\` must be a function`)
  for (const name of ['hooks', 'limits', 'ports'] as const)
    check(
      options[name] === undefined || isPlain(options[name]),
      `option \`${name}\` must be an object, got ${shown(options[name])}`,
    )
  for (const [name, hook] of Object.entries(plain(options.hooks))) {
    check(hookNames.has(name), `option \`hooks.${name}\` does not exist`)
    check(['function', 'undefined'].includes(typeof hook), `option \`hooks.${name}\` must be a function`)
  }
  const methods: readonly (readonly [string, unknown, string])[] = [
    ['rateLimiter', options.rateLimiter, 'count'],
    ['clock', options.clock, 'now'],
  ]
  for (const [name, given, method] of methods)
    check(
      given === undefined || typeof (given as Readonly<Record<string, unknown>> | null)?.[method] === 'function',
      `option \`${name}\` must have a method ${method}`,
    )
  const limits = { ...defaultLimits, ...defined(plain(options.limits)) }
  for (const name of Object.keys(limits)) check(name in defaultLimits, `option \`limits.${name}\` does not exist`)
  for (const name of ['title', 'longText', 'choices', 'bodyBytes', 'assetBytes', 'inFlightBytes'] as const)
    check(isLimit(limits[name]), `option \`limits.${name}\` must be a whole number above 0, got ${shown(limits[name])}`)
  for (const name of ['standard', 'premium', 'unlimited'] as const) {
    const limit: unknown = plain<Partial<Limits['perMinute']>>(limits.perMinute)[name]
    const problem = `option \`limits.perMinute.${name}\` must be a whole number above 0 or null, got ${shown(limit)}`
    check(limit === null || isLimit(limit), problem)
  }
  for (const name of Object.keys(plain(options.ports)))
    check(name in portMethods, `option \`ports.${name}\` does not exist; allowed: ${Object.keys(portMethods).join(', ')}`)
  for (const [name, methods] of Object.entries(portMethods)) {
    const port = plain(options.ports)[name as keyof Ports] as Readonly<Record<string, unknown>> | undefined
    for (const method of methods)
      check(
        port === undefined || typeof port?.[method] === 'function',
        `option \`ports.${name}\` must have a method ${method}; ports() of folkmoot/ports has`,
      )
  }
  if (problems.length > 0) throw new TypeError(`createCommunity: ${problems.join('; ')}`)

  return {
    storage: options.storage,
    basePath,
    publicUrl,
    allowHttp: options.allowHttp ?? false,
    trustProxy: options.trustProxy ?? false,
    ids,
    limits,
    rateLimiter: options.rateLimiter,
    authenticate: options.authenticate,
    hooks: options.hooks ?? {},
    report: reporterOf(options.hooks?.onError),
    permalink: options.permalink ?? (({ kind, id, subdomain }) => `https://${subdomain}.example/${kind}/${id}`),
    ports: options.ports ?? {},
    clock: options.clock ?? systemClock,
    newMembersConsent: options.newMembersConsent ?? false,
    keysOfFormerMembers: options.keysOfFormerMembers ?? 'accept',
    encryption: keyRing(encryptionKeys),
  }
}

const isPromise = (value: unknown): boolean => typeof (value as { readonly then?: unknown } | null)?.then === 'function'

const isPlain = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object, or an empty one for any other value. */
const plain = <T extends object>(value: T | undefined): T => (isPlain(value) ? value : {}) as T

const hookNames = new Set<string>(['before', 'after', 'onError'] satisfies (keyof Hooks)[])

const isLimit = (limit: unknown): boolean => Number.isSafeInteger(limit) && Number(limit) > 0

const isPath = (text: string): boolean =>
  typeof text === 'string' &&
  /^\/.*[^/]$/.test(text) &&
  URL.canParse(text, 'https://host') &&
  new URL(text, 'https://host').pathname === text

/** An origin, or an origin with a path that needs no normalisation. */
export function isPublicUrl(text: string): boolean {
  if (typeof text !== 'string' || !URL.canParse(text)) return false
  const { origin, pathname, protocol } = new URL(text)
  return /^https?:$/.test(protocol) && text === origin + (pathname === '/' ? '' : pathname) && !text.endsWith('/')
}

/** The same without what is undefined: a default that is spelled out is a default. */
const defined = <T extends object>(options: T): Partial<T> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>
