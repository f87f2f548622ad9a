/**
 * Which notices about an endpoint's circuit reach the host, and which about the proxy reach its operator. A circuit that opens and
 * closes again and again is announced once an hour, with a count of the openings between. An announced opening is always
 * followed by its recovery. An opening that was left out is announced after the hour if the circuit is still open. So the last
 * announcement always becomes true.
 */
import type { CircuitNewsRecord } from '../../store/endpoint/relay-endpoint.ts'

export interface CircuitNews {
  /** The circuit opened. @returns what to add to the announcement; `undefined` when the host is not notified */
  opened(now: number): string | undefined
  /** It is still open after another probe. @returns as `opened` */
  stillOpen(now: number): string | undefined
  /** It closed. @returns whether the host is notified */
  closed(): boolean
  readonly record: CircuitNewsRecord
}

/**
 * @param interval milliseconds between two announced openings
 * @param record missing in what earlier versions wrote, which announced everything
 * @param happened what it did more than once, as a word
 */
export function createCircuitNews(
  interval: number,
  isOpen: boolean,
  record?: CircuitNewsRecord,
  happened = 'opened',
): CircuitNews {
  let { open, openedAt, omitted } = record ?? { open: isOpen, openedAt: null, omitted: 0 }

  const isDue = (now: number): boolean => openedAt === null || now - openedAt >= interval

  function announce(now: number): string {
    const since = new Date(openedAt ?? now).toISOString()
    const rest = omitted === 0 ? '' : `; since ${since} it ${happened} ${omitted === 1 ? 'once' : `${omitted} times`} more`
    open = true
    openedAt = now
    omitted = 0
    return rest
  }

  return {
    opened(now) {
      if (!open && isDue(now)) return announce(now)
      omitted++
      return undefined
    },
    stillOpen(now) {
      if (open || !isDue(now)) return undefined
      omitted = Math.max(0, omitted - 1)
      return announce(now)
    },
    closed() {
      const wasAnnounced = open
      open = false
      return wasAnnounced
    },
    get record() {
      return { open, openedAt, omitted }
    },
  }
}
