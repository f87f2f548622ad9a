/** Keeps a store small: counts, and deletes in parts, each too short to delay anyone. */
import { among, type Plan, type RelayDatabase, row, rows } from '../database.ts'
import { forgetHours } from '../hours.ts'
import { number } from '../rows.ts'
import type { Counts, Purge } from '../store.ts'
import { eraseSome } from './erasures.ts'

/** Rows removed per statement. */
const part = 1000

/** How many deliveries wait, and which of them is the oldest: each engine finds it in another way. */
export interface Backlog {
  readonly pending: number
  readonly oldest: number | null
}

/** @param backlog reads how many deliveries wait */
export const countsOf = (database: RelayDatabase, backlog: () => Plan<Backlog>): Promise<Counts> =>
  database.read(function* () {
    const { pending, oldest } = yield* backlog()
    const dead = yield* row(`SELECT count(*) AS n FROM $schema.deliveries WHERE state = 'dead'`)
    // Deliveries are numbered in the order in which their events were ingested.
    const event = yield* row(
      'SELECT e.received_at FROM $schema.deliveries d JOIN $schema.events e ON e.seq = d.event WHERE d.id = ?1',
      [oldest],
    )
    return { pending, dead: number(dead ?? {}, 'n'), oldestPending: event ? number(event, 'received_at') : null }
  })

/** The first event ingested at this time or later: found by halving, because events are in the order of time. */
function* firstSince(time: number): Plan<number> {
  const ends = yield* row('SELECT coalesce(min(seq), 0) AS first, coalesce(max(seq), 0) AS last FROM $schema.events')
  let low = number(ends ?? {}, 'first')
  let high = number(ends ?? {}, 'last') + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const found = yield* row('SELECT seq, received_at FROM $schema.events WHERE seq >= ?1 ORDER BY seq LIMIT 1', [middle])
    if (found && number(found, 'received_at') < time) low = number(found, 'seq') + 1
    else high = middle
  }
  return low
}

/** The rows to find, by a number, and the table to delete from. */
interface Old {
  readonly from: 'deliveries' | 'events' | 'notices' | 'set_aside'
  readonly key: 'id' | 'seq'
  /** Selects keys of rows `d` that are old. */
  readonly select: string
  readonly before: number
}

function oldOnes(before: Purge, delivered: number, dead: number): readonly Old[] {
  const deliveries = (where: string, value: number): Old => ({
    from: 'deliveries',
    key: 'id',
    select: `SELECT d.id FROM $schema.deliveries d ${where}`,
    before: value,
  })
  const others = (from: 'notices' | 'set_aside'): Old => ({
    from,
    key: 'seq',
    select: `SELECT d.seq FROM $schema.${from} d WHERE d.at < ?1`,
    before: before.dead,
  })
  return [
    deliveries(`WHERE d.state = 'dead' AND d.at < ?1 ORDER BY d.at`, before.dead),
    deliveries(`WHERE d.state = 'skipped' AND d.at < ?1 ORDER BY d.at`, before.dead),
    deliveries(`WHERE d.state = 'delivered' AND d.event < ?1 ORDER BY d.event`, delivered),
    deliveries(
      `JOIN $schema.endpoints p ON p.ref = d.endpoint
       WHERE d.event < ?1 AND d.state = 'pending' AND (NOT p.enabled OR p.disabled IS NOT NULL)`,
      dead,
    ),
    {
      from: 'events',
      key: 'seq',
      select: `SELECT d.seq FROM $schema.events d WHERE d.seq < ?1
        AND NOT EXISTS (SELECT 1 FROM $schema.deliveries WHERE event = d.seq) ORDER BY d.seq`,
      before: delivered,
    },
    others('notices'),
    others('set_aside'),
  ]
}

/** Several relays may do so concurrently: what one is removing, the others pass over. */
export async function purge(database: RelayDatabase, before: Purge): Promise<number> {
  const { engine, list } = database.dialect
  const passOver = engine === 'postgres' ? ' FOR UPDATE OF d SKIP LOCKED' : ''
  const [delivered, dead] = await database.read(function* () {
    return [yield* firstSince(before.delivered), yield* firstSince(before.dead)] as const
  })

  function* removed({ from, key, select, before }: Old): Plan<number> {
    const found = yield* rows(`${select} LIMIT ${part}${passOver}`, [before])
    if (found.length === 0) return 0
    const keys = [list(found.map((each) => number(each, key)))]
    if (from === 'deliveries') yield* rows(`DELETE FROM $schema.attempts WHERE ${among(database, 'delivery', '?1')}`, keys)
    yield* rows(`DELETE FROM $schema.${from} WHERE ${among(database, key, '?1')}`, keys)
    return found.length
  }

  await database.transaction(function* () {
    yield* rows('UPDATE $schema.endpoints SET old = NULL, old_until = NULL WHERE old_until <= ?1', [before.now])
  })
  await forgetHours(database, before.now)
  let sum = 0
  if (await database.transaction(() => eraseSome(database, before.now))) sum++
  for (const old of oldOnes(before, delivered, dead)) sum += await database.transaction(() => removed(old))
  return sum
}
