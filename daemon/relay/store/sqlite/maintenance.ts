/** What keeps the SQLite store small, in parts that hold the thread up for milliseconds. */
import type { DatabaseSync } from 'node:sqlite'
import { number, numberOrNull } from '../rows.ts'
import type { Counts, Purge } from '../store.ts'

/** Rows removed at once. */
const part = 1000
/** Pages given back to the disk at once. */
const pages = 2000

export function createMaintenance(database: DatabaseSync) {
  const pending = database.prepare(`SELECT count(*) AS n FROM deliveries WHERE state = 'pending'`)
  const dead = database.prepare(`SELECT count(*) AS n FROM deliveries WHERE state = 'dead'`)
  // Ids only grow, so what lies before the oldest one that waits need not be looked at again; a replay begins anew.
  const oldest = database.prepare(
    `SELECT id, event FROM deliveries NOT INDEXED WHERE id >= ? AND state = 'pending' ORDER BY id LIMIT 1`,
  )
  const taken = database.prepare('SELECT taken FROM events WHERE seq = ?')
  const anyPending = database.prepare(`SELECT 1 FROM deliveries WHERE state = 'pending' LIMIT 1`)

  const deadBefore = database.prepare(`SELECT id FROM deliveries WHERE state = 'dead' AND at < ? ORDER BY at LIMIT ${part}`)
  const skippedBefore = database.prepare(`SELECT id FROM deliveries WHERE state = 'skipped' AND at < ? ORDER BY at LIMIT ${part}`)
  const deliveredBefore = database.prepare(
    `SELECT id FROM deliveries WHERE event < ? AND state = 'delivered' ORDER BY event LIMIT ${part}`,
  )
  const heldBefore = database.prepare(
    `SELECT d.id FROM deliveries d JOIN endpoints p ON p.ref = d.endpoint
     WHERE d.event < ? AND d.state = 'pending' AND (p.enabled = 0 OR p.disabled IS NOT NULL) LIMIT ${part}`,
  )
  const eventsBefore = database.prepare(
    `SELECT seq FROM events WHERE seq < ? AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event = seq) ORDER BY seq LIMIT ${part}`,
  )
  const eventFrom = database.prepare('SELECT seq, taken FROM events WHERE seq >= ? ORDER BY seq LIMIT 1')
  const ends = database.prepare('SELECT coalesce(min(seq), 0) AS first, coalesce(max(seq), 0) AS last FROM events')
  const removeDelivery = database.prepare('DELETE FROM deliveries WHERE id = ?')
  const removeAttempts = database.prepare('DELETE FROM attempts WHERE delivery = ?')
  const removeEvent = database.prepare('DELETE FROM events WHERE seq = ?')
  const endOld = database.prepare('UPDATE endpoints SET old = NULL, old_until = NULL WHERE old_until <= ?')
  const removeNotices = database.prepare('DELETE FROM notices WHERE at < ?')
  const removeSetAside = database.prepare('DELETE FROM set_aside WHERE at < ?')
  let from = 0
  let version = -1

  function counts(): Counts {
    const now = number(database.prepare('PRAGMA data_version').get() ?? {}, 'data_version')
    if (now !== version) from = 0
    version = now
    const row = anyPending.get() ? (oldest.get(from) ?? oldest.get(0)) : undefined
    if (row) from = number(row, 'id')
    const event = row && taken.get(number(row, 'event'))
    return {
      pending: number(pending.get() ?? {}, 'n'),
      dead: number(dead.get() ?? {}, 'n'),
      oldestPending: event ? numberOrNull(event, 'taken') : null,
    }
  }

  /** The first event that was ingested at this time or later: found by halving, as events stand in the order of time. */
  function firstSince(time: number): number {
    const row = ends.get() ?? {}
    let low = number(row, 'first')
    let high = number(row, 'last') + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const found = eventFrom.get(middle)
      if (found && number(found, 'taken') < time) low = number(found, 'seq') + 1
      else high = middle
    }
    return low
  }

  function purge(before: Purge): number {
    endOld.run(before.now)
    const ids = [
      ...deadBefore.all(before.dead),
      ...skippedBefore.all(before.dead),
      ...deliveredBefore.all(firstSince(before.delivered)),
      ...heldBefore.all(firstSince(before.dead)),
    ].map((row) => number(row, 'id'))
    for (const id of ids) {
      removeAttempts.run(id)
      removeDelivery.run(id)
    }
    const events = eventsBefore.all(firstSince(before.delivered)).map((row) => number(row, 'seq'))
    for (const seq of events) removeEvent.run(seq)
    const others = [removeNotices, removeSetAside].map((remove) => Number(remove.run(before.dead).changes))
    return others.reduce((sum, each) => sum + each, ids.length + events.length)
  }

  function compact(): void {
    database.exec(`PRAGMA incremental_vacuum(${pages}); PRAGMA optimize; PRAGMA wal_checkpoint(PASSIVE)`)
  }

  return { counts, purge, compact }
}
