/** The proxy that the relay sends through: its address, and the hosts that are reached without it. */
import { portOf } from '../../port-of.ts'
import { isExcepted } from '../no-proxy.ts'
import { bareHost } from './guard.ts'

export interface ProxySettings {
  /** `http://user:password@proxy.example:3128`. */
  readonly proxy?: string
  /** Hosts that are reached without it, in the form of the variable `NO_PROXY`. */
  readonly noProxy: string
}

export interface HttpProxy {
  /** Without brackets. */
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
  /** The value of `Proxy-Authorization`. */
  readonly authorization: string | undefined
}

/**
 * What a proxy failed in. `unreachable`: there is no connection to it, and no endpoint has to do with that. `unusable`: it refuses the
 * credentials, or gives no response of HTTP. `endpoint`: it made no connection to the endpoint.
 */
export type ProxyFault = 'unreachable' | 'unusable' | 'endpoint'

/** A failure of the proxy. Its message is a sentence for people. */
export class ProxyFailed extends Error {
  override readonly name = 'ProxyFailed'
  readonly fault: ProxyFault
  constructor(message: string, fault: ProxyFault) {
    super(message)
    this.fault = fault
  }
}

/** The proxy makes connections for others, and none for this endpoint: a failure of the endpoint. */
export class BeyondProxy extends Error {
  override readonly name = 'BeyondProxy'
}

/** @param text as the setting `proxy` has it, which was checked */
export function proxyOf(text: string): HttpProxy {
  const url = new URL(text)
  const isSecure = url.protocol === 'https:'
  const user = [url.username, url.password].map(decodeURIComponent).join(':')
  return {
    host: bareHost(url.hostname),
    port: portOf(url),
    isSecure,
    authorization: user === ':' ? undefined : `Basic ${Buffer.from(user).toString('base64')}`,
  }
}

/** The address of a proxy without its credentials, for people. */
export const shownProxy = (text: string): string => URL.parse(text)?.origin ?? ''

/**
 * The proxy for an endpoint.
 * @param origin of its URL
 */
export function proxyFor(origin: string, { proxy, noProxy }: ProxySettings): HttpProxy | undefined {
  if (proxy === undefined) return undefined
  if (noProxy !== '') {
    const url = new URL(origin)
    if (isExcepted(noProxy, url.hostname, portOf(url))) return undefined
  }
  return proxyOf(proxy)
}
