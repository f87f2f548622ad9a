/**
 * The breaker of the proxy. A proxy that is down fails every attempt through it. So after one such failure the relay sends one attempt at
 * a time, a probe with a connection of its own, after a back-off. The next connection that the proxy makes opens the gate.
 *
 * Failures that may be about one endpoint, such as a 502, don't close it: they put off that endpoint alone.
 */
import type { Clock } from '../clock.ts'

/** Milliseconds before the first probe, and at most; each failed one doubles it. */
const firstPause = 1000
const longestPause = 30_000
/** Milliseconds beyond its time-out after which a probe is not waited for any more. */
const probeMargin = 1000

export type ProxyNews = { readonly kind: 'failed'; readonly reason: string } | { readonly kind: 'recovered' }

export interface ProxyGate {
  readonly isDown: boolean
  /** While the proxy is down: when the next probe may be sent, in monotonic milliseconds. */
  readonly probeAt: number
  /** A probe is chosen: there is no other one while it lasts. */
  probing(): void
  /** An attempt through the proxy is over, whatever came of it. */
  attempted(): void
  /** The proxy made a connection. */
  worked(): void
  /** The proxy failed in a way that it would fail for every endpoint. */
  failed(reason: string): void
  /** Another proxy may work. */
  reset(): void
}

/** @param timeoutMs of an attempt */
export function createProxyGate(
  { monotonic }: Pick<Clock, 'monotonic'>,
  timeoutMs: () => number,
  onNews: (news: ProxyNews) => void,
): ProxyGate {
  let isDown = false
  /** Whether the last news was that it failed. */
  let isToldDown = false
  let isProbing = false
  let failures = 0
  let probeAt = 0

  function pause(): void {
    isProbing = false
    probeAt = monotonic() + Math.min(longestPause, firstPause * 2 ** Math.min(30, failures - 1))
  }

  function reset(): void {
    isDown = isProbing = false
    failures = 0
  }

  return {
    get isDown() {
      return isDown
    },
    get probeAt() {
      return probeAt
    },
    probing() {
      if (!isDown) return
      isProbing = true
      probeAt = monotonic() + timeoutMs() + probeMargin
    },
    attempted() {
      if (isDown && isProbing) pause()
    },
    worked() {
      if (!isDown) return
      reset()
      isToldDown = false
      onNews({ kind: 'recovered' })
    },
    failed(reason) {
      // Attempts from before the failure say nothing new.
      if (isDown && !isProbing) return
      isDown = true
      failures++
      pause()
      if (isToldDown) return
      isToldDown = true
      onNews({ kind: 'failed', reason })
    },
    reset,
  }
}
