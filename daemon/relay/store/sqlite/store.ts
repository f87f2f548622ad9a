/** The relay store on SQLite. */
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { endpointOf } from '../endpoint-row.ts'
import { poisonInterruptions, poisonNotice } from '../poison.ts'
import { laneNumber, number, outgoingOf, storedEndpointOf, text, waitingOf } from '../rows.ts'
import type { Endpoint, Ingested, Notice, Recovered, Result, SeparateStore, StoreChanges, Turn } from '../store.ts'
import { inTransaction, openDatabase } from './database.ts'
import { isRecordsFault } from './errors.ts'
import { createMaintenance } from './maintenance.ts'
import { createOrder } from './order.ts'
import { createTaker } from './take.ts'

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

/**
 * Opens the store of one relay. Results are written ahead and not synced one by one: after a power failure the deliveries since
 * the last `sync` may be made again. What was ingested from the outbox is synced (`sync`) before the outbox is cleared.
 * @throws StorageError
 */
export function openSqliteStore(path: string): SeparateStore {
  const database = openDatabase(path)
  const taker = createTaker(database)
  const maintenance = createMaintenance(database)
  const order = createOrder(database)

  const updateResult = database.prepare(
    `UPDATE deliveries SET state = ?, lane = 1, due = ?, attempts = ?, starts = 0, at = ?, milliseconds = ?, status = ?, outcome = ?
     WHERE id = ? AND (state = 'pending' OR (state = 'skipped' AND ? = 'delivered'))`,
  )
  const insertAttempt = database.prepare(
    `INSERT OR REPLACE INTO attempts (delivery, number, at, milliseconds, status, outcome, answer) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const updateState = database.prepare('UPDATE endpoints SET state = ? WHERE ref = ? AND removed_at IS NULL')
  const startAfresh = database.prepare(
    `UPDATE endpoints SET fresh_starts = fresh_starts + 1, disabled = CASE WHEN ? THEN NULL ELSE disabled END
     WHERE ref = ? AND removed_at IS NULL RETURNING *`,
  )
  const disable = database.prepare('UPDATE endpoints SET disabled = ? WHERE ref = ?')
  const insertNotice = database.prepare(
    'INSERT INTO notices (at, kind, network_id, endpoint_id, event_id, text) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const setMeta = database.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value')
  const getMeta = database.prepare('SELECT value FROM meta WHERE name = ?')
  const peek = database.prepare(
    `SELECT id, event, lane, due, attempts, starts FROM deliveries
     WHERE endpoint = ? AND lane = ? AND state = 'pending' ORDER BY due, id LIMIT ?`,
  )
  // Looked for among the next thousand of each lane: more would hold this thread up, and the first lane is in order anyway.
  const oldestDue = database.prepare(
    `SELECT id, event, lane, due, attempts, starts FROM (
       SELECT * FROM (SELECT * FROM deliveries WHERE endpoint = $endpoint AND lane = 0 AND state = 'pending' AND due <= $now
                      ORDER BY due, id LIMIT 1000)
       UNION ALL
       SELECT * FROM (SELECT * FROM deliveries WHERE endpoint = $endpoint AND lane = 1 AND state = 'pending' AND due <= $now
                      ORDER BY due, id LIMIT 1000))
     WHERE event <> $except ORDER BY event LIMIT 1`,
  )
  const newestDue = database.prepare(
    `SELECT id, event, lane, due, attempts, starts FROM (
       SELECT * FROM (SELECT * FROM deliveries WHERE endpoint = $endpoint AND lane = 0 AND state = 'pending' AND due <= $now
                      ORDER BY due DESC, id DESC LIMIT 1000)
       UNION ALL
       SELECT * FROM (SELECT * FROM deliveries WHERE endpoint = $endpoint AND lane = 1 AND state = 'pending' AND due <= $now
                      ORDER BY due DESC, id DESC LIMIT 1000))
     WHERE event <> $except ORDER BY event DESC LIMIT 1`,
  )
  const newestFirst = database.prepare(
    `SELECT id, event, lane, due, attempts, starts FROM deliveries
     WHERE endpoint = ? AND lane = 0 AND state = 'pending' AND due <= ? ORDER BY due DESC, id DESC LIMIT ?`,
  )
  const event = database.prepare('SELECT event_id, event_type, network_id, taken, body, crc FROM events WHERE seq = ?')
  const dataVersion = database.prepare('PRAGMA data_version')
  const positions = database.prepare('SELECT stream, position FROM positions')
  // Changes with every commit of another connection.
  const readVersion = () => number(dataVersion.get() ?? {}, 'data_version')
  const forget = database.prepare('DELETE FROM positions WHERE stream = ?')

  let inFlight: ReadonlySet<number> = new Set()
  let synced = true
  let syncs = 0
  let version = readVersion()

  /** Gives the refs of the endpoints that are to be told. */
  function writeNotices(notices: readonly Notice[], now: number): readonly number[] {
    for (const notice of notices)
      insertNotice.run(now, notice.kind, notice.network_id, notice.endpoint_id, notice.event_id, notice.text)
    return taker.tell(notices, now)
  }

  function writeResult(result: Result): void {
    const { delivery, state, attempts, due, at, milliseconds, status, outcome, answer } = result
    const { changes } = updateResult.run(state, due, attempts, at, milliseconds, status, outcome, delivery, state)
    // Of what was delivered at once the delivery itself says everything.
    if (changes > 0 && (state !== 'delivered' || attempts > 1))
      insertAttempt.run(delivery, attempts, at, milliseconds, status, outcome, answer)
  }

  function writeTurn(turn: Turn, now: number): readonly number[] {
    for (const result of turn.results) writeResult(result)
    order.landed(turn.ordered, turn.inFlight)
    for (const [ref, state] of turn.states) updateState.run(JSON.stringify(state), ref)
    for (const [ref, reason] of turn.disable) disable.run(reason, ref)
    setMeta.run('in_flight', JSON.stringify([...turn.inFlight]))
    setMeta.run('time', now)
    return writeNotices(turn.notices, now)
  }

  const allEndpoints = database.prepare('SELECT * FROM endpoints WHERE removed_at IS NULL')
  const endpoints = () => allEndpoints.all().map(storedEndpointOf)

  /** The fresh starts that the relay has heard of. */
  let heard = new Map<number, number>()
  const hear = (found: readonly Endpoint[]) => {
    for (const { ref, fresh_starts } of found) heard.set(ref, fresh_starts)
  }

  /** Endpoints to which somebody else has given a fresh start since the last look. */
  function startedAfresh(): readonly Endpoint[] {
    const found = endpoints().map(({ endpoint }) => endpoint)
    const changed = found.filter(({ ref, fresh_starts }) => fresh_starts > (heard.get(ref) ?? 0))
    heard = new Map()
    hear(found)
    return changed
  }

  const metaOf = (name: string): string | undefined => {
    const row = getMeta.get(name)
    return row ? text(row, 'value') : undefined
  }

  function recover(now: number): Recovered {
    const interrupted = JSON.parse(metaOf('in_flight') ?? '[]') as readonly number[]
    const started = database.prepare(
      `UPDATE deliveries SET starts = starts + 1 WHERE id = ? AND state = 'pending' RETURNING id, event, endpoint, starts`,
    )
    const dead = database.prepare(`UPDATE deliveries SET state = 'dead', at = ?, outcome = 'poison' WHERE id = ?`)
    const whose = database.prepare(
      `SELECT e.event_id, e.network_id, p.id FROM events e, endpoints p WHERE e.seq = ? AND p.ref = ?`,
    )
    const notices: Notice[] = []
    for (const id of interrupted) {
      const row = started.get(id)
      if (!row || number(row, 'starts') < poisonInterruptions) continue
      dead.run(now, id)
      const of = whose.get(number(row, 'event'), number(row, 'endpoint')) ?? {}
      const [network_id, endpoint_id, event_id] = [text(of, 'network_id'), text(of, 'id'), text(of, 'event_id')]
      notices.push(poisonNotice({ network_id, endpoint_id, event_id }))
    }
    setMeta.run('in_flight', '[]')
    writeNotices(notices, now)
    const known = endpoints()
    hear(known.map(({ endpoint }) => endpoint))
    return {
      endpoints: known,
      time: Number(metaOf('time') ?? 0),
      interrupted: interrupted.length,
      notices,
    }
  }

  return {
    recover: async (now) => inTransaction(database, () => recover(now)),
    endpoints: async () => endpoints(),
    positions: async () => Object.fromEntries(positions.all().map((row) => [text(row, 'stream'), number(row, 'position')])),
    fanOut: (event) => taker.fanOut(event),
    async ingest(reading, now, firstDelay) {
      synced = false
      const take = (oneByOne: boolean): Ingested => {
        try {
          return inTransaction(database, () => {
            const taken = taker.take(reading, now, firstDelay, oneByOne)
            writeNotices(taken.notices, now)
            return taken
          })
        } catch (error) {
          taker.reload()
          if (!oneByOne && isRecordsFault(error)) return take(true)
          throw error
        }
      }
      const taken = take(false)
      hear(taken.changed)
      return taken
    },
    async sync() {
      if (synced) return
      syncNow(database, () => setMeta.run('syncs', ++syncs))
      synced = true
      // One sync is the longest that this thread ever waits for the disk: let others have a turn.
      await setImmediate()
    },
    async forget(streams) {
      if (streams.length > 0) inTransaction(database, () => streams.forEach((stream) => void forget.run(stream)))
    },
    peek: async (endpoints, lane, limit) =>
      new Map(endpoints.map((endpoint) => [endpoint, peek.all(endpoint, laneNumber(lane), limit).map(waitingOf)])),
    arrange: async (endpoints, inFlight) => inTransaction(database, () => order.arrange(endpoints, inFlight)),
    arrangeAll: async (endpoints, inFlight) => inTransaction(database, () => order.arrangeAll(endpoints, inFlight)),
    async oldestDue(endpoint, now, except) {
      const row = oldestDue.get({ $endpoint: endpoint, $now: now, $except: except ?? -1 })
      return row && waitingOf(row)
    },
    async newestDue(endpoint, now, except) {
      const row = newestDue.get({ $endpoint: endpoint, $now: now, $except: except ?? -1 })
      return row && waitingOf(row)
    },
    newestFirst: async (endpoint, now, limit) => newestFirst.all(endpoint, now, limit).map(waitingOf),
    async head(endpoint) {
      const row = oldestDue.get({ $endpoint: endpoint, $now: Number.MAX_SAFE_INTEGER, $except: -1 })
      return row && waitingOf(row)
    },
    async commit(turn, now) {
      if (turn.results.length === 0 && turn.states.size === 0 && turn.notices.length === 0 && turn.inFlight === inFlight)
        return []
      if (turn.results.length > 0) synced = false
      const told = inTransaction(database, () => writeTurn(turn, now))
      inFlight = turn.inFlight
      return told
    },
    async outgoing(deliveries) {
      const rows = deliveries.map(({ delivery, event: seq }) => [delivery, event.get(seq)] as const)
      return new Map(rows.flatMap(([delivery, row]) => (row ? [[delivery, outgoingOf(row, delivery)]] : [])))
    },
    async poll() {
      const found = readVersion()
      if (found === version) return undefined
      version = found
      return { ...nothingNew, touched: 'all', changed: startedAfresh() }
    },
    // One relay has this store to itself: its lease never ends.
    lease: nothingNew.lease,
    leasedFor: Number.POSITIVE_INFINITY,
    release: async () => {},
    watch: () => () => {},
    skew: 0,
    counts: async () => maintenance.counts(),
    purge: async (before) => inTransaction(database, () => maintenance.purge(before)),
    compact: async () => maintenance.compact(),
    async startAfresh(ref, enable) {
      const row = inTransaction(database, () => startAfresh.get(enable ? 1 : 0, ref))
      const endpoint = row && endpointOf(row)
      if (endpoint) hear([endpoint])
      return endpoint
    },
    async close() {
      if (database.isOpen) database.close()
    },
  }
}

/** A commit in full synchronisation syncs the whole write-ahead log, and everything before it. */
function syncNow(database: DatabaseSync, write: () => void): void {
  database.exec('PRAGMA synchronous = FULL')
  try {
    inTransaction(database, write)
  } finally {
    database.exec('PRAGMA synchronous = NORMAL')
  }
}
