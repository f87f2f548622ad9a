/** Chooses what is sent next: in turns over the endpoints that may have something, as far as slots are free. */
import type { Clock } from '../clock.ts'
import type { RelayEvents } from '../events.ts'
import type { Lane, RelayStore } from '../store/store.ts'
import type { EndpointRun } from './endpoint/endpoint.ts'
import type { Chosen, InFlight, InFlightAttempt } from './in-flight.ts'
import type { Ready } from './ready/ready.ts'
import type { SubjectOrder } from './subject-order.ts'

/** An endpoint of which the store could not be read is left alone for so many milliseconds. */
const faultPause = 1000

const lanes = ['first', 'retry'] as const
/** Deliveries that one read gets, so that nothing waits long for it. Of many endpoints it gets a few of each all the same. */
const mostRead = 4096
const fewest = 32

export interface SelectionParts {
  readonly store: RelayStore
  readonly clock: Clock
  readonly events: Required<RelayEvents>
  readonly ready: Ready<EndpointRun>
  readonly order: SubjectOrder
  readonly inFlight: InFlight
}

/**
 * @param now the relay's timeline
 * @returns what is to be sent, in flight already, with what its requests hold
 */
export async function select(parts: SelectionParts, now: number): Promise<readonly InFlightAttempt[]> {
  const { clock, events, ready, order, inFlight } = parts
  const monotonic = clock.monotonic()
  const chosen: Chosen[] = []
  ready.reopen()
  const free = inFlight.freeSlots
  await readNext(parts, 'first', free, now, monotonic)
  await readNext(parts, 'retry', Math.min(free, inFlight.freeForRetries), now, monotonic)
  // Each takes turns until it has nothing to send.
  for (let run = ready.next(); run; run = ready.next()) {
    try {
      const next = await run.next({
        now,
        monotonic,
        retriesFull: inFlight.freeForRetries <= 0,
        suspectInFlight: inFlight.hasSuspect,
        isOrdered: order.isOrdered(run),
      })
      if (next.kind === 'wait') ready.sleep(run, next.until)
      else {
        chosen.push(inFlight.begin(run, next.waiting, next.ticket))
        ready.add(run)
      }
    } catch (error) {
      events.onFault('the relay store cannot be read', error)
      run.refresh()
      ready.sleep(run, now + faultPause)
    }
  }
  return load(parts, chosen, now)
}

/** Reads in one go what the endpoints that come next need. */
async function readNext(parts: SelectionParts, lane: Lane, count: number, now: number, monotonic: number): Promise<void> {
  if (count < 1) return
  const hungry = parts.ready.upcoming(count).filter((run) => run.isHungry(lane, now, monotonic) && parts.order.isOrdered(run))
  if (hungry.length > 1) await read(parts, hungry, lane, now)
}

/** Reads on for endpoints that were just sent to, while their attempts are under way: then the next turn need not wait for it. */
export async function readAhead(parts: SelectionParts, sent: readonly InFlightAttempt[], now: number): Promise<void> {
  const runs = [...new Set(sent.map(({ run }) => run))].filter((run) => parts.order.isOrdered(run))
  for (const lane of lanes) {
    const low = runs.filter((run) => run.isLow(lane, now))
    if (low.length > 0) await read(parts, low, lane, now)
  }
}

async function read({ store, events }: SelectionParts, runs: readonly EndpointRun[], lane: Lane, now: number): Promise<void> {
  const share = Math.max(fewest, Math.floor(mostRead / runs.length))
  const limit = Math.min(share, Math.max(...runs.map(({ reach }) => reach)))
  const except = runs.flatMap((run) => run.reading(lane))
  try {
    const refs = runs.map(({ endpoint }) => endpoint.ref)
    const found = await store.peek(refs, lane, limit, except)
    for (const run of runs) run.feed(lane, found.get(run.endpoint.ref) ?? [], limit, now)
  } catch (error) {
    events.onFault('the relay store cannot be read', error)
    for (const run of runs) run.refresh()
  }
}

/** Adds what is to be sent, read in one go. */
async function load(parts: SelectionParts, chosen: readonly Chosen[], now: number): Promise<readonly InFlightAttempt[]> {
  if (chosen.length === 0) return []
  try {
    const outgoing = await parts.store.outgoing(chosen.map(({ waiting }) => waiting))
    return chosen.map((each) => ({ ...each, outgoing: outgoing.get(each.waiting.delivery) }))
  } catch (error) {
    parts.events.onFault('the relay store cannot be read', error)
    for (const each of chosen) {
      parts.inFlight.end(each)
      each.run.notSent(each.waiting, each.ticket)
      parts.ready.sleep(each.run, now + faultPause)
    }
    return []
  }
}
