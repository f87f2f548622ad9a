/**
 * What is known about the proxy, and whose fault it is when it makes no connection.
 *
 * Only a proxy that cannot be reached holds everybody up: that shows before any endpoint is named, so no endpoint can cause it. The
 * gate closes, and the relay tries to reach the proxy by itself, after a back-off. Every response of a proxy to a CONNECT is about the
 * endpoint that it was for, and puts off that endpoint alone, a 407 included: proxies give it for destinations that they deny, too.
 *
 * Two verdicts need evidence from others:
 * - The endpoint is to blame if the proxy made a connection for another one between two of its failures in a row.
 * - The proxy refuses everyone if it refused two endpoints with no connection in between, or if it never made one. That is reported, and
 *   holds nothing up.
 */
import type { Clock } from '../clock.ts'
import type { ProxyFailed } from './proxy.ts'

/** Milliseconds before the proxy is first looked for, and at most; each failure doubles it. */
const firstPause = 1000
const longestPause = 30_000

/** `still`: it fails on. */
export type ProxyNews = { readonly kind: 'failed' | 'still'; readonly reason: string } | { readonly kind: 'recovered' }

export interface ProxyGate {
  /** Whether nothing is sent through the proxy, because it cannot be reached. */
  readonly isClosed: boolean
  /** Whether it makes no connections for anybody, as far as is known. */
  readonly isDown: boolean
  /** The proxy made a connection for an endpoint. */
  worked(endpoint: number): void
  /** The proxy made none for an endpoint. @returns whether that endpoint is to blame */
  failed(endpoint: number, failure: ProxyFailed): boolean
  /** Whether another failure would be the endpoint's. */
  isToBlame(endpoint: number): boolean
  /** The proxy cannot be reached. */
  unreachable(reason: string): void
  forget(endpoint: number): void
  /** Another proxy may work. */
  reset(): void
  close(): void
}

/** @param reach tries to reach the proxy. @returns why it cannot be reached; `undefined` if it can */
export function createProxyGate(
  { timer }: Pick<Clock, 'timer'>,
  reach: () => Promise<string | undefined>,
  onNews: (news: ProxyNews) => void,
): ProxyGate {
  let isClosed = false
  let isRefusing = false
  let isToldDown = false
  /** The relay is closing. */
  let isOver = false
  /** The endpoint that was refused since the last connection. */
  let refused: number | undefined
  let connections = 0
  /** How many connections there were at the latest failure of each endpoint that had none since. */
  const failedAt = new Map<number, number>()
  let stopLooking = (): void => undefined

  function tellDown(reason: string): void {
    onNews({ kind: isToldDown ? 'still' : 'failed', reason })
    isToldDown = true
  }

  function open(): void {
    stopLooking()
    isClosed = isRefusing = false
    refused = undefined
    if (!isToldDown) return
    isToldDown = false
    onNews({ kind: 'recovered' })
  }

  function lookLater(failures: number): void {
    let isCurrent = true
    const cancel = timer(Math.min(longestPause, firstPause * 2 ** Math.min(30, failures)), () => void look())
    stopLooking = () => {
      isCurrent = false
      cancel()
    }
    async function look(): Promise<void> {
      const reason = await reach()
      if (!isCurrent) return
      if (reason === undefined) return open()
      lookLater(failures + 1)
      tellDown(reason)
    }
  }

  const isToBlame = (endpoint: number): boolean => (failedAt.get(endpoint) ?? connections) < connections

  return {
    get isClosed() {
      return isClosed
    },
    get isDown() {
      return isClosed || isRefusing
    },
    worked(endpoint) {
      connections++
      failedAt.delete(endpoint)
      open()
    },
    failed(endpoint, { fault, message }) {
      const isOwn = isToBlame(endpoint)
      failedAt.set(endpoint, connections)
      if (fault === 'unusable' && !isOwn) {
        isRefusing ||= connections === 0 || (refused !== undefined && refused !== endpoint)
        refused = endpoint
        if (isRefusing) tellDown(message)
      }
      return isOwn
    },
    isToBlame,
    unreachable(reason) {
      // What was under way before says nothing new.
      if (isClosed || isOver) return
      isClosed = true
      isRefusing = false
      lookLater(0)
      tellDown(reason)
    },
    forget: (endpoint) => void failedAt.delete(endpoint),
    reset() {
      stopLooking()
      isClosed = isRefusing = false
      refused = undefined
      connections = 0
      failedAt.clear()
    },
    close() {
      isOver = true
      stopLooking()
    },
  }
}
