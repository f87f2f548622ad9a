/** The relay store on PostgreSQL, which any number of relays share, and the way into it from the outbox next to it. */

import { listenOn } from '../../../../adapters/sql/postgres/listen.ts'
import { notifierOver } from '../../../../adapters/sql/postgres/notifier.ts'
import { channelOf } from '../../../../adapters/storage/postgres/outbox.ts'
import type { Clock } from '../../clock.ts'
import { createPollLoop } from '../../poll-loop.ts'
import { type Plan, row } from '../database.ts'
import type { Intake } from '../intake.ts'
import { createIngester } from '../plans/ingest.ts'
import { type Backlog, countsOf, purge } from '../plans/maintenance.ts'
import { readingOf } from '../plans/waiting.ts'
import { number, numberOrNull } from '../rows.ts'
import { type Ingested, LeaseLost, type RelayStore, type StoreChanges } from '../store.ts'
import { definitionsOf, sharedState } from './changes.ts'
import { openDatabase, relaySchemaOf } from './database.ts'
import { outboxTable } from './intake.ts'
import { farMs, patienceOf } from './lease-time.ts'
import { createLeases, type Tended } from './leases.ts'
import { arrange, arrangeAll, type Progress } from './order.ts'
import { recordTick } from './record-tick.ts'
import { waitingReader } from './waiting-reader.ts'

export interface PostgresStoreOptions {
  readonly url: string
  /** The schema of the outbox; the relays have a separate one next to it. */
  readonly schema?: string
  readonly clock: Clock
  /** Milliseconds of a lease. */
  readonly lease: () => number
}

export interface SharedStore {
  readonly store: RelayStore
  readonly intake: Intake
}

/** The channel on which a relay notifies others that it has changed something for them. */
const relayChannelOf = (schema: string): string => relaySchemaOf(schema)

/** Runs one work after the other: what one of them finds in the database the next one must not have changed in between. */
function oneAtATime() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }
}

/** A lease is renewed this often within its time, and whether that is due is looked at every so many milliseconds. */
const renewals = 6
const renewalCheckMs = 50
/** Endpoints without a relay are claimed at most this often, in milliseconds: another relay may be about to claim them. */
const claimInterval = 250

function* backlog(): Plan<Backlog> {
  const waiting = (yield* row(`SELECT count(*) AS n, min(id) AS oldest FROM $schema.deliveries WHERE state = 'pending'`)) ?? {}
  return { pending: number(waiting, 'n'), oldest: numberOrNull(waiting, 'oldest') }
}

/**
 * Opens the store that the relays of an outbox share. Events go from the outbox into it in one transaction of the database.
 * @throws StorageError `unavailable`, `newer`
 */
export async function openPostgresStore({ url, schema, clock, lease }: PostgresStoreOptions): Promise<SharedStore> {
  const patience = () => patienceOf(lease())
  const database = await openDatabase({ url, patience, ready: true, ...(schema === undefined ? {} : { schema }) })
  const ingester = createIngester(database)
  const outbox = outboxTable(database, ingester)
  const leases = createLeases(database, clock, lease, ingester)
  const notifier = notifierOver(database.pool, relayChannelOf(database.schema))
  const outboxHints = new Set<() => void>()
  const storeHints = new Set<() => void>()
  const listening = listenOn(url, [channelOf(database.schema), relayChannelOf(database.schema)], (channel) => {
    for (const hint of channel === channelOf(database.schema) ? outboxHints : storeHints) hint()
  })
  const progress: Progress = new WeakMap()
  const alone = oneAtATime()
  let lost = false
  let tendedAt = Number.NEGATIVE_INFINITY
  /** Everything up to this version has been given to the relay. */
  let seen = 0
  let broken = 0
  /** How many relays there were at the last poll, and how many of them near. */
  let relayCount = ''
  /** Whether the last renewal failed: `poll` repeats it, and reports why. */
  let isUnrenewed = false
  /** As it was recorded last. */
  let inFlight: ReadonlySet<number> | undefined

  function loses(error: unknown): never {
    if (error instanceof LeaseLost) lost = true
    throw error
  }

  /** The tending that is under way. Where PostgreSQL responds late, new work does not wait for it. */
  let tending: { readonly result: Promise<Tended>; isOver: boolean } | undefined

  function tend(now: number): Promise<Tended> {
    tendedAt = clock.monotonic()
    const begun = { result: tendNow(now), isOver: false }
    tending = begun
    const over = () => {
      begun.isOver = true
    }
    begun.result.then(over, over)
    return begun.result
  }

  async function tendNow(now: number): Promise<Tended> {
    const tended = await leases.tend(now)
    if (tended.interrupted > 0 || tended.gained.length > 0) notifier.notify()
    return tended
  }

  async function renew(): Promise<void> {
    if (lost || leases.id === '') return
    try {
      await leases.renew()
      isUnrenewed = false
    } catch (error) {
      isUnrenewed = true
      throw error
    }
  }

  /** Renews the lease, whatever else waits for the database. */
  let renewedAt = clock.monotonic()
  const renewing = createPollLoop({
    clock,
    interval: renewalCheckMs,
    async step() {
      if (clock.monotonic() - renewedAt < leases.time.length / renewals) return false
      renewedAt = clock.monotonic()
      await renew().catch(() => undefined)
      return false
    },
    failed: () => undefined,
  })

  async function poll(): Promise<StoreChanges | undefined> {
    if (isUnrenewed) await renew()
    const { id } = leases
    const known = seen
    const now = Math.floor(clock.now() + leases.time.skew)
    if (!tending && clock.monotonic() - tendedAt >= leases.time.length / renewals) tend(now)
    const sentAt = clock.monotonic()
    const { version, free, relays, touched, redefined } = await sharedState(database, id, known)
    const isQuick = clock.monotonic() - sentAt < farMs
    // A failover or a restore has undone commits that were seen: what was read before may be as a lost commit left it.
    if (version < known) throw new LeaseLost('the database has lost changes')
    // When a relay comes or goes, the shares are others.
    if (!tending && (relays !== relayCount || (free && clock.monotonic() - tendedAt >= claimInterval))) {
      relayCount = relays
      tend(now)
    }
    const { changed, removed } = await definitionsOf(database, redefined)
    const shaken = database.broken !== broken
    const isNews = version !== known || shaken
    const tended = tending && (isQuick || !isNews || tending.isOver) ? await tending.result : undefined
    if (!tended && !isNews) return undefined
    if (removed.length > 0) await leases.release(removed)
    // Nothing fails from here on: what is not given now would never be.
    broken = database.broken
    seen = Math.max(seen, version)
    if (tended) tending = undefined
    if (tended) leases.accepted(tended.all.filter((ref) => !removed.includes(ref)))
    return {
      lease: id,
      lost: false,
      // Unsynced commits on a broken connection may be lost with it.
      touched: shaken ? 'all' : touched,
      changed,
      gained: tended?.gained ?? [],
      gone: [...(tended?.gone ?? []), ...removed],
      wanted: tended?.wanted ?? [],
      notices: tended?.notices ?? [],
    }
  }

  const watching = (hints: Set<() => void>) => (changed: () => void) => {
    hints.add(changed)
    return () => void hints.delete(changed)
  }

  const store: RelayStore = {
    ...readingOf(database),
    ...waitingReader(database),
    recover: (now) =>
      alone(async () => {
        await tending?.result.catch(() => undefined)
        await database.transaction(() => ingester.updateSupport(now), true)
        await leases.begin()
        lost = false
        isUnrenewed = false
        inFlight = undefined
        const { version, relays } = await sharedState(database, leases.id, Number.MAX_SAFE_INTEGER)
        const tended = await tend(now)
        tending = undefined
        leases.accepted(tended.all)
        seen = version
        relayCount = relays
        broken = database.broken
        const time = Math.floor(clock.now() + leases.time.skew)
        return { endpoints: tended.gained, time, interrupted: tended.interrupted, notices: tended.notices }
      }),
    arrange: (endpoints, inFlight) => arrange(database, leases.id, endpoints, inFlight).catch(loses),
    arrangeAll: (endpoints, inFlight) => arrangeAll(database, leases.id, endpoints, inFlight, progress).catch(loses),
    async commit(tick, now) {
      if (lost) throw new LeaseLost('the lease is over')
      if (tick.results.length + tick.states.size + tick.notices.length === 0 && tick.inFlight === inFlight)
        return { refs: [], notices: [] }
      const recorded = await recordTick(database, leases, ingester, tick, now).catch(loses)
      inFlight = tick.inFlight
      if (recorded.refs.length > 0) notifier.notify()
      return recorded
    },
    poll: () =>
      alone(async () => {
        if (lost || leases.id === '') return undefined
        return poll().catch((error: unknown) => {
          // Deliveries claimed by then are not returned yet: that follows soon.
          tending = undefined
          tendedAt = Number.NEGATIVE_INFINITY
          if (!(error instanceof LeaseLost)) throw error
          lost = true
          const nothing = { touched: [], changed: [], gained: [], gone: [], wanted: [], notices: [] }
          return { lease: leases.id, lost: true, ...nothing }
        })
      }),
    get lease() {
      return leases.id
    },
    get leasedFor() {
      return lost ? 0 : leases.time.left
    },
    get isAside() {
      return leases.isAside
    },
    async release(endpoints) {
      await alone(() => leases.release(endpoints))
      notifier.notify()
    },
    watch: watching(storeHints),
    get skew() {
      return leases.time.skew
    },
    counts: () => countsOf(database, backlog),
    logBytes: () => 0,
    purge: (before) => purge(database, before),
    // PostgreSQL gives space back by itself.
    compact: async () => {},
    async close() {
      await renewing.stop()
      await tending?.result.catch(() => undefined)
      await leases.end().catch(() => undefined)
      notifier.notify()
      await notifier.settled()
      await listening.close()
      await database.close()
    },
  }

  const intake: Intake = {
    async next(timeline, firstDelay) {
      // Others are nearer: what this one holds meanwhile, they wait for.
      if (leases.isAside) return { ingested: undefined, more: false }
      const piece = await outbox.ingest(timeline, firstDelay)
      if (!piece) return { ingested: undefined, more: false }
      const { ingested, version, more } = piece
      // The scheduler is notified directly, so `poll` need not find it.
      const isNext = seen === version - 1 && ingested.changed.length + ingested.removed.length === 0
      if (isNext) seen = version
      notifier.notify()
      // Endpoints are given to the relays that have them by `poll`. Nothing is sent to them before that as they were.
      const deliveries: Ingested['deliveries'] = isNext ? ingested.deliveries : new Map()
      return { ingested: { ...ingested, changed: [], removed: [], deliveries }, more }
    },
    tidy: async () => {},
    backlog: async () => ({ unit: 'commits', count: await outbox.waiting() }),
    watch: watching(outboxHints),
    close: async () => {},
  }
  return { store, intake }
}
