import * as v from 'valibot'
import type { Chance } from './base/chance.ts'
import { type Clock, systemClock } from './base/clock.ts'
import { kind, shown } from './base/describe-value.ts'
import {
  callable,
  checkedOptions,
  count,
  flag,
  group,
  instance,
  must,
  oneOf,
  type RulesOf,
  rejectUndefined,
  withMethods,
} from './base/options.ts'
import type { Tracing } from './base/tracing.ts'
import type { PermalinkKind } from './context.ts'
import type { CommittedEvent } from './events/catalogue.ts'
import { reporterOf } from './kernel/report.ts'
import { defaultLimits, type Limits } from './limits.ts'
import type { OperationBody, OwnOperationId } from './operations.ts'
import { encryptionKeyBytes, encryptionKeyRule, keyRing } from './outbox/encryption.ts'
import type { Ports } from './ports.ts'
import type { BeforeCall, FaultContext, HostPrincipal, RateLimiter, Settings, Warn } from './settings.ts'
import type { Storage } from './storage/contract.ts'
import type { Id } from './storage/table.ts'
import { traced } from './storage/traced.ts'

/** The request for one operation, as a hook sees it. */
interface BeforeOperation<Name extends OwnOperationId> extends BeforeCall {
  /** The operation's id, which selects the type of `body`. PUT has the id of PATCH. */
  readonly id: Name
  /** Parsed by the operation's schema. */
  readonly body: OperationBody<Name>
}

/** The request that a hook may veto. Compare `id`, and TypeScript narrows `body`. */
export type BeforeHook = { [Name in OwnOperationId]: BeforeOperation<Name> }[OwnOperationId]

/** Code of the host around operations. */
export interface Hooks {
  /** Runs inside the transaction, before the operation. Throw an `ApiError` to veto it. */
  readonly before?: (call: BeforeHook) => void | Promise<void>
  /** Runs after the commit, best effort. Read the outbox if you need certainty. Its errors go to `onError`. */
  readonly after?: (event: CommittedEvent) => void | Promise<void>
  /**
   * Called for every fault: each response 500 and 503, and each fault outside of a request. Without it faults go to
   * `console.error`; `() => {}` silences them.
   */
  readonly onError?: (error: unknown, about: FaultContext) => void
}

/** The options of `createCommunity`. Durations are milliseconds, sizes bytes. */
export interface Options {
  /** The storage of all rows. There is no hidden default. */
  readonly storage: Storage
  /** The path at which the host mounts the API: `''`, or a path such as `/community`. */
  readonly basePath?: string
  /**
   * The public address for links, such as `https://api.example.org`. Add a path if a proxy removes one:
   * `https://api.example.org/community`. By default links use the address of the request.
   */
  readonly publicUrl?: string
  /** Accept plain HTTP: for development, and for hosts that terminate TLS themselves. */
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
   * Encrypts tokens and signing secrets of webhook endpoints in the storage, the outbox and the relay's store. Each is 32 bytes
   * in base64, as `openssl rand -base64 32` makes them. The first key encrypts, all keys decrypt. The relay needs them too.
   */
  readonly encryptionKeys?: readonly string[]
  /**
   * Traces requests and transactions, and stores the trace with each event: `await openTelemetry()` of `folkmoot/telemetry`. Without
   * it nothing is traced, and nothing is loaded.
   */
  readonly tracing?: Tracing
}

/** `''`, or the path of a URL without a trailing slash. */
export const isPath = (text: unknown): boolean =>
  text === '' || (typeof text === 'string' && /^\/.*[^/]$/.test(text) && URL.parse(text, 'https://host')?.pathname === text)

/** An origin, or an origin with a path that needs no normalisation. */
export function isPublicUrl(text: unknown): boolean {
  const url = typeof text === 'string' && URL.parse(text)
  if (!url) return false
  const { origin, pathname, protocol } = url
  return /^https?:$/.test(protocol) && text === origin + (pathname === '/' ? '' : pathname) && !text.endsWith('/')
}

const isPromise = (value: unknown): boolean =>
  typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'

const storages = 'memoryStorage(), lowdbStorage(…), sqliteStorage(…), postgresStorage(…) or your own'

const storageRule = ({ input }: { readonly input: unknown }): string =>
  isPromise(input)
    ? 'got a Promise: await it, as in `storage: await lowdbStorage(…)`'
    : `is required: ${storages}${input === undefined ? '' : `, got ${shown(input)}`}`

const { perMinute, ...sizes } = defaultLimits
const rate = v.custom<number | null>((value) => value === null || v.is(count, value), must('be a whole number above 0 or null'))

/** Each with its value as the default. */
const sizeRules = Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, v.optional(count, size)])) as {
  readonly [Name in keyof typeof sizes]: v.OptionalSchema<typeof count, number>
}

const port = (...methods: readonly string[]) => v.optional(withMethods(methods, 'ports() of folkmoot/ports has'))

/** The options of `createCommunity`: what each must be, and its default. */
export const optionRules = {
  storage: v.custom<Storage>((value) => v.is(withMethods(['transaction']), value), storageRule),
  basePath: v.optional(v.custom<string>(isPath, must("be '' or the path of a URL without a trailing slash")), ''),
  publicUrl: v.optional(
    v.custom<string>(
      isPublicUrl,
      must('be an address such as https://api.example.org or https://api.example.org/community, without a trailing slash'),
    ),
  ),
  allowHttp: v.optional(flag, false),
  trustProxy: rejectUndefined(
    v.optional(v.union([v.boolean(), count], must('be true or false, or the number of proxies')), false),
    'the headers of your proxies would be ignored',
  ),
  ids: v.optional(oneOf('string', 'number'), 'string'),
  limits: v.optional(
    group({ ...sizeRules, perMinute: v.optional(group({ standard: rate, premium: rate, unlimited: rate }), perMinute) }),
    {},
  ),
  rateLimiter: rejectUndefined(v.optional(withMethods<RateLimiter>(['count'])), 'requests would not be limited'),
  authenticate: rejectUndefined(
    v.optional(callable<NonNullable<Options['authenticate']>>()),
    'tokens of your own would not be looked at',
  ),
  hooks: v.optional(
    instance<Hooks>({
      before: rejectUndefined(v.optional(callable()), 'no hook could veto a request'),
      after: v.optional(callable()),
      onError: v.optional(callable()),
    }),
    {},
  ),
  permalink: v.optional(callable<NonNullable<Options['permalink']>>()),
  ports: v.optional(
    instance<Ports>({
      recurrence: port('expand'),
      phoneNumbers: port('parse'),
      assets: port('put', 'remove'),
      fileTypes: port('sniff'),
      download: port('get'),
    }),
    {},
  ),
  clock: v.optional(withMethods<Clock>(['now']), systemClock),
  newMembersConsent: v.optional(flag, false),
  keysOfFormerMembers: rejectUndefined(
    v.optional(oneOf('accept', 'refuse'), 'accept'),
    'the keys of former members would be accepted',
  ),
  encryptionKeys: rejectUndefined(
    v.optional(
      v.array(
        v.custom<string>((key) => encryptionKeyBytes(key) !== undefined, encryptionKeyRule),
        ({ input }) => `must be a list, got ${kind(input)}`,
      ),
      [],
    ),
    'tokens and secrets would be stored unencrypted',
  ),
  tracing: v.optional(withMethods<Tracing>(['start'], 'give `await openTelemetry()` of folkmoot/telemetry')),
} satisfies RulesOf<Options>

/**
 * Checks the options and fills in the defaults. The object is not changed.
 * @param chance makes ids and secrets
 * @param warn takes hints for developers
 * @throws TypeError that lists every problem, each with the option's name and what to do
 */
export function settings(given: Options, chance: Chance, warn: Warn = (text) => console.warn(text)): Settings {
  if (typeof given !== 'object' || given === null)
    throw new TypeError('createCommunity: the options must be an object with at least `storage`')
  if (v.is(optionRules.storage, given))
    throw new TypeError('createCommunity expects options such as { storage }, but got a storage')
  const { problems, options } = checkedOptions('option', optionRules, given)
  if (problems.length > 0) throw new TypeError(`createCommunity: ${problems.join('; ')}`)
  const { encryptionKeys, ...rest } = options
  const settled: { readonly [Name in Exclude<keyof Options, 'encryptionKeys'>]-?: Settings[Name] } = rest
  const storage = settled.tracing ? traced(settled.storage, settled.tracing) : settled.storage
  return { ...settled, storage, chance, warn, report: reporterOf(rest.hooks.onError), encryption: keyRing(encryptionKeys) }
}
