/**
 * The endpoints that may have something to send, in turns, and when to look at the others again.
 *
 * Turns go over the networks, then over the endpoints of a network. Endpoints of each standing have lines of their own, so that nobody has to pass a thousand that may not start to find the one that may.
 */
import type { EndpointRun } from './endpoint.ts'
import { createLine, type Line, type Place } from './line.ts'
import { type Shares, type Standing, standings } from './shares.ts'
import { createWakeTimes } from './wake-times.ts'

export interface Ready {
  /** Puts an endpoint at the end of its network's line, once. */
  add(run: EndpointRun): void
  /** The first ones that may start, which stay where they are. */
  upcoming(count: number): readonly EndpointRun[]
  /** Takes the first one that may start; it is to be put back, or to sleep. */
  next(): EndpointRun | undefined
  /** Slots have become free: networks that had their share are asked again. */
  reopen(): void
  /** Leaves an endpoint out until a time of the timeline, or until it is added. */
  sleep(run: EndpointRun, until: number): void
  /** Adds those whose time has come. */
  awake(now: number): void
  /** When the next one awakes, or infinity. */
  readonly earliest: number
}

/** The endpoints of one network and one standing. */
interface Crowd {
  readonly network: string
  readonly standing: Standing
  readonly runs: Line<EndpointRun>
  /** Among the networks; missing while the network has its share. */
  place: Place<Crowd> | undefined
}

/** Where an endpoint stands. */
export interface Standpoint {
  readonly crowd: Crowd
  readonly place: Place<EndpointRun>
}

interface Side {
  readonly standing: Standing
  /** The networks that are to be asked, in turns. */
  readonly turns: Line<Crowd>
  readonly crowds: Map<string, Crowd>
}

const sideOf = (standing: Standing): Side => ({ standing, turns: createLine(), crowds: new Map() })

export function createReady(shares: Pick<Shares, 'open' | 'allows'>): Ready {
  const sides = { quick: sideOf('quick'), slow: sideOf('slow'), doubtful: sideOf('doubtful') }
  let parked: Crowd[] = []
  let turn = 0
  const wakeTimes = createWakeTimes<EndpointRun>()

  function crowdOf({ endpoint: { network_id: network }, standing }: EndpointRun): Crowd {
    const { crowds, turns } = sides[standing]
    const known = crowds.get(network)
    if (known) return known
    const crowd: Crowd = { network, standing, runs: createLine(), place: undefined }
    crowd.place = turns.add(crowd)
    crowds.set(network, crowd)
    return crowd
  }

  function leave(run: EndpointRun, { crowd, place }: Standpoint): void {
    run.queued = undefined
    crowd.runs.remove(place)
    if (crowd.runs.first) return
    const { crowds, turns } = sides[crowd.standing]
    crowds.delete(crowd.network)
    if (crowd.place) turns.remove(crowd.place)
    crowd.place = undefined
  }

  function add(run: EndpointRun): void {
    const { queued } = run
    if (queued?.crowd.standing === run.standing) return
    if (queued) leave(run, queued)
    const crowd = crowdOf(run)
    run.queued = { crowd, place: crowd.runs.add(run) }
  }

  function nextOf({ standing, turns }: Side): EndpointRun | undefined {
    while (shares.open(standing)) {
      const crowd = turns.first?.value
      const run = crowd?.runs.first?.value
      if (!crowd?.place || !run?.queued) return undefined
      turns.remove(crowd.place)
      if (shares.allows(crowd)) {
        crowd.place = turns.add(crowd)
        leave(run, run.queued)
        return run
      }
      crowd.place = undefined
      parked.push(crowd)
    }
    return undefined
  }

  return {
    add,
    upcoming(count) {
      const found: EndpointRun[] = []
      // Of each network first its first one, then its second one, as the turns will go.
      let places: Place<EndpointRun>[] = []
      for (const { standing, turns } of Object.values(sides)) {
        if (!shares.open(standing)) continue
        for (let each = turns.first, left = count; each && left > 0; each = each.after, left--)
          if (each.value.runs.first && shares.allows(each.value)) places.push(each.value.runs.first)
      }
      while (places.length > 0 && found.length < count) {
        found.push(...places.map(({ value }) => value))
        places = places.flatMap(({ after }) => after ?? [])
      }
      return found.slice(0, count)
    },
    next() {
      turn++
      for (let step = 0; step < standings.length; step++) {
        const standing = standings[(turn + step) % standings.length]
        const run = standing && nextOf(sides[standing])
        if (run) return run
      }
      return undefined
    },
    reopen() {
      const waiting = parked
      parked = []
      for (const crowd of waiting) {
        // Empty ones have been given up; there may be another one of the same network by now.
        const { crowds, turns } = sides[crowd.standing]
        if (crowds.get(crowd.network) === crowd) crowd.place ??= turns.add(crowd)
      }
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
