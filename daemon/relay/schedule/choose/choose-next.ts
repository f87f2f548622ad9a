/** Chooses what is sent next: in turns over the endpoints that may have something, as far as slots are free. */
import type { Clock } from '../../clock.ts'
import type { Chosen, InFlight, InFlightAttempt } from './in-flight.ts'
import { type ReadingParts, readHeads, readNext } from './read-ahead.ts'

/** An endpoint of which the store could not be read is left alone for so many milliseconds. */
const faultPause = 1000

export interface ChoiceParts extends ReadingParts {
  readonly clock: Clock
  readonly inFlight: InFlight
}

/**
 * @param now the relay's timeline
 * @returns what is to be sent, in flight already, with what its requests hold
 */
export async function chooseNext(parts: ChoiceParts, now: number): Promise<readonly InFlightAttempt[]> {
  const { clock, events, ready, order, inFlight } = parts
  const monotonic = clock.monotonic()
  const chosen: Chosen[] = []
  ready.reopen()
  const free = inFlight.freeSlots
  const heads = readHeads(parts, free, now, monotonic)
  await Promise.all([
    readNext(parts, 'first', free, now, monotonic),
    readNext(parts, 'retry', Math.min(free, inFlight.freeForRetries), now, monotonic),
  ])
  // Each takes turns until it has nothing to send.
  for (let run = ready.next(); run; run = ready.next()) {
    try {
      const next = await run.next({
        now,
        monotonic,
        retriesFull: inFlight.freeForRetries <= 0,
        suspectInFlight: inFlight.hasSuspect,
        isOrdered: order.isOrdered(run),
        head: heads.get(run),
      })
      // The second one is another.
      heads.delete(run)
      if (next.kind === 'wait') ready.sleep(run, next.until)
      else {
        chosen.push(inFlight.begin(run, next.waiting, next.ticket))
        ready.add(run)
      }
    } catch (error) {
      events.onFault('the relay store cannot be read', error)
      run.queue.refresh()
      ready.sleep(run, now + faultPause)
    }
  }
  return load(parts, chosen, now)
}

/** Adds what is to be sent, read in one go. */
async function load(parts: ChoiceParts, chosen: readonly Chosen[], now: number): Promise<readonly InFlightAttempt[]> {
  if (chosen.length === 0) return []
  try {
    const outgoing = await parts.store.outgoing(chosen.map(({ waiting }) => waiting))
    return chosen.map((each) => ({ ...each, outgoing: outgoing.get(each.waiting.delivery) }))
  } catch (error) {
    parts.events.onFault('the relay store cannot be read', error)
    for (const each of chosen) {
      parts.inFlight.end(each)
      each.run.notSent(each.waiting)
      parts.ready.sleep(each.run, now + faultPause)
    }
    return []
  }
}
