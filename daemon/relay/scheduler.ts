/**
 * Decides what is sent when, and records what became of it.
 *
 * It moves in turns. A turn takes the results that have come in, chooses what to send next, records both in one transaction
 * and only then sends. So a slot is free again only when the result that it waited for is recorded, and at most as many
 * deliveries repeat after a kill as were in flight.
 */
import pRetry from 'p-retry'
import type { Ticket } from './breaker.ts'
import type { Clock } from './clock.ts'
import type { Courier } from './deliver.ts'
import { EndpointRun, isSuspect } from './endpoint.ts'
import type { RelayEvents } from './events.ts'
import { type Flight, type Gathering, gather, type Landing, settleLanding } from './landing.ts'
import type { Outcome } from './outcome.ts'
import { createReady } from './ready.ts'
import type { Settings } from './settings.ts'
import type { RelayStore, StoredEndpoint, Taken, Waiting } from './store/store.ts'

/** Retries may hold this share of all slots; the rest is kept for first attempts. */
const retryShare = 0.75

export interface SchedulerParts {
  readonly store: RelayStore
  readonly courier: Courier
  readonly clock: Clock
  readonly timeline: () => number
  readonly settings: () => Settings
  readonly events: Required<RelayEvents>
  /** From 0 to 1, for jitter. */
  readonly random: () => number
}

export interface Scheduler {
  /** Takes in what came from the outbox. */
  taken(taken: Taken): void
  /** Reads everything anew from the store: somebody else changed it. */
  refresh(): void
  /** Looks whether something may be sent; also after a change of settings. */
  wake(): void
  /** The endpoint with this ref, as it runs. */
  endpoint(ref: number): EndpointRun | undefined
  readonly endpoints: Iterable<EndpointRun>
  readonly inFlight: number
  /** Whether the last results could be recorded. */
  readonly healthy: boolean
  /** Milliseconds that the present turn has taken; 0 between turns. */
  readonly stuckFor: number
  /** Stops an endpoint as of the next turn. */
  disable(ref: number, reason: string): void
  /** Lifts that; it begins slowly. */
  enable(ref: number): void
  /**
   * Starts nothing more and waits for what is in flight; what is not back in time is aborted and stays due.
   * @param grace milliseconds
   */
  stop(grace: number): Promise<void>
}

function without(flying: ReadonlySet<number>, landed: readonly Landing[]): ReadonlySet<number> {
  const left = new Set(flying)
  for (const { waiting } of landed) left.delete(waiting.delivery)
  return left
}

export function createScheduler(parts: SchedulerParts, stored: readonly StoredEndpoint[]): Scheduler {
  const { store, courier, clock, timeline, settings, events, random } = parts
  const runs = new Map<number, EndpointRun>()
  const ready = createReady()
  let landings: Landing[] = []
  let toDisable = new Map<number, string>()
  let flying: ReadonlySet<number> = new Set()
  let occupied = 0
  let retries = 0
  let suspects = 0
  let running = false
  let again = false
  let stopping = false
  let turnBegan: number | undefined
  let healthy = true
  let cancelTimer: () => void = () => undefined
  let idle: () => void = () => undefined
  const aborting = new AbortController()

  function add(each: StoredEndpoint): EndpointRun {
    const run = new EndpointRun(each, settings, store, clock.monotonic, timeline)
    runs.set(each.endpoint.ref, run)
    ready.add(run)
    return run
  }

  function wake(): void {
    again = true
    if (running) return
    running = true
    setImmediate(() => {
      turns()
        .catch((error: unknown) => events.onFault('a turn of the scheduler failed', error))
        .finally(() => {
          running = false
          if (again) wake()
        })
    })
  }

  async function turns(): Promise<void> {
    again = false
    turnBegan = clock.monotonic()
    try {
      await turn()
    } finally {
      turnBegan = undefined
      plan()
    }
  }

  /** Sets the timer for the next moment at which something may be sent without anything else happening first. */
  function plan(): void {
    cancelTimer()
    if (stopping) return
    const until = ready.earliest
    // Looking again every minute, a jump of the clock is noticed.
    if (Number.isFinite(until)) cancelTimer = clock.timer(Math.min(60_000, Math.max(1, until - timeline())), wake)
  }

  async function turn(): Promise<void> {
    const now = timeline()
    const gathering = gather(toDisable)
    toDisable = new Map()
    const landed = landings
    landings = []
    for (const landing of landed)
      await land(landing, gathering, now).catch((error: unknown) => events.onFault('a result cannot be judged', error))
    for (const [ref, reason] of gathering.disable) ground(ref, reason, gathering)
    // Recorded before anything is chosen: what the store still calls waiting would be sent a second time.
    if (landed.length > 0) flying = without(flying, landed)
    await record(gathering, now)
    ready.awake(now)

    const starting = stopping ? [] : await choose(now)
    if (starting.length > 0) {
      flying = new Set([...flying, ...starting.map(({ waiting }) => waiting.delivery)])
      await record(gather(), now)
    }
    for (const tell of gathering.told) tell()
    for (const notice of gathering.notices) events.onNotice(notice)
    await Promise.all(starting.map(launch))
    if (stopping && flying.size === 0 && landings.length === 0) idle()
  }

  /** Until it is recorded nothing goes on: a full disk stops the sending, it does not make duplicates. */
  async function record(gathering: Gathering, now: number): Promise<void> {
    const write = () => store.commit({ ...gathering, inFlight: flying }, now)
    const told = await pRetry(write, {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 100,
      maxTimeout: 5000,
      signal: aborting.signal,
      onFailedAttempt: ({ error }) => {
        healthy = false
        events.onFault('results cannot be recorded', error)
      },
    })
    healthy = true
    for (const ref of told) expectFirst(ref)
  }

  /** The store has something new for an endpoint. */
  function expectFirst(ref: number): void {
    const run = runs.get(ref)
    run?.expect('first', 0)
    if (run) ready.add(run)
  }

  /** Round robin over the endpoints that may have something; each keeps its place until it says that it has nothing. */
  async function choose(now: number): Promise<Flight[]> {
    const starting: Flight[] = []
    const { maxInFlight } = settings()
    const monotonic = clock.monotonic()
    const mostRetries = Math.max(1, Math.floor(maxInFlight * retryShare))
    while (occupied < maxInFlight) {
      const run = ready.next()
      if (!run) break
      try {
        const next = await run.next({ now, monotonic, retriesFull: retries >= mostRetries, suspectInFlight: suspects > 0 })
        if (next.kind === 'wait') ready.sleep(run, next.until)
        else {
          starting.push(await depart(run, next.waiting, next.ticket, monotonic))
          ready.add(run)
        }
      } catch (error) {
        events.onFault('the relay store cannot be read', error)
        run.refresh()
        ready.sleep(run, now + 1000)
      }
    }
    return starting
  }

  async function depart(run: EndpointRun, waiting: Waiting, ticket: Ticket, started: number): Promise<Flight> {
    try {
      const outgoing = await store.outgoing(waiting)
      occupied++
      if (waiting.lane === 'retry') retries++
      if (isSuspect(waiting)) suspects++
      return { run, waiting, ticket, outgoing, started }
    } catch (error) {
      run.inFlight.delete(waiting.delivery)
      run.breaker.release(ticket)
      throw error
    }
  }

  async function launch(flight: Flight): Promise<void> {
    const { run, outgoing } = flight
    const arrive = (outcome: Outcome): void => {
      landings.push({ ...flight, outcome })
      wake()
    }
    if (!outgoing)
      return arrive({ result: 'fault', status: null, reason: 'no such event', retryAfter: undefined, milliseconds: 0 })
    const { ref, url, key, secrets } = run.endpoint
    courier
      .send({ endpoint: { ref, url, key, secrets }, event_id: outgoing.event_id, body: outgoing.body })
      .then(arrive)
      .catch((error: unknown) => {
        events.onFault('an attempt failed in an unforeseen way', error)
        arrive({ result: 'fault', status: null, reason: 'unforeseen', retryAfter: undefined, milliseconds: 0 })
      })
  }

  async function land(landing: Landing, gathering: Gathering, now: number): Promise<void> {
    const { run, waiting, ticket, outcome } = landing
    run.inFlight.delete(waiting.delivery)
    occupied--
    ready.add(run)
    if (waiting.lane === 'retry') retries--
    if (isSuspect(waiting)) suspects--
    if (outcome.result === 'aborted') return run.breaker.release(ticket)

    await settleLanding(landing, gathering, { now, schedule: settings().retrySchedule, random: random() }, events)
  }

  function ground(ref: number, reason: string, gathering: Gathering): void {
    const run = runs.get(ref)
    if (!run || run.endpoint.disabled !== null) return
    run.endpoint = { ...run.endpoint, disabled: reason }
    const { network_id, id } = run.endpoint
    const text = `the endpoint is disabled: ${reason}; its events are kept`
    gathering.notices.push({ kind: 'endpoint.disabled', network_id, endpoint_id: id, event_id: null, text })
  }

  for (const each of stored) add(each)
  wake()

  return {
    taken(taken) {
      for (const endpoint of taken.changed) {
        const run = runs.get(endpoint.ref)
        if (run) run.update(endpoint)
        else add({ endpoint, state: undefined })
      }
      for (const { ref } of taken.removed) {
        const run = runs.get(ref)
        if (!run) continue
        run.removed = true
        run.refresh()
        runs.delete(ref)
        courier.forget(ref)
      }
      for (const ref of taken.deliveries.keys()) expectFirst(ref)
      for (const { ref } of taken.changed) {
        const run = runs.get(ref)
        if (run) ready.add(run)
      }
      wake()
    },
    refresh() {
      for (const run of runs.values()) {
        run.refresh()
        ready.add(run)
      }
      wake()
    },
    wake,
    endpoint: (ref) => runs.get(ref),
    get endpoints() {
      return runs.values()
    },
    get inFlight() {
      return flying.size
    },
    get healthy() {
      return healthy
    },
    get stuckFor() {
      return turnBegan === undefined ? 0 : clock.monotonic() - turnBegan
    },
    disable(ref, reason) {
      toDisable.set(ref, reason)
      wake()
    },
    enable(ref) {
      const run = runs.get(ref)
      if (!run) return
      run.update({ ...run.endpoint, disabled: null })
      run.failingSince = null
      ready.add(run)
      wake()
    },
    async stop(grace) {
      stopping = true
      cancelTimer()
      const { promise: landedAll, resolve } = Promise.withResolvers<void>()
      idle = resolve
      wake()
      const cancelGrace = clock.timer(grace, () => courier.abort())
      // A store that takes nothing must not keep the process from ending: what is not recorded is sent again.
      const cancelWaiting = clock.timer(grace + 2000, () => {
        aborting.abort()
        resolve()
      })
      await landedAll
      cancelGrace()
      cancelWaiting()
    },
  }
}
