/** What an operator can set. */
import { X509Certificate } from 'node:crypto'
import { shortestLease } from './schedule/lease.ts'
import { defaultSchedule } from './schedule/retry-schedule.ts'

export interface Settings {
  /** Seconds before each attempt; as many attempts as numbers. */
  readonly retrySchedule: readonly number[]
  /** Seconds for a whole attempt: name, connection, TLS, request and answer. */
  readonly timeout: number
  /** Seconds from the opening of a circuit to the first probe. */
  readonly breakerCooldown: number
  /** Consecutive failures that open a circuit. */
  readonly breakerThreshold: number
  /** Attempts in flight, over all endpoints. */
  readonly maxInFlight: number
  /** Attempts in flight to one endpoint. */
  readonly perEndpoint: number
  /** Allow `http:` besides `https:`. */
  readonly allowHttp: boolean
  /** Allow private, loopback and link-local addresses. */
  readonly allowPrivate: boolean
  /** Ports up to 1024 that are allowed besides 443. */
  readonly ports: readonly number[]
  /** Days to keep dead deliveries, deliveries of disabled endpoints, and notices. */
  readonly keepDead: number
  /** Days to keep delivered events, for replays and to detect duplicates. */
  readonly keepDelivered: number
  /** Days of failed attempts without a success, after which an endpoint is disabled. */
  readonly disableAfter: number
  /**
   * Seconds for which a relay keeps its endpoints after its last heartbeat, if several relays share a database. At least twice
   * `timeout`, and a second more than it; by default that or 30, whichever is more. After a crash other relays take the
   * endpoints when the lease expires.
   */
  readonly lease: number
  /** PEM certificates to trust besides the system's. */
  readonly ca?: string
  /** Health, metrics and control on this port of the loopback address; read when the relay starts. */
  readonly controlPort?: number
  /** The file of the encryption keys, one per line; read when the relay starts and at SIGHUP. */
  readonly encryptionKeyFile?: string
}

export const defaultSettings: Settings = {
  retrySchedule: defaultSchedule,
  timeout: 10,
  breakerCooldown: 30,
  breakerThreshold: 5,
  maxInFlight: 256,
  perEndpoint: 8,
  allowHttp: false,
  allowPrivate: false,
  ports: [],
  keepDead: 30,
  keepDelivered: 7,
  disableAfter: 5,
  lease: 30,
}

/** Settings that cannot be used; `problems` names every one of them. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('; '))
    this.problems = problems
  }
}

type Check = (value: unknown) => string | undefined

const seconds =
  (least: number, most: number): Check =>
  (value) =>
    typeof value === 'number' && value >= least && value <= most
      ? undefined
      : `must be a number ${least === Number.MIN_VALUE ? 'above 0, up' : `from ${least}`} to ${most}`
const count =
  (least: number, most: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
      ? undefined
      : `must be a whole number from ${least} to ${most}`
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false')
const list =
  (each: Check, least: number, most: number): Check =>
  (value) =>
    Array.isArray(value) && value.length >= least && value.length <= most && value.every((item) => each(item) === undefined)
      ? undefined
      : `must be a list of ${least} to ${most} values, each of which ${each(undefined)}`

const year = 366 * 86_400
const checks: { readonly [K in keyof Required<Settings>]: Check } = {
  retrySchedule: list(seconds(0, year), 1, 100),
  timeout: seconds(0.01, 300),
  breakerCooldown: seconds(0.01, 86_400),
  breakerThreshold: count(1, 1000),
  maxInFlight: count(1, 10_000),
  perEndpoint: count(1, 1000),
  allowHttp: flag,
  allowPrivate: flag,
  ports: list(count(1, 65_535), 0, 100),
  keepDead: seconds(Number.MIN_VALUE, 3660),
  keepDelivered: seconds(Number.MIN_VALUE, 3660),
  disableAfter: seconds(Number.MIN_VALUE, 3660),
  lease: seconds(0.5, 3600),
  ca: (value) => (typeof value === 'string' && areCertificates(value) ? undefined : 'must be PEM text of certificates'),
  controlPort: count(0, 65_535),
  encryptionKeyFile: (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be the path of a file'),
}

function areCertificates(text: string): boolean {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    return blocks.map((block) => new X509Certificate(block)).length > 0
  } catch {
    return false
  }
}

/** Names that look like one are named; neither they nor values may carry a secret into a log, or a line break. */
function noSuchSetting(name: string): string {
  if (!/^[\w-]{1,40}$/.test(name)) return 'a setting does not exist'
  const meant = name.replaceAll(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase())
  return `there is no setting \`${name}\`${Object.hasOwn(checks, meant) ? `: write \`${meant}\`` : ''}`
}

/**
 * Settings over the defaults.
 * @param given what is set, of unknown origin; `undefined` leaves a default
 * @throws SettingsError naming every problem
 */
export function checkSettings(given: Readonly<Record<string, unknown>>): Settings {
  const problems = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined) return []
    const check = Object.hasOwn(checks, name) ? checks[name as keyof Settings] : undefined
    if (!check) return [noSuchSetting(name)]
    const problem = check(value)
    return problem === undefined ? [] : [`setting \`${name}\` ${problem}`]
  })
  if (problems.length > 0) throw new SettingsError(problems)
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  // Each value was checked above.
  const checked = { ...defaultSettings, ...(set as Partial<Settings>) }
  const least = shortestLease(checked.timeout)
  const settings = { ...checked, lease: (set as Partial<Settings>).lease ?? Math.max(defaultSettings.lease, least) }
  if (settings.lease < least)
    throw new SettingsError([`setting \`lease\` must be at least ${least}: twice \`timeout\`, and a second more than it`])
  return settings
}
