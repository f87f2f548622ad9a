/** The relay store on SQLite. */
import { setImmediate } from 'node:timers/promises'
import { logBytesKept } from '../../../../adapters/sql/sqlite/file.ts'
import { given, type Plan, row, rows } from '../database.ts'
import type { Endpoint } from '../endpoint/relay-endpoint.ts'
import { countingOf } from '../hours.ts'
import { createIngester } from '../plans/ingest.ts'
import { interrupt } from '../plans/interruptions.ts'
import { type Backlog, countsOf, purge } from '../plans/maintenance.ts'
import { readingOf, storedEndpoints } from '../plans/waiting.ts'
import { number, text } from '../rows.ts'
import type { SeparateStore } from '../separate-store.ts'
import type { Ingested, Recorded, Recovered, Result, StoreChanges, Tick } from '../store.ts'
import { openDatabase, refuseUnwritable } from './database.ts'
import { createOrder } from './order.ts'
import { waitingReader } from './waiting-reader.ts'

const nothingNew: StoreChanges = {
  lease: 'for ever',
  lost: false,
  touched: [],
  changed: [],
  gained: [],
  gone: [],
  wanted: [],
  notices: [],
}

/** A log that cannot be emptied, because of a reader, is tried again after so many polls. */
const pollsBetween = 50
/** Pages given back to the disk per step. */
const pages = 2000

/**
 * Opens the store of one relay. Results are written ahead and not synced one by one: after a power failure the deliveries since
 * the last `sync` may be made again. Ingested records are synced (`sync`) before the outbox is cleared.
 * @throws StorageError
 */
export async function openSqliteStore(path: string): Promise<SeparateStore> {
  const database = await openDatabase(path)
  const { connection, transactionNow, run } = database
  const ingester = createIngester(database)
  const order = createOrder(connection)

  const updateResult = connection.prepare(
    `UPDATE deliveries SET state = ?, lane = 1, due = ?, attempts = ?, interruptions = 0, at = ?, milliseconds = ?, status = ?, outcome = ?
     WHERE id = ? AND (state = 'pending' OR (state = 'skipped' AND ? = 'delivered'))`,
  )
  const insertAttempt = connection.prepare(
    `INSERT OR REPLACE INTO attempts (delivery, number, at, milliseconds, status, outcome, answer, reason, answer_headers)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const updateState = connection.prepare('UPDATE endpoints SET state = ? WHERE ref = ? AND removed_at IS NULL')
  const updateDisabled = connection.prepare('UPDATE endpoints SET disabled = ? WHERE ref = ? AND fresh_starts = ?')
  const setMeta = connection.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value')
  const dataVersion = connection.prepare('PRAGMA data_version')
  // Changes with every commit of another connection.
  const readVersion = () => number(dataVersion.get() ?? {}, 'data_version')

  let inFlight: ReadonlySet<number> = new Set()
  let synced = true
  let syncs = 0
  let version = readVersion()
  let pollsLeft = 0

  /** A reader's snapshot has made the log grow. Commits shrink it when the reader has left; where there are none, this does. */
  function shrinkLog(): void {
    if (--pollsLeft > 0 || inFlight.size > 0 || database.logBytes() <= logBytesKept) return
    pollsLeft = pollsBetween
    database.emptyLog()
  }

  const countAttempts = countingOf(
    `SELECT d.endpoint, g.at, g.milliseconds, g.status, g.outcome FROM ${given(database, '?1', attemptColumns)} g
     JOIN deliveries d ON d.id = g.delivery`,
  )

  /** @returns whether it is the result of a delivery that waited for it */
  function writeResult(result: Result): boolean {
    const { delivery, state, attempts, due, at, milliseconds, status, outcome, answer, reason, answer_headers } = result
    const { changes } = updateResult.run(state, due, attempts, at, milliseconds, status, outcome, delivery, state)
    // A delivery at the first attempt is recorded by its row alone.
    if (changes > 0 && (state !== 'delivered' || attempts > 1))
      insertAttempt.run(delivery, attempts, at, milliseconds, status, outcome, answer, reason, answer_headers)
    return changes > 0
  }

  function writeTick(tick: Tick, now: number): Recorded {
    const written = tick.results.filter(writeResult)
    const attempts = written.map((each) => [each.delivery, each.at, each.milliseconds, each.status, each.outcome])
    if (attempts.length > 0) run(rows(countAttempts, [JSON.stringify(attempts)]))
    order.settleResults(tick.ordered, tick.inFlight)
    for (const [ref, state] of tick.states) updateState.run(JSON.stringify(state), ref)
    for (const [ref, { reason, fresh_starts }] of tick.disable) updateDisabled.run(reason, ref, fresh_starts)
    setMeta.run('in_flight', JSON.stringify([...tick.inFlight]))
    setMeta.run('time', now)
    return run(ingester.notify(tick.notices, now, tick.disable))
  }

  /** The endpoints as the relay has seen them. */
  let noted = new Map<number, Pick<Endpoint, 'fresh_starts' | 'disabled'>>()
  const note = (endpoints: readonly Endpoint[]) => {
    for (const endpoint of endpoints) noted.set(endpoint.ref, endpoint)
  }

  /** Endpoints that another process has reset or disabled since the last poll. */
  function decidedByOthers(): readonly Endpoint[] {
    const endpoints = run(storedEndpoints()).map(({ endpoint }) => endpoint)
    const changed = endpoints.filter(({ ref, fresh_starts, disabled }) => {
      const before = noted.get(ref)
      return fresh_starts > (before?.fresh_starts ?? 0) || (disabled !== null && before?.disabled == null)
    })
    noted = new Map()
    note(endpoints)
    return changed
  }

  // Numbers only grow, so what lies before the oldest delivery that waits is not looked at again; a resend starts over.
  let oldestFrom = 0
  let oldestVersion = version
  function* backlog(): Plan<Backlog> {
    const now = readVersion()
    if (now !== oldestVersion) oldestFrom = 0
    oldestVersion = now
    const waiting = yield* row(`SELECT count(*) AS n FROM deliveries WHERE state = 'pending'`)
    const pending = number(waiting ?? {}, 'n')
    // A smallest number along with the count would take four times as long.
    const oldest = pending > 0 ? ((yield* row(oldestPending, [oldestFrom])) ?? (yield* row(oldestPending, [0]))) : undefined
    if (oldest) oldestFrom = number(oldest, 'id')
    return { pending, oldest: oldest ? oldestFrom : null }
  }

  function* metaOf(name: string): Plan<string | undefined> {
    const found = yield* row('SELECT value FROM meta WHERE name = ?1', [name])
    return found && text(found, 'value')
  }

  function* recover(now: number): Plan<Recovered> {
    const inFlightBefore = JSON.parse((yield* metaOf('in_flight')) ?? '[]') as readonly number[]
    const { interrupted, notices } = yield* interrupt(database, inFlightBefore, now)
    setMeta.run('in_flight', '[]')
    yield* ingester.updateSupport(now)
    yield* ingester.load()
    yield* ingester.notify(notices, now)
    const endpoints = yield* storedEndpoints()
    note(endpoints.map(({ endpoint }) => endpoint))
    return { endpoints, time: Number((yield* metaOf('time')) ?? 0), interrupted, notices }
  }

  return {
    ...readingOf(database),
    ...waitingReader(database),
    recover: (now) => database.transaction(() => recover(now)),
    positions: () =>
      database.read(function* () {
        const found = yield* rows('SELECT stream, position FROM positions')
        return Object.fromEntries(found.map((each) => [text(each, 'stream'), number(each, 'position')]))
      }),
    fanOut: (event) => ingester.fanOut(event),
    async ingest({ commits, damage, positions }, now, firstDelay) {
      synced = false
      function* ingest(oneByOne: boolean): Plan<Ingested> {
        const ingested = yield* ingester.ingest({ records: commits.flat(), damage }, now, now + firstDelay, oneByOne)
        for (const [stream, position] of Object.entries(positions)) yield* rows(setPosition, [stream, position])
        return ingested
      }
      const attempt = (oneByOne: boolean): Promise<Ingested> =>
        database
          .transaction(() => ingest(oneByOne))
          .catch((error: unknown) => {
            ingester.forget()
            if (!oneByOne && database.isRecordsFault(error)) return attempt(true)
            throw error
          })
      const ingested = await attempt(false)
      note(ingested.changed)
      return ingested
    },
    async sync() {
      if (synced) return
      // A commit in full synchronisation syncs the whole write-ahead log, and everything before it.
      connection.exec('PRAGMA synchronous = FULL')
      try {
        transactionNow(() => setMeta.run('syncs', ++syncs))
      } finally {
        connection.exec('PRAGMA synchronous = NORMAL')
      }
      synced = true
      // One sync is the longest that this thread ever waits for the disk: let others have a turn.
      await setImmediate()
    },
    async forget(streams) {
      if (streams.length === 0) return
      await database.transaction(function* () {
        for (const stream of streams) yield* rows('DELETE FROM positions WHERE stream = ?1', [stream])
      })
    },
    arrange: async (endpoints, inFlight) => transactionNow(() => order.arrange(endpoints, inFlight)),
    arrangeAll: async (endpoints, inFlight) => transactionNow(() => order.arrangeAll(endpoints, inFlight)),
    async commit(tick, now) {
      if (tick.results.length === 0 && tick.states.size === 0 && tick.notices.length === 0 && tick.inFlight === inFlight)
        return { refs: [], notices: [] }
      if (tick.results.length > 0) synced = false
      const recorded = transactionNow(() => writeTick(tick, now))
      inFlight = tick.inFlight
      return recorded
    },
    async poll() {
      refuseUnwritable(path)
      shrinkLog()
      const found = readVersion()
      if (found === version) return undefined
      version = found
      return { ...nothingNew, touched: 'all', changed: decidedByOthers() }
    },
    // One relay has this store to itself: its lease never ends.
    lease: nothingNew.lease,
    leasedFor: Number.POSITIVE_INFINITY,
    isAside: false,
    release: async () => {},
    watch: () => () => {},
    skew: 0,
    counts: () => countsOf(database, backlog),
    logBytes: database.logBytes,
    purge: (before) => purge(database, before),
    async compact() {
      connection.exec(`PRAGMA incremental_vacuum(${pages}); PRAGMA optimize`)
      database.emptyLog()
    },
    close: () => database.close(),
  }
}

const attemptColumns = { delivery: 'bigint', at: 'bigint', milliseconds: 'bigint', status: 'bigint', outcome: 'text' } as const
const oldestPending = `SELECT id FROM deliveries NOT INDEXED WHERE id >= ?1 AND state = 'pending' ORDER BY id LIMIT 1`
const setPosition = 'INSERT INTO positions VALUES (?1, ?2) ON CONFLICT (stream) DO UPDATE SET position = excluded.position'
