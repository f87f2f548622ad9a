/** The endpoints that may have something to send, in turns, and when to look at the others again. */
import type { EndpointRun } from './endpoint.ts'
import { createWakeTimes } from './wake-times.ts'

export interface Ready {
  /** Puts an endpoint at the end, once. */
  add(run: EndpointRun): void
  /** The first ones, which stay where they are. */
  upcoming(count: number): readonly EndpointRun[]
  /** Takes the first one; it is to be put back, or to sleep. */
  next(): EndpointRun | undefined
  /** Leaves an endpoint out until a time of the timeline, or until it is added. */
  sleep(run: EndpointRun, until: number): void
  /** Adds those whose time has come. */
  awake(now: number): void
  /** When the next one awakes, or infinity. */
  readonly earliest: number
}

export function createReady(): Ready {
  const ring: EndpointRun[] = []
  const wakeTimes = createWakeTimes<EndpointRun>()

  function add(run: EndpointRun): void {
    if (run.queued) return
    run.queued = true
    ring.push(run)
  }

  return {
    add,
    upcoming: (count) => ring.slice(0, count),
    next() {
      const run = ring.shift()
      if (run) run.queued = false
      return run
    },
    sleep(run, until) {
      // One entry per endpoint: each new event for one whose circuit is open would otherwise add another.
      if (until >= run.wakeAt) return
      run.wakeAt = until
      wakeTimes.add(until, run)
    },
    awake(now) {
      for (const run of wakeTimes.take(now)) {
        run.wakeAt = Number.POSITIVE_INFINITY
        add(run)
      }
    },
    get earliest() {
      return wakeTimes.earliest
    },
  }
}
