/**
 * Where the relay may connect to. An endpoint's URL comes from a stranger: without this, it is a way to make requests from
 * inside of the operator's network. Two checks, both needed. The URL itself is checked, because addresses in it are never
 * looked up. Every address of a name is checked at the moment of connecting, so that a name that changes its address gains
 * nothing.
 */

import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import { isLoopbackName } from '../../../lib/base/reach.ts'
import { portOf } from '../../port-of.ts'
import { inRanges, isPublicAddress } from '../addresses.ts'

export interface GuardSettings {
  readonly allowHttp: boolean
  /** Lifts the rules on addresses, for development. */
  readonly allowPrivate: boolean
  /** Addresses and ranges that are allowed besides the public ones. */
  readonly allowAddresses: readonly string[]
  /** Ports up to 1024 that are allowed besides 443, and 80 where http is. */
  readonly ports: readonly number[]
}

/** Why nothing was sent. It is the endpoint's configuration or the operator's rules, never the receiver's fault. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

/** The URL of an endpoint, taken apart, or why it may not be used. `origin` and `path` are those on the wire. */
export type CheckedUrl =
  | { readonly ok: true; readonly origin: string; readonly path: string }
  | { readonly ok: false; readonly reason: string }

const refused = (reason: string): CheckedUrl => ({ ok: false, reason })

/**
 * Checks the URL by itself. The WHATWG parser has turned `0x7f000001`, `2130706433`, `127.1` and full-width digits into plain
 * addresses by then.
 */
export function checkUrl(text: string, settings: GuardSettings): CheckedUrl {
  const url = URL.parse(text)
  if (!url) return refused('the URL is not valid')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused(`${url.protocol} is not https:`)
  if (url.protocol === 'http:' && !settings.allowHttp) return refused('http: is not allowed, only https:')
  if (url.username !== '' || url.password !== '') return refused('the URL holds a user name or a password')
  if (url.hash !== '') return refused('the URL holds a fragment')
  const port = portOf(url)
  if (!portAllowed(port, url.protocol, settings)) return refused(`port ${port} is not allowed`)
  const host = bareHost(url.hostname)
  if (isIP(host) !== 0 && !addressAllowed(host, settings)) return refused(`${host} is not a public address`)
  return { ok: true, origin: url.origin, path: url.pathname + url.search }
}

/** Why a relay with these settings never sends to an address; `undefined` if it may. */
export function refusalOf(text: string, settings: GuardSettings): string | undefined {
  const checked = checkUrl(text, settings)
  if (!checked.ok) return checked.reason
  const { hostname } = new URL(text)
  const isAllowed = settings.allowPrivate || ['127.0.0.1', '::1'].some((address) => inRanges(settings.allowAddresses, address))
  return isLoopbackName(hostname) && !isAllowed ? `${hostname} is this machine` : undefined
}

const mostChecked = 1024

/** `checkUrl`, which remembers its results until the settings are others: parsing a URL is a part of the cost of an attempt. */
export function urlChecker(): typeof checkUrl {
  const checked = new Map<string, CheckedUrl>()
  let under: GuardSettings | undefined
  return (text, settings) => {
    if (settings !== under || checked.size >= mostChecked) checked.clear()
    under = settings
    const known = checked.get(text) ?? checkUrl(text, settings)
    checked.set(text, known)
    return known
  }
}

function portAllowed(port: number, protocol: string, { ports }: GuardSettings): boolean {
  if (port > 1024 || port === 443 || ports.includes(port)) return true
  return port === 80 && protocol === 'http:'
}

const addressAllowed = (address: string, { allowPrivate, allowAddresses }: GuardSettings): boolean =>
  allowPrivate || isPublicAddress(address) || inRanges(allowAddresses, address)

/** What limits the addresses of one endpoint, within those that the settings allow. */
export interface Limits {
  /** Addresses and ranges that it is sent to alone; null: no such list. */
  readonly addresses: readonly string[] | null
  /** The family of the address that it is sent from; 0: any. */
  readonly family: number
}

const noLimits: Limits = { addresses: null, family: 0 }
const isListed = (address: string, { addresses }: Limits): boolean => addresses === null || inRanges(addresses, address)
const isOfFamily = (address: string, { family }: Limits): boolean => family === 0 || isIP(address) === family

/** The end of the sentence about an endpoint that limits itself. */
export const amongIts = 'among the `allow_addresses` of the endpoint'

/** Why a URL whose host is an address is beyond the limits of its endpoint; `undefined` if it is not, and for names. */
export function beyondLimits(url: string, limits: Limits): string | undefined {
  if (limits.addresses === null && limits.family === 0) return undefined
  const host = bareHost(URL.parse(url)?.hostname ?? '')
  if (isIP(host) === 0) return undefined
  if (!isListed(host, limits)) return `${host} is not ${amongIts}`
  return isOfFamily(host, limits) ? undefined : `${host} is not an ${ofSource(limits)}`
}

const ofSource = ({ family }: Limits): string => `IPv${family} address, as the setting \`sourceAddress\` is`

/** A host without the brackets of an IPv6 address. */
export const bareHost = (host: string): string => (host.startsWith('[') ? host.slice(1, -1) : host)

export interface Address {
  readonly address: string
  readonly family: number
}

/** How a name is turned into addresses; the signal ends that. `isOwn`: it is the operator's name, and no stranger's. */
export type Resolve = (hostname: string, signal?: AbortSignal, isOwn?: boolean) => Promise<readonly Address[]>

/**
 * The addresses of a host, which may be one itself, that may be connected to.
 * @throws Refused when none is left
 */
export async function allowedAddresses(
  hostname: string,
  resolve: Resolve,
  rules: () => GuardSettings,
  limits: Limits,
  signal?: AbortSignal,
): Promise<readonly Address[]> {
  const family = isIP(hostname)
  const all = family === 0 ? await resolve(hostname, signal) : [{ address: hostname, family }]
  const settings = rules()
  const reachable = all.filter(({ address }) => addressAllowed(address, settings))
  if (reachable.length === 0) throw new Refused(`${hostname} has no public address`)
  const listed = reachable.filter(({ address }) => isListed(address, limits))
  if (listed.length === 0) throw new Refused(`no address of ${hostname} is ${amongIts}`)
  const allowed = listed.filter(({ address }) => isOfFamily(address, limits))
  if (allowed.length === 0) throw new Refused(`${hostname} has no ${ofSource(limits)}`)
  return allowed
}

/**
 * A `lookup` for `net.connect` and `tls.connect` that hands on allowed addresses only: what was checked is what is dialled.
 * Calls back with `Refused` when none is left.
 * @param signal ends look-ups that are under way
 */
export function guardedLookup(
  resolve: Resolve,
  settings: () => GuardSettings,
  signal?: AbortSignal,
  limits: Limits = noLimits,
): LookupFunction {
  return (hostname, options, callback) => {
    allowedAddresses(hostname, resolve, settings, limits, signal)
      .then((allowed) => {
        const [first] = allowed
        if (options.all || !first) callback(null, [...allowed])
        else callback(null, first.address, first.family)
      })
      .catch((error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ''))
  }
}
