/** The attempts in flight: whose slots they take, and which of them are over. */
import type { Settings } from '../../settings.ts'
import type { Outgoing, Waiting } from '../../store/store.ts'
import type { Attempted, Ticket } from '../endpoint/circuit.ts'
import { type EndpointRun, isSuspect } from '../endpoint/endpoint-run.ts'
import { createShares, type Holder, type Shares } from './shares.ts'

/** Retries may hold this share of all slots; the rest is kept for first attempts. */
const retryShare = 0.75

export interface Chosen {
  readonly run: EndpointRun
  readonly waiting: Waiting
  readonly ticket: Ticket
  /** The resets of its endpoint until then: a response after a later reset belongs to an earlier definition. */
  readonly resets: number
  /** The share of the slots that it uses. */
  readonly holder: Holder
}

/** An attempt, from when it is recorded to be sent. */
export interface InFlightAttempt extends Chosen {
  /** `undefined` when nothing is known any more of what is to be sent. */
  readonly outgoing: Outgoing | undefined
}

export interface FinishedAttempt extends InFlightAttempt, Attempted {}

export interface InFlight {
  readonly shares: Pick<Shares, 'open' | 'allows'>
  /** Every delivery that is in flight; the same set as long as nothing changes. */
  readonly deliveries: ReadonlySet<number>
  readonly freeSlots: number
  readonly freeForRetries: number
  /** Whether a delivery is among them that is suspected of having killed the process. */
  readonly hasSuspect: boolean
  begin(run: EndpointRun, waiting: Waiting, ticket: Ticket): Chosen
  /** Gives back what `begin` took. */
  end(chosen: Chosen): void
  /** An attempt is over; `takeFinished` gives it. After a lease was lost, nothing waits for it any more. */
  finish(attempt: InFlightAttempt, attempted: Attempted): void
  readonly hasFinished: boolean
  takeFinished(): readonly FinishedAttempt[]
  /** Forgets all of them: another relay sends them by now. */
  clear(): void
}

export function createInFlight(settings: () => Settings): InFlight {
  const shares = createShares(() => settings().maxInFlight)
  const current = new Set<number>()
  let deliveries: ReadonlySet<number> = new Set()
  let changed = false
  let finished: FinishedAttempt[] = []
  let retries = 0
  let suspects = 0

  return {
    shares,
    get deliveries() {
      // They change many times in a tick, and are read once or twice.
      if (changed) deliveries = new Set(current)
      changed = false
      return deliveries
    },
    get freeSlots() {
      return settings().maxInFlight - shares.used
    },
    get freeForRetries() {
      return Math.max(1, Math.floor(settings().maxInFlight * retryShare)) - retries
    },
    get hasSuspect() {
      return suspects > 0
    },
    begin(run, waiting, ticket) {
      const holder = { network: run.endpoint.network_id, standing: run.standing }
      shares.take(holder)
      current.add(waiting.delivery)
      changed = true
      if (waiting.lane === 'retry') retries++
      if (isSuspect(waiting)) suspects++
      return { run, waiting, ticket, holder, resets: run.endpoint.fresh_starts }
    },
    end({ waiting, holder }) {
      shares.giveBack(holder)
      current.delete(waiting.delivery)
      changed = true
      if (waiting.lane === 'retry') retries--
      if (isSuspect(waiting)) suspects--
    },
    finish(attempt, attempted) {
      if (attempt.run.isInFlight(attempt.waiting)) finished.push({ ...attempt, ...attempted })
    },
    get hasFinished() {
      return finished.length > 0
    },
    takeFinished() {
      const taken = finished
      finished = []
      return taken
    },
    clear() {
      shares.clear()
      current.clear()
      changed = true
      finished = []
      retries = 0
      suspects = 0
    },
  }
}
