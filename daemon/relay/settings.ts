/** The settings of an operator. */
import { isIP } from 'node:net'
import * as v from 'valibot'
import { checkedOptions } from '../../lib/base/options.ts'
import { isAddressRange } from '../../lib/base/reach.ts'
import { certificatesIn } from '../certificates.ts'
import { shortestLease } from './attempt-timeout.ts'
import { noProxyProblem } from './no-proxy.ts'
import { SettingsError } from './settings-error.ts'

export { SettingsError } from './settings-error.ts'

/** Delays before the first attempt, the second, …, in seconds. The sum is 75 h 35 min. */
export const defaultSchedule: readonly number[] = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

const year = 366 * 86_400

/** The messages hold no value: a misplaced one may be a secret. */
const between = (unit: string, least: number, most: number) => {
  const rule = `must be a number of ${unit} ${least === Number.MIN_VALUE ? 'above 0, up' : `from ${least}`} to ${most}`
  return v.pipe(v.number(rule), v.minValue(least, rule), v.maxValue(most, rule))
}
const seconds = (least: number, most: number) => between('seconds', least, most)
const days = between('days', Number.MIN_VALUE, 3660)
const wholeFrom = (least: number, most: number) => {
  const rule = `must be a whole number from ${least} to ${most}`
  return v.pipe(v.number(rule), v.safeInteger(rule), v.minValue(least, rule), v.maxValue(most, rule))
}
const listOf = (item: v.GenericSchema<number>, least: number, most: number) =>
  v.pipe(
    v.array(item, 'must be a list'),
    v.minLength(least, `must have at least ${least} value`),
    v.maxLength(most, `must have at most ${most} values`),
    v.readonly(),
  )
const rangeRule = 'must be an address or a range, such as 10.0.3.5 or 10.0.3.0/24'
const addressRanges = v.pipe(
  v.array(v.pipe(v.string(rangeRule), v.check(isAddressRange, rangeRule)), 'must be a list'),
  v.maxLength(1000, 'must have at most 1000 values'),
  v.readonly(),
)
function isProxy(text: string): boolean {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.pathname !== '/' || url.search + url.hash !== '') return false
  try {
    return [url.username, url.password].map(decodeURIComponent).every((each) => each.isWellFormed())
  } catch {
    return false
  }
}
const proxyRule = 'must be an http or https address without a path, such as http://user:password@proxy.example:3128'
const localRule = 'must be an IPv4 or IPv6 address of this machine'
const hostsRule = 'must be a text of at most 10000 characters: names, addresses and ranges, between commas'
const onOff = v.boolean('must be true or false')
const filePath = v.pipe(v.string('must be the path of a file'), v.nonEmpty('must be the path of a file'))
const pem = v.pipe(
  v.string('must be PEM text of certificates'),
  v.check((text) => certificatesIn(text).length > 0, 'must be PEM text of certificates'),
)

/** Every setting: its rule, and its default. */
export const settingRules = {
  /** Seconds before each attempt; as many attempts as numbers. */
  retrySchedule: v.optional(listOf(seconds(0, year), 1, 100), defaultSchedule),
  /** Seconds for a whole attempt: name, connection, TLS, request and response. */
  timeout: v.optional(seconds(0.01, 300), 10),
  /** Seconds after which a connection takes no further request, so that a receiver that moves in DNS is followed. */
  maxConnectionAge: v.optional(seconds(0.01, 86_400), 300),
  /** Seconds from the opening of a circuit to the first probe. */
  breakerCooldown: v.optional(seconds(0.01, 86_400), 30),
  /** Consecutive failures that open a circuit. */
  breakerThreshold: v.optional(wholeFrom(1, 1000), 5),
  /** Attempts in flight, over all endpoints. */
  maxInFlight: v.optional(wholeFrom(1, 10_000), 256),
  /** Attempts in flight to one endpoint. */
  maxInFlightPerEndpoint: v.optional(wholeFrom(1, 1000), 8),
  /** Allow `http:` besides `https:`. */
  allowHttp: v.optional(onOff, false),
  /** Allow private, loopback and link-local addresses. */
  allowPrivate: v.optional(onOff, false),
  /** Addresses and ranges to allow besides the public ones, such as `10.0.3.5` and `10.0.3.0/24`. */
  allowAddresses: v.optional(addressRanges, []),
  /** Ports up to 1024 that are allowed besides 443. */
  ports: v.optional(listOf(wholeFrom(1, 65_535), 0, 100), []),
  /** The HTTP proxy that every delivery goes through by CONNECT, such as `http://user:password@proxy.example:3128`. */
  proxy: v.optional(v.pipe(v.string(proxyRule), v.check(isProxy, proxyRule))),
  /** Hosts to reach without `proxy`, in the form of the variable `NO_PROXY`: `intern.example,10.0.0.0/8`. */
  noProxy: v.optional(
    v.pipe(
      v.string(hostsRule),
      v.maxLength(10_000, hostsRule),
      v.check(
        (list) => noProxyProblem(list) === undefined,
        ({ input }) => noProxyProblem(input) ?? hostsRule,
      ),
    ),
    '',
  ),
  /** The address of this machine that connections are made from. Only addresses of its family are connected to. */
  sourceAddress: v.optional(
    v.pipe(
      v.string(localRule),
      v.check((text) => isIP(text) !== 0 && !text.includes('%'), localRule),
    ),
  ),
  /** Days to keep dead deliveries, deliveries of disabled endpoints, and notices. */
  keepDead: v.optional(days, 30),
  /** Days to keep delivered events, for resends and to detect duplicates. */
  keepDelivered: v.optional(days, 7),
  /**
   * Host events that are off by default: `exhausted`, one `DeliveryExhaustedHook` for each delivery without attempts left instead of one
   * an hour for each endpoint; `disabling`, an `EndpointDisablingHook` a day before an endpoint is disabled;
   * `daily`, an `EndpointDayHook` after midnight UTC for each endpoint that was sent to.
   */
  hostEvents: v.optional(
    v.pipe(
      v.array(v.picklist(['exhausted', 'disabling', 'daily'], 'must be exhausted, disabling or daily'), 'must be a list'),
      v.maxLength(10, 'must have at most 10 values'),
      v.readonly(),
    ),
    [],
  ),
  /** Days of failed attempts without a success, after which an endpoint is disabled. */
  disableAfter: v.optional(days, 5),
  /**
   * Seconds for which a relay keeps its endpoints after its last heartbeat, if several relays share a database. At least twice
   * `timeout`, and a second more than it; by default that or 30, whichever is more. After a crash other relays take the
   * endpoints when the lease expires.
   */
  lease: v.optional(seconds(0.5, 3600)),
  /** PEM certificates to trust besides the system's. */
  ca: v.optional(pem),
  /** The JSON file of client certificates and private authorities, by name; read when the relay starts and at SIGHUP. */
  clientIdentities: v.optional(filePath),
  /** Health, metrics and control on this port of the loopback address; read when the relay starts. */
  controlPort: v.optional(wholeFrom(0, 65_535)),
  /** Trace each attempt by OpenTelemetry, with the SDK that `node --import` has registered; read when the relay starts. */
  telemetry: v.optional(onOff, false),
  /** The file of the encryption keys, one per line; read when the relay starts and at SIGHUP. */
  encryptionKeyFile: v.optional(filePath),
}

type Value<Name extends keyof typeof settingRules> = v.InferOutput<(typeof settingRules)[Name]>
type Defaulted = { [Name in keyof typeof settingRules]: undefined extends Value<Name> ? never : Name }[keyof typeof settingRules]

/** The settings with every default filled in. */
export type Settings = { readonly [Name in Defaulted | 'lease']: Exclude<Value<Name>, undefined> } & {
  readonly [Name in Exclude<keyof typeof settingRules, Defaulted | 'lease'>]?: Exclude<Value<Name>, undefined>
}

/**
 * Settings over the defaults.
 * @param given the settings, unchecked; `undefined` leaves a default
 * @throws SettingsError naming every problem
 */
export function checkSettings(given: Readonly<Record<string, unknown>>): Settings {
  const { problems, options } = checkedOptions('setting', settingRules, given)
  if (problems.length > 0) throw new SettingsError(problems)
  const least = shortestLease(options.timeout)
  const { lease = Math.max(30, least), ...rest } = options
  if (lease < least)
    throw new SettingsError([`setting \`lease\` must be at least ${least}: twice \`timeout\`, and a second more than it`])
  // An option without a default is left out where it is not given.
  return { ...rest, lease } as Settings
}

export const defaultSettings: Settings = checkSettings({})
