/**
 * Decides what is sent when, and records what became of it.
 *
 * It moves in turns. A turn takes the results that have come in, chooses what to send next, records both and only then sends.
 * So nothing is sent in a slot before the result that it waited for is recorded, and at most as many deliveries repeat after
 * a kill as were in flight.
 */
import pRetry from 'p-retry'
import type { Clock } from '../clock.ts'
import type { RelayEvents } from '../events.ts'
import { createCredentialsReader } from '../send/credentials.ts'
import type { Outcome } from '../send/outcome.ts'
import type { Sender } from '../send/sender.ts'
import type { Settings } from '../settings.ts'
import {
  type Endpoint,
  type Ingested,
  type Lane,
  LeaseLost,
  type Notice,
  type Outgoing,
  type Recovered,
  type RelayStore,
  type StoreChanges,
  type StoredEndpoint,
  type Waiting,
} from '../store/store.ts'
import { createArranging } from './arranging.ts'
import type { Ticket } from './breaker.ts'
import { EndpointRun, isSuspect } from './endpoint.ts'
import { type Flight, type Gathering, gather, type Landing, settleLanding } from './landing.ts'
import { attemptTimeout, coversAttempt, coversRequest } from './lease.ts'
import { createReady } from './ready.ts'
import { createShares, type Holder } from './shares.ts'

/** Retries may hold this share of all slots; the rest is kept for first attempts. */
const retryShare = 0.75

export interface SchedulerParts {
  readonly store: RelayStore
  readonly sender: Sender
  readonly clock: Clock
  readonly timeline: () => number
  readonly settings: () => Settings
  readonly events: Required<RelayEvents>
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  /** What decrypts keys and secrets of endpoints. */
  readonly encryptionKeys: readonly string[]
}

export interface Scheduler {
  /** Takes in what came from the outbox. */
  ingested(ingested: Ingested): void
  /** Takes in what others changed in the store. */
  follow(changes: StoreChanges): void
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
  /** Takes on how an endpoint is defined now. */
  change(endpoint: Endpoint): void
  /** Decrypts keys and secrets of endpoints with other keys from now on. */
  rekey(encryptionKeys: readonly string[]): void
  /** An endpoint with its credentials in plain text. @throws EncryptionError */
  open(endpoint: Endpoint): Promise<Endpoint>
  /**
   * Starts nothing more and waits for what is in flight; what is not back in time is aborted and stays due.
   * @param grace milliseconds
   */
  stop(grace: number): Promise<void>
}

type Departure = Omit<Flight, 'outgoing'>

const holderOf = ({ endpoint, standing }: EndpointRun): Holder => ({ network: endpoint.network_id, standing })

/** What people are told of an endpoint whose credentials can be read from now on, or cannot. */
function readingNotice({ endpoint: { network_id, id }, unreadable }: EndpointRun): Notice {
  const about = { network_id, endpoint_id: id, event_id: null }
  if (unreadable === null)
    return { ...about, kind: 'endpoint.readable', text: 'its key and secrets can be read: sending resumes' }
  return { ...about, kind: 'endpoint.unreadable', text: `nothing is sent, and its deliveries wait: ${unreadable}` }
}

const nothingSent = { status: null, retryAfter: undefined, milliseconds: 0 }

function without(flying: ReadonlySet<number>, landed: readonly Landing[]): ReadonlySet<number> {
  const left = new Set(flying)
  for (const { waiting } of landed) left.delete(waiting.delivery)
  return left
}

export function createScheduler(parts: SchedulerParts, recovered: Recovered): Scheduler {
  const { store, sender, clock, timeline, settings, events, random } = parts
  const runs = new Map<number, EndpointRun>()
  const shares = createShares(() => settings().maxInFlight)
  const ready = createReady(shares)
  /** Endpoints that are wanted for another relay. */
  const leaving = new Set<EndpointRun>()
  /** Endpoints whose days of failure are over: their state is to be recorded. */
  const forgiven = new Set<EndpointRun>()
  /** Endpoints whose credentials can be read from now on, or cannot: their state is to be recorded, and people are to be told. */
  const turned = new Set<EndpointRun>()
  const changes: StoreChanges[] = []
  const arranging = createArranging(store)
  const credentials = createCredentialsReader(parts.encryptionKeys, readAs)
  /** Whether the lease of everything here is over. */
  let lost = false
  let landings: Landing[] = []
  let toDisable = new Map<number, string>()
  let flying: ReadonlySet<number> = new Set()
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
    if (run.relieved) forgiven.add(run)
    arranging.whole(run)
    ready.add(run)
    credentials.read(run)
    return run
  }

  function readAs(run: EndpointRun, problem: string | null): void {
    // What is as it was before this process began is logged, and not recorded again.
    if (run.unreadable !== problem) turned.add(run)
    else if (problem !== null) events.onNotice(readingNotice(run))
    run.unreadable = problem
    if (runs.get(run.endpoint.ref) !== run) return
    ready.add(run)
    wake()
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
    if (lost) {
      cancelTimer = clock.timer(1000, wake)
      return
    }
    const until = ready.earliest
    // Looking again every minute, a jump of the clock is noticed.
    if (Number.isFinite(until)) cancelTimer = clock.timer(Math.min(60_000, Math.max(1, until - timeline())), wake)
  }

  async function turn(): Promise<void> {
    if (lost && stopping) return idle()
    try {
      if (lost) await begin()
      for (const each of changes.splice(0)) apply(each)
      await move()
      await letGo()
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error
      events.onFault('the lease was lost: other relays have its endpoints now', error)
      forgetAll()
      wake()
    }
  }

  /** Somebody else sends to these endpoints by now. */
  function forgetAll(): void {
    lost = true
    sender.abort('the lease was lost')
    for (const run of runs.values()) {
      remove(run.endpoint.ref)
      run.inFlight.clear()
    }
    landings = []
    toDisable = new Map()
    flying = new Set()
    shares.clear()
    retries = 0
    suspects = 0
  }

  async function begin(): Promise<void> {
    const recovered = await store.recover(timeline())
    lost = false
    for (const each of recovered.endpoints) add(each)
    for (const notice of recovered.notices) events.onNotice(notice)
  }

  function apply(changes: StoreChanges): void {
    for (const notice of changes.notices) events.onNotice(notice)
    if (changes.lease !== store.lease) return
    if (changes.lost) throw new LeaseLost('the store says so')
    for (const each of changes.gained) if (!runs.has(each.endpoint.ref)) add(each)
    for (const endpoint of changes.changed) change(endpoint)
    for (const ref of changes.gone) remove(ref)
    if (changes.touched === 'all') for (const ref of runs.keys()) refreshOne(ref)
    else for (const ref of changes.touched) expectFirst(ref)
    for (const ref of changes.wanted) {
      const run = runs.get(ref)
      if (!run) continue
      run.leaving = true
      leaving.add(run)
    }
  }

  /** Gives away what is wanted elsewhere, once nothing of it is in flight. */
  async function letGo(): Promise<void> {
    const idle = [...leaving].filter(({ inFlight }) => inFlight.size === 0)
    if (idle.length === 0) return
    for (const run of idle) remove(run.endpoint.ref)
    await store.release(idle.map(({ endpoint }) => endpoint.ref))
  }

  function change(endpoint: Endpoint): void {
    const run = runs.get(endpoint.ref)
    // What was read before the latest definition is no changes.
    if (!run || endpoint.fresh_starts < run.endpoint.fresh_starts) return
    if (run.update(endpoint)) forgiven.add(run)
    credentials.read(run)
    arranging.whole(run)
    ready.add(run)
  }

  function remove(ref: number): void {
    const run = runs.get(ref)
    if (!run) return
    run.removed = true
    run.refresh()
    runs.delete(ref)
    leaving.delete(run)
    sender.forget(ref)
  }

  function refreshOne(ref: number): void {
    const run = runs.get(ref)
    if (!run) return
    run.refresh()
    arranging.arrivals(run)
    ready.add(run)
  }

  async function move(): Promise<void> {
    const now = timeline()
    const gathering = gather(toDisable)
    toDisable = new Map()
    for (const run of forgiven) {
      gathering.states.set(run.endpoint.ref, run.state())
      if (!run.relieved) continue
      run.relieved = false
      const { network_id, id } = run.endpoint
      const text = 'sending resumes: the endpoint was reset'
      gathering.notices.push({ kind: 'endpoint.recovered', network_id, endpoint_id: id, event_id: null, text })
    }
    forgiven.clear()
    for (const run of turned) {
      if (runs.get(run.endpoint.ref) !== run) continue
      gathering.states.set(run.endpoint.ref, run.state())
      gathering.notices.push(readingNotice(run))
    }
    turned.clear()
    const landed = landings
    landings = []
    for (const landing of landed)
      await land(landing, gathering, now).catch((error: unknown) => events.onFault('a result cannot be classified', error))
    for (const [ref, reason] of gathering.disable) ground(ref, reason, gathering)
    if (landed.length > 0) flying = without(flying, landed)
    const simple = isSimple(landed, gathering)
    if (!simple) await recordAll(gathering, landed, now)
    ready.awake(now)

    if (!stopping) await arrange()
    const starting = stopping ? [] : await choose(now)
    if (starting.length > 0) flying = new Set([...flying, ...starting.map(({ waiting }) => waiting.delivery)])
    if (simple) await recordAll(gathering, landed, now)
    else if (starting.length > 0) await record(gather(), now)
    for (const tell of gathering.told) tell()
    for (const notice of gathering.notices) events.onNotice(notice)
    await Promise.all(starting.map(launch))
    if (stopping && flying.size === 0 && landings.length === 0) idle()
  }

  /**
   * Whether the results and what is sent next can be recorded at once: when all were delivered. After anything else the store
   * has to be asked about what waits, and it knows of a result only when that is recorded.
   */
  function isSimple(landed: readonly Landing[], { notices, disable }: Gathering): boolean {
    if (notices.length > 0 || disable.size > 0) return false
    return landed.every(
      ({ run, outcome }) =>
        outcome.result === 'delivered' && run.endpoint.order === 'none' && run.breaker.permit().kind === 'closed',
    )
  }

  async function arrange(): Promise<void> {
    try {
      for (const run of await arranging.settle(flying)) ready.add(run)
      if (arranging.due) again = true
    } catch (error) {
      if (error instanceof LeaseLost) throw error
      events.onFault('waiting deliveries cannot be sorted', error)
    }
  }

  async function recordAll(gathering: Gathering, landed: readonly Landing[], now: number): Promise<void> {
    await record(gathering, now)
    for (const { run, waiting } of landed) run.settling.delete(waiting.delivery)
  }

  /** Until it is recorded nothing goes on: a full disk stops the sending, it does not make duplicates. */
  async function record(gathering: Gathering, now: number): Promise<void> {
    const write = () => store.commit({ ...gathering, inFlight: flying }, now)
    const told = await pRetry(write, {
      retries: Number.POSITIVE_INFINITY,
      shouldRetry: ({ error }) => !(error instanceof LeaseLost),
      minTimeout: 100,
      maxTimeout: 5000,
      signal: aborting.signal,
      onFailedAttempt: ({ error }) => {
        if (error instanceof LeaseLost) return
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
    if (!run) return
    run.expect('first', 0)
    arranging.arrivals(run)
    ready.add(run)
  }

  /** In turns over the endpoints that may have something; each comes again until it says that it has nothing. */
  async function choose(now: number): Promise<Flight[]> {
    const starting: Departure[] = []
    const { maxInFlight } = settings()
    const monotonic = clock.monotonic()
    const mostRetries = Math.max(1, Math.floor(maxInFlight * retryShare))
    ready.reopen()
    const free = maxInFlight - shares.taken
    await feedAll('first', free, now, monotonic)
    await feedAll('retry', Math.min(free, mostRetries - retries), now, monotonic)
    for (let run = ready.next(); run; run = ready.next()) {
      try {
        const next = await run.next({ now, monotonic, retriesFull: retries >= mostRetries, suspectInFlight: suspects > 0 })
        if (next.kind === 'wait') ready.sleep(run, next.until)
        else {
          starting.push(depart(run, next.waiting, next.ticket, monotonic))
          ready.add(run)
        }
      } catch (error) {
        events.onFault('the relay store cannot be read', error)
        run.refresh()
        ready.sleep(run, now + 1000)
      }
    }
    return load(starting, now)
  }

  /** Reads in one go what the endpoints that come next need. */
  async function feedAll(lane: Lane, count: number, now: number, monotonic: number): Promise<void> {
    const hungry = count < 1 ? [] : ready.upcoming(count).filter((run) => run.hungry(lane, now, monotonic))
    if (hungry.length < 2) return
    const limit = Math.max(...hungry.map(({ reach }) => reach))
    for (const run of hungry) run.reads(lane)
    try {
      const found = await store.peek(
        hungry.map(({ endpoint }) => endpoint.ref),
        lane,
        limit,
      )
      for (const run of hungry) run.feed(lane, found.get(run.endpoint.ref) ?? [], limit, now)
    } catch (error) {
      events.onFault('the relay store cannot be read', error)
      for (const run of hungry) run.refresh()
    }
  }

  function depart(run: EndpointRun, waiting: Waiting, ticket: Ticket, started: number): Departure {
    const holder = holderOf(run)
    shares.take(holder)
    if (waiting.lane === 'retry') retries++
    if (isSuspect(waiting)) suspects++
    return { run, waiting, ticket, started, holder }
  }

  /** Takes back what `depart` did. */
  function returned({ run, waiting, holder }: Departure): void {
    run.inFlight.delete(waiting.delivery)
    shares.giveBack(holder)
    if (waiting.lane === 'retry') retries--
    if (isSuspect(waiting)) suspects--
  }

  /** Adds what is to be sent, read in one go. */
  async function load(starting: readonly Departure[], now: number): Promise<Flight[]> {
    if (starting.length === 0) return []
    try {
      const outgoing: ReadonlyMap<number, Outgoing> = await store.outgoing(starting.map(({ waiting }) => waiting))
      return starting.map((each) => ({ ...each, outgoing: outgoing.get(each.waiting.delivery) }))
    } catch (error) {
      events.onFault('the relay store cannot be read', error)
      for (const each of starting) {
        returned(each)
        each.run.breaker.release(each.ticket)
        each.run.refresh()
        ready.sleep(each.run, now + 1000)
      }
      return []
    }
  }

  async function launch(flight: Flight): Promise<void> {
    const { run, waiting, outgoing } = flight
    const arrive = (outcome: Outcome): void => {
      // Of a lease that was lost nobody waits for it any more.
      if (run.inFlight.has(waiting.delivery)) landings.push({ ...flight, outcome })
      wake()
    }
    // This process may have been stopped since the turn was recorded, for so long that others send by now.
    const timeout = attemptTimeout(settings())
    if (!coversAttempt(store.leasedFor, timeout))
      return arrive({ ...nothingSent, result: 'aborted', reason: 'the lease is nearly over' })
    if (!outgoing) return arrive({ ...nothingSent, result: 'fault', reason: 'no such event' })
    if (!outgoing.intact)
      return arrive({ ...nothingSent, result: 'damaged', reason: 'the stored body differs from the ingested one' })
    const { endpoint, credentials: plain } = run
    // It was defined anew since it was chosen.
    if (!plain) return arrive({ ...nothingSent, result: 'aborted', reason: 'its credentials are being read' })
    // This process may be stopped while it waits for a connection, too.
    const isAllowed = () => coversRequest(store.leasedFor)
    sender
      .send({
        endpoint: { ...plain, ref: endpoint.ref, url: endpoint.url },
        event_id: outgoing.event_id,
        body: outgoing.body,
        timeout,
        isAllowed,
      })
      .then(arrive)
      .catch((error: unknown) => {
        events.onFault('an attempt failed unexpectedly', error)
        arrive({ ...nothingSent, result: 'fault', reason: 'unforeseen' })
      })
  }

  async function land(landing: Landing, gathering: Gathering, now: number): Promise<void> {
    const { run, waiting, ticket, outcome } = landing
    returned(landing)
    run.settling.add(waiting.delivery)
    run.answered(outcome)
    ready.add(run)
    if (outcome.result === 'aborted') {
      run.expect(waiting.lane, waiting.due)
      return run.breaker.release(ticket)
    }

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

  for (const each of recovered.endpoints) add(each)
  wake()

  return {
    ingested(ingested) {
      for (const endpoint of ingested.changed) {
        if (runs.has(endpoint.ref)) change(endpoint)
        else add({ endpoint, state: undefined })
      }
      for (const { ref } of ingested.removed) remove(ref)
      for (const ref of ingested.deliveries.keys()) expectFirst(ref)
      wake()
    },
    follow(changed) {
      changes.push(changed)
      wake()
    },
    refresh() {
      for (const ref of runs.keys()) refreshOne(ref)
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
      return healthy && !lost
    },
    get stuckFor() {
      return turnBegan === undefined ? 0 : clock.monotonic() - turnBegan
    },
    disable(ref, reason) {
      toDisable.set(ref, reason)
      wake()
    },
    change(endpoint) {
      change(endpoint)
      wake()
    },
    rekey(encryptionKeys) {
      credentials.rekey(encryptionKeys)
      for (const run of runs.values()) credentials.read(run)
    },
    open: (endpoint) => credentials.open(endpoint),
    async stop(grace) {
      stopping = true
      cancelTimer()
      const { promise: landedAll, resolve } = Promise.withResolvers<void>()
      idle = resolve
      wake()
      const cancelGrace = clock.timer(grace, () => sender.abort('shutting down'))
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
