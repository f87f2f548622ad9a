/** What keeps the store on PostgreSQL small: batched deletes, each short enough to hold nobody up. */
import { number, numberOrNull } from '../rows.ts'
import type { Counts, Purge } from '../store.ts'
import type { Database } from './database.ts'

/** Rows removed at once. */
const part = 1000

export async function counts(database: Database): Promise<Counts> {
  const [waiting = {}] = await database.rows(
    `SELECT count(*) AS n, min(id) AS oldest FROM $schema.deliveries WHERE state = 'pending'`,
  )
  const [dead = {}] = await database.rows(`SELECT count(*) AS n FROM $schema.deliveries WHERE state = 'dead'`)
  const [oldest] = await database.rows(
    'SELECT e.taken FROM $schema.deliveries d JOIN $schema.events e ON e.seq = d.event WHERE d.id = $1',
    [waiting['oldest'] ?? null],
  )
  return {
    pending: number(waiting, 'n'),
    dead: number(dead, 'n'),
    oldestPending: oldest ? numberOrNull(oldest, 'taken') : null,
  }
}

/** The first event that was ingested at this time or later: found by halving, as events stand in the order of time. */
async function firstSince(database: Database, time: number): Promise<number> {
  const [ends = {}] = await database.rows(
    'SELECT coalesce(min(seq), 0) AS first, coalesce(max(seq), 0) AS last FROM $schema.events',
  )
  let low = number(ends, 'first')
  let high = number(ends, 'last') + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [found] = await database.rows('SELECT seq, taken FROM $schema.events WHERE seq >= $1 ORDER BY seq LIMIT 1', [middle])
    if (found && number(found, 'taken') < time) low = number(found, 'seq') + 1
    else high = middle
  }
  return low
}

/** Several relays may do so at once: what one is removing, the others pass over. */
export async function purge(database: Database, before: Purge): Promise<number> {
  await database.rows('UPDATE $schema.endpoints SET old = NULL, old_until = NULL WHERE old_until <= $1', [before.now])
  const [delivered, dead] = [await firstSince(database, before.delivered), await firstSince(database, before.dead)]

  const removeDeliveries = (which: string, value: number) =>
    removed(
      database,
      `WITH old AS (
         DELETE FROM $schema.deliveries WHERE id IN (${which} LIMIT ${part} FOR UPDATE OF d SKIP LOCKED) RETURNING id),
       attempted AS (DELETE FROM $schema.attempts WHERE delivery IN (SELECT id FROM old))
       SELECT count(*) AS n FROM old`,
      value,
    )
  return (
    (await removeDeliveries(
      `SELECT d.id FROM $schema.deliveries d WHERE d.state = 'dead' AND d.at < $1 ORDER BY d.at`,
      before.dead,
    )) +
    (await removeDeliveries(
      `SELECT d.id FROM $schema.deliveries d WHERE d.state = 'skipped' AND d.at < $1 ORDER BY d.at`,
      before.dead,
    )) +
    (await removeDeliveries(
      `SELECT d.id FROM $schema.deliveries d WHERE d.state = 'delivered' AND d.event < $1 ORDER BY d.event`,
      delivered,
    )) +
    (await removeDeliveries(
      `SELECT d.id FROM $schema.deliveries d JOIN $schema.endpoints p ON p.ref = d.endpoint
       WHERE d.event < $1 AND d.state = 'pending' AND (NOT p.enabled OR p.disabled IS NOT NULL)`,
      dead,
    )) +
    (await removed(
      database,
      `WITH old AS (
         DELETE FROM $schema.events WHERE seq IN (
           SELECT e.seq FROM $schema.events e WHERE e.seq < $1
             AND NOT EXISTS (SELECT 1 FROM $schema.deliveries WHERE event = e.seq)
           ORDER BY e.seq LIMIT ${part} FOR UPDATE SKIP LOCKED) RETURNING 1)
       SELECT count(*) AS n FROM old`,
      delivered,
    )) +
    (await removed(
      database,
      'WITH old AS (DELETE FROM $schema.notices WHERE at < $1 RETURNING 1) SELECT count(*) AS n FROM old',
      before.dead,
    )) +
    (await removed(
      database,
      'WITH old AS (DELETE FROM $schema.set_aside WHERE at < $1 RETURNING 1) SELECT count(*) AS n FROM old',
      before.dead,
    ))
  )
}

async function removed(database: Database, sql: string, value: number): Promise<number> {
  const [row = {}] = await database.rows(sql, [value])
  return number(row, 'n')
}
