/**
 * Which relay sends to which endpoint.
 *
 * Terms
 * - **Lease**: the row of a relay in `relays`, for as long as it is there. The endpoints that name it are that relay's.
 * - **Renewal**: moves the end of a lease. Every turn of the scheduler renews it, and `tend` does at a sixth of its time.
 * - **Reaping**: the removal of a lease that is over, by another relay. It happens in the transaction that frees its endpoints.
 *   So a late relay whose row still exists may continue, and one whose row is gone has lost everything.
 * - **Quota**: how many endpoints a relay should have. All relays reckon with the same list and come to the same quotas.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { isAlive, type Owner, thisProcess } from '../../../../adapters/files/owner.ts'
import type { Clock } from '../../clock.ts'
import type { StoredEndpoint } from '../endpoint/endpoint.ts'
import { endpointColumns } from '../endpoint/endpoint-row.ts'
import type { Notice } from '../notice.ts'
import type { Ingester } from '../plans/ingest.ts'
import { type Interrupted, interrupt } from '../plans/interruptions.ts'
import { number, type SqlRow, storedEndpointOf, text } from '../rows.ts'
import { LeaseLost } from '../store.ts'
import type { PostgresDatabase, Session } from './database.ts'
import { createLeaseTime, type LeaseTime } from './lease-time.ts'

/** The result of one renewal. */
export interface Tended {
  /** The endpoints of the lease. */
  readonly all: readonly number[]
  readonly gained: readonly StoredEndpoint[]
  readonly gone: readonly number[]
  readonly wanted: readonly number[]
  /** Deliveries that were in flight in relays that died. */
  readonly interrupted: number
  readonly notices: readonly Notice[]
}

export interface Leases {
  /** Names the present lease; empty before the first one. */
  readonly id: string
  /** The reckoning of how much is left of it. */
  readonly time: LeaseTime
  /** Begins a lease, without any endpoint. */
  begin(): Promise<void>
  /**
   * Renews the lease, reaps those that are over, and claims endpoints up to the quota. Its result is repeated until `accepted`
   * is called. Never while `release` runs: it would bring what is being released.
   * @throws LeaseLost
   */
  tend(now: number): Promise<Tended>
  /** Confirms that the relay has these endpoints, and no others. */
  accepted(endpoints: readonly number[]): void
  release(endpoints: readonly number[]): Promise<void>
  /** Ends the lease; its endpoints are free. */
  end(): Promise<void>
}

/** A statement or a fragment of one that moves the end of a lease; `$2` is its length in milliseconds. */
export const renewal = `expires_at = clock_timestamp() + $2::double precision * interval '1 millisecond'`

/** @param length milliseconds; asked for anew at each renewal */
export function createLeases(database: PostgresDatabase, clock: Clock, length: () => number, ingester: Ingester): Leases {
  let id = ''
  const time = createLeaseTime(clock, length)
  /** The endpoints of this lease, as far as the relay has accepted them. */
  let held = new Set<number>()
  /** Earlier leases of this relay, which may still be there: nobody sends to their endpoints. */
  const former = new Set<string>()

  async function renew(session: Session): Promise<void> {
    const asked = time.moment()
    const [row] = await session.rows(
      `UPDATE $schema.relays SET ${renewal} WHERE id = $1 RETURNING extract(epoch FROM clock_timestamp()) * 1000 AS time`,
      [id, time.length],
    )
    if (!row) throw new LeaseLost(`relay ${id} was reaped`)
    time.compare(asked, number(row, 'time'))
    time.renewed(asked)
  }

  /** Those that are over, those whose process died on this machine, and those that this relay has given up. */
  async function overdue(session: Session): Promise<readonly string[]> {
    const others = await session.rows(
      'SELECT id, process, expires_at < clock_timestamp() AS over FROM $schema.relays WHERE id <> $1',
      [id],
    )
    const dead = others.filter((row) => former.has(text(row, 'id')) || isDead(ownerOf(row))).map((row) => text(row, 'id'))
    if (dead.length === 0 && others.every((row) => row['over'] === 'f')) return []
    // One that is being renewed at this moment is locked: it lives.
    const rows = await session.rows(
      `SELECT id FROM $schema.relays WHERE id <> $1 AND (expires_at < clock_timestamp() OR id = ANY($2::text[]))
       FOR UPDATE SKIP LOCKED`,
      [id, dead],
    )
    return rows.map((row) => text(row, 'id'))
  }

  async function reap(session: Session, dead: readonly string[], now: number): Promise<Interrupted> {
    const reaped = await session.rows(
      'DELETE FROM $schema.relays WHERE id = ANY($1::text[]) RETURNING array_to_json(in_flight) AS in_flight',
      [dead],
    )
    const inFlight = reaped.flatMap((row) => JSON.parse(text(row, 'in_flight')) as readonly number[])
    const interrupted = await session.run(interrupt(database, inFlight, now))
    await free(session, 'relay = ANY($1::text[])', [dead])
    await session.run(ingester.notify(interrupted.notices, now))
    return interrupted
  }

  /** How many endpoints this relay should have; with as many more as divide unevenly, for the first relays of the list. */
  async function quota(session: Session): Promise<number> {
    const relays = (await session.rows('SELECT id FROM $schema.relays ORDER BY id')).map((row) => text(row, 'id'))
    const [row = {}] = await session.rows('SELECT count(*) AS n FROM $schema.endpoints WHERE removed_at IS NULL')
    const endpoints = number(row, 'n')
    return Math.floor(endpoints / relays.length) + (relays.indexOf(id) < endpoints % relays.length ? 1 : 0)
  }

  const ownedBy = async (session: Session): Promise<readonly number[]> => {
    const rows = await session.rows('SELECT endpoint FROM $schema.leases WHERE relay = $1 ORDER BY endpoint', [id])
    return rows.map((row) => number(row, 'endpoint'))
  }

  /** Claims endpoints that are nobody's; those that another relay claims at this moment are passed over. */
  async function claim(session: Session, count: number): Promise<readonly number[]> {
    const rows = await session.rows(
      `UPDATE $schema.leases SET relay = $1 WHERE endpoint IN
         (SELECT endpoint FROM $schema.leases WHERE relay IS NULL ORDER BY endpoint LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING endpoint`,
      [id, count],
    )
    return rows.map((row) => number(row, 'endpoint'))
  }

  async function endpoints(session: Session, refs: readonly number[]): Promise<readonly StoredEndpoint[]> {
    if (refs.length === 0) return []
    const sql = `SELECT ${endpointColumns} FROM $schema.endpoints WHERE ref = ANY($1::bigint[]) AND removed_at IS NULL`
    return (await session.rows(sql, [refs])).map(storedEndpointOf)
  }

  return {
    get id() {
      return id
    },
    time,

    async begin() {
      const next = randomUUID()
      if (id !== '') former.add(id)
      // Until it is known to be there it may be there all the same.
      former.add(next)
      const asked = time.moment()
      const [row = {}] = await database.session(async (session) => {
        return session.rows(
          `INSERT INTO $schema.relays (id, host, process, expires_at)
           VALUES ($1, $3, $4, clock_timestamp() + $2::double precision * interval '1 millisecond')
           RETURNING extract(epoch FROM clock_timestamp()) * 1000 AS time`,
          [next, time.length, hostname(), JSON.stringify(thisProcess())],
        )
      }, true)
      time.compare(asked, number(row, 'time'))
      former.delete(next)
      id = next
      held = new Set()
      time.renewed(asked)
    },

    tend: (now) =>
      database
        .session(async (session) => {
          await renew(session)
          const dead = await overdue(session)
          const reaped = dead.length > 0 ? await reap(session, dead, now) : { interrupted: 0, notices: [] }
          const owned = await ownedBy(session)
          const due = await quota(session)
          const claimed = owned.length < due ? await claim(session, due - owned.length) : []
          const all = [...owned, ...claimed]
          return {
            all,
            dead,
            gone: [...held].filter((ref) => !all.includes(ref)),
            gained: await endpoints(
              session,
              all.filter((ref) => !held.has(ref)),
            ),
            wanted: owned.slice(due),
            ...reaped,
          }
        }, true)
        .then(({ dead, ...tended }) => {
          for (const reaped of dead) former.delete(reaped)
          return tended
        }),

    accepted(endpoints) {
      held = new Set(endpoints)
    },

    async release(refs) {
      for (const ref of refs) held.delete(ref)
      await database.session(async (session) => {
        await free(session, 'relay = $1 AND endpoint = ANY($2::bigint[])', [id, refs])
      }, true)
    },

    async end() {
      if (id === '') return
      await database.session(async (session) => {
        await session.rows('DELETE FROM $schema.relays WHERE id = $1', [id])
        await free(session, 'relay = $1', [id])
      }, true)
      id = ''
      held = new Set()
    },
  }
}

/** Lets anybody have the endpoints of these leases; those that were removed are nobody's for good. */
async function free(session: Session, which: string, values: readonly unknown[]): Promise<void> {
  await session.rows(
    `DELETE FROM $schema.leases WHERE ${which}
       AND endpoint IN (SELECT ref FROM $schema.endpoints WHERE removed_at IS NOT NULL)`,
    values,
  )
  await session.rows(`UPDATE $schema.leases SET relay = NULL WHERE ${which}`, values)
}

const ownerOf = (row: SqlRow): Owner => JSON.parse(text(row, 'process')) as Owner

/** Whether a process of this very machine has died. Of other machines, and of other containers, that cannot be known. */
function isDead(owner: Owner): boolean {
  const here = thisProcess()
  const known = owner.boot !== null && owner.boot === here.boot && owner.namespace === here.namespace
  return known && !isAlive(owner)
}
