/**
 * Which relay sends to which endpoint.
 *
 * Terms
 * - **Lease**: the row of a relay in `relays`, for as long as it is there. The endpoints that name it are that relay's.
 * - **Renewal**: moves the end of a lease. Every tick of the scheduler renews it, and `renew` does at a sixth of its time, on a connection
 *   of its own: so a lease lasts however long everything else takes.
 * - **Reaping**: the removal of a lease that is over, by another relay. It happens in the transaction that frees its endpoints.
 *   So a late relay whose row still exists may continue, and one whose row is gone has lost everything.
 * - **Far**: a relay with late responses from PostgreSQL, which says so in its row. While others are near, it leaves them the endpoints, and all
 *   that holds locks over several round trips.
 * - **Quota**: how many endpoints a relay should have. All relays reckon with the same list and come to the same quotas.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { isAlive, type Owner, thisProcess } from '../../../../adapters/files/owner.ts'
import { StorageError } from '../../../../lib/storage/contract.ts'
import type { Clock } from '../../clock.ts'
import { endpointColumns } from '../endpoint/endpoint-row.ts'
import type { StoredEndpoint } from '../endpoint/relay-endpoint.ts'
import type { Notice } from '../notice.ts'
import type { Ingester } from '../plans/ingest.ts'
import { type Interrupted, interrupt } from '../plans/interruptions.ts'
import { number, storedEndpointOf, text, textOrNull } from '../rows.ts'
import { LeaseLost } from '../store.ts'
import { durably, type PostgresDatabase, type Session } from './database.ts'
import { createLeaseTime, type LeaseTime } from './lease-time.ts'
import { endStuck } from './stuck.ts'

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
  readonly time: LeaseTime
  /** Whether this relay is far, and another one near. */
  readonly isAside: boolean
  /**
   * Before the lease is renewed: whether responses come in time.
   * @throws StorageError `unavailable` when they come too late
   */
  requireResponses(): Promise<void>
  /** Begins a lease, without any endpoint. @throws StorageError `unavailable` when responses come too late */
  begin(): Promise<void>
  /** Renews the lease. @throws LeaseLost, StorageError `unavailable` when responses come too late */
  renew(): Promise<void>
  /**
   * Reaps leases that are over, and claims endpoints up to the quota. Its result is repeated until `accepted`
   * is called. What is released in between is left out. Each step is a statement by itself, which leaves no
   * lock behind: a relay that stops between two of them is in no one's way.
   * @throws LeaseLost, StorageError `unavailable` when responses come too late
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

interface Reaped extends Interrupted {
  /** Of the leases. */
  readonly ids: readonly string[]
}

interface Listed {
  readonly id: string
  readonly process: Owner
  readonly over: boolean
  readonly far: boolean
}

/** What a relay has to know to claim and to reap. */
interface Survey {
  readonly relays: readonly Listed[]
  readonly owned: readonly number[]
  /** How many endpoints there are. */
  readonly endpoints: number
}

const nothing: Interrupted = { interrupted: 0, notices: [] }
const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`

/** @param length milliseconds; read again at each renewal */
export function createLeases(database: PostgresDatabase, clock: Clock, length: () => number, ingester: Ingester): Leases {
  let id = ''
  const time = createLeaseTime(clock, length)
  /** The endpoints of this lease, as far as the relay has accepted them. */
  let held = new Set<number>()
  /** What was released since `tend` began. */
  let released = new Set<number>()
  /** Earlier leases of this relay, which may still be there: no relay sends to their endpoints. */
  const former = new Set<string>()
  /** Of leases that were reaped. It is reported with what `tend` finds, which may fail after that. */
  let unreported = nothing
  let hasNear = false

  /**
   * A relay that gets late responses from PostgreSQL may not send, and if it renewed its lease all the same, no other relay would. So after a
   * late response it first checks whether the next one is in time; twice, because a busy machine may be to blame for the first.
   */
  async function requireResponses(): Promise<void> {
    let waited = 0
    for (const _ of ['once', 'twice']) {
      if (!time.isLate) return
      const sentAt = time.moment()
      await database.rowsAside('SELECT 1')
      time.responded(sentAt)
      waited = clock.monotonic() - sentAt.monotonic
    }
    if (!time.isLate) return
    const late = `PostgreSQL responded after ${seconds(waited)}, which is too late for a lease of ${seconds(time.length)}`
    throw new StorageError('unavailable', `${late}; until it responds sooner, this relay leaves its endpoints to others`)
  }

  async function renew(): Promise<void> {
    await requireResponses()
    const renewed = id
    const sentAt = time.moment()
    const [row] = await database.rowsAside(
      `UPDATE $schema.relays SET ${renewal}, far = $3 WHERE id = $1 RETURNING extract(epoch FROM clock_timestamp()) * 1000 AS time`,
      [renewed, time.length, time.isFar],
    )
    time.responded(sentAt)
    if (id !== renewed) return
    if (!row) throw reaped()
    time.compare(sentAt, number(row, 'time'))
    time.renewed(sentAt)
  }

  const reaped = () => new LeaseLost(`relay ${id} was reaped`)

  async function survey(): Promise<Survey> {
    const [found = {}] = await database.rows(
      `SELECT (SELECT json_agg(json_build_object('id', id, 'process', process, 'over', expires_at < clock_timestamp(), 'far', far)
           ORDER BY id) FROM $schema.relays) AS relays,
         (SELECT json_agg(endpoint ORDER BY endpoint) FROM $schema.leases WHERE relay = $1) AS owned,
         (SELECT count(*) FROM $schema.endpoints WHERE removed_at IS NULL) AS endpoints`,
      [id],
    )
    const relays = JSON.parse(textOrNull(found, 'relays') ?? '[]') as readonly Listed[]
    const owned = JSON.parse(textOrNull(found, 'owned') ?? '[]') as readonly number[]
    return { relays, owned, endpoints: number(found, 'endpoints') }
  }

  /** Whether a lease ends whatever its time, because its process died on this machine, or this relay has given it up. */
  const isOver = (listed: Listed): boolean => former.has(listed.id) || isDead(listed.process)

  /** One that is being renewed at this moment is locked: it lives. */
  async function reap(session: Session, dead: readonly string[], now: number): Promise<Reaped> {
    const rows = await session.rows(
      `DELETE FROM $schema.relays WHERE id = ANY (ARRAY (
         SELECT id FROM $schema.relays WHERE id <> $1 AND (expires_at < clock_timestamp() OR id = ANY($2::text[]))
         FOR UPDATE SKIP LOCKED))
       RETURNING id, array_to_json(in_flight) AS in_flight`,
      [id, dead],
    )
    const ids = rows.map((row) => text(row, 'id'))
    const inFlight = rows.flatMap((row) => JSON.parse(text(row, 'in_flight')) as readonly number[])
    const interrupted = await session.run(interrupt(database, inFlight, now))
    await session.rows(freeing('relay = ANY($1::text[])'), [ids])
    await session.run(ingester.notify(interrupted.notices, now))
    return { ids, ...interrupted }
  }

  /** How many endpoints this relay should have; with as many more as divide unevenly, for the first relays of the list. */
  function quota({ relays, endpoints }: Survey): number {
    if (relays.every((each) => each.id !== id)) throw reaped()
    const near = relays.filter(({ far }) => !far)
    const sharing = near.length > 0 ? near : relays
    const place = sharing.findIndex((each) => each.id === id)
    if (place === -1) return 0
    return Math.floor(endpoints / sharing.length) + (place < endpoints % sharing.length ? 1 : 0)
  }

  /** Claims endpoints without a relay; those that another relay claims at this moment are passed over. A lease that is gone gets none. */
  async function claim(count: number): Promise<readonly number[]> {
    const rows = await database.rows(
      `WITH lease AS (UPDATE $schema.relays SET ${renewal} WHERE id = $1 RETURNING id),
       claimed AS (
         UPDATE $schema.leases SET relay = lease.id FROM lease WHERE endpoint = ANY (ARRAY (
           SELECT endpoint FROM $schema.leases WHERE relay IS NULL ORDER BY endpoint LIMIT $3 FOR UPDATE SKIP LOCKED))
         RETURNING endpoint)
       SELECT endpoint, ${durably} FROM claimed`,
      [id, time.length, count],
    )
    return rows.map((row) => number(row, 'endpoint'))
  }

  async function endpoints(refs: readonly number[]): Promise<readonly StoredEndpoint[]> {
    if (refs.length === 0) return []
    const sql = `SELECT ${endpointColumns} FROM $schema.endpoints WHERE ref = ANY($1::bigint[]) AND removed_at IS NULL`
    return (await database.rows(sql, [refs])).map(storedEndpointOf)
  }

  return {
    get id() {
      return id
    },
    time,
    get isAside() {
      return time.isFar && hasNear
    },
    requireResponses,

    async begin() {
      await requireResponses()
      const next = randomUUID()
      if (id !== '') time.doubt()
      if (id !== '') former.add(id)
      // Until it is known to be there it may be there all the same.
      former.add(next)
      const sentAt = time.moment()
      const [row = {}] = await database.rows(
        `WITH lease AS (
           INSERT INTO $schema.relays (id, host, process, expires_at, far)
           VALUES ($1, $3, $4, clock_timestamp() + $2::double precision * interval '1 millisecond', $5)
           ON CONFLICT (id) DO UPDATE SET ${renewal} RETURNING id)
         SELECT extract(epoch FROM clock_timestamp()) * 1000 AS time, ${durably} FROM lease`,
        [next, time.length, hostname(), JSON.stringify(thisProcess()), time.isFar],
      )
      time.compare(sentAt, number(row, 'time'))
      former.delete(next)
      id = next
      held = new Set()
      time.renewed(sentAt)
    },

    renew,

    async tend(now) {
      released = new Set()
      // First: late statements take connections, which others need to find out the same.
      await requireResponses()
      // It may fail where PostgreSQL's views are not to be had: then its own time limit is all there is.
      const ending = endStuck(database, time.patience).catch(() => undefined)
      let seen = await survey()
      const others = seen.relays.filter((each) => each.id !== id)
      const dead = others.filter(isOver).map((each) => each.id)
      hasNear = others.some((each) => !each.far && !each.over && !dead.includes(each.id))
      if (!(time.isFar && hasNear) && others.some((each) => each.over || dead.includes(each.id))) {
        const { ids, interrupted, notices } = await database.session((session) => reap(session, dead, now), true)
        for (const each of ids) former.delete(each)
        unreported = { interrupted: unreported.interrupted + interrupted, notices: [...unreported.notices, ...notices] }
        seen = await survey()
      }
      await ending
      const { owned } = seen
      const due = quota(seen)
      const claimed = owned.length < due ? await claim(due - owned.length) : []
      const all = [...owned, ...claimed].filter((ref) => !released.has(ref))
      const gained = await endpoints(all.filter((ref) => !held.has(ref)))
      const reported = unreported
      unreported = nothing
      return { all, gone: [...held].filter((ref) => !all.includes(ref)), gained, wanted: owned.slice(due), ...reported }
    },

    accepted(endpoints) {
      held = new Set(endpoints.filter((ref) => !released.has(ref)))
    },

    async release(refs) {
      for (const ref of refs) {
        held.delete(ref)
        released.add(ref)
      }
      await database.rows(freeing('relay = $1 AND endpoint = ANY($2::bigint[])'), [id, refs])
    },

    async end() {
      if (id === '') return
      await database.session(async (session) => {
        await session.rows('DELETE FROM $schema.relays WHERE id = $1', [id])
        await session.rows(freeing('relay = $1'), [id])
      }, true)
      id = ''
      held = new Set()
    },
  }
}

/** Frees the endpoints of these leases; removed endpoints stay without a relay for good. */
const freeing = (which: string): string => `
  WITH these AS (
    SELECT l.endpoint, e.removed_at IS NOT NULL AS removed FROM $schema.leases l JOIN $schema.endpoints e ON e.ref = l.endpoint
    WHERE ${which}),
  gone AS (DELETE FROM $schema.leases WHERE ${which} AND endpoint IN (SELECT endpoint FROM these WHERE removed)),
  freed AS (UPDATE $schema.leases SET relay = NULL WHERE ${which} AND endpoint IN (SELECT endpoint FROM these WHERE NOT removed))
  SELECT ${durably}`

/** Whether a process of this very machine has died. Of other machines, and of other containers, that cannot be known. */
function isDead(owner: Owner): boolean {
  const here = thisProcess()
  const known = owner.boot !== null && owner.boot === here.boot && owner.namespace === here.namespace
  return known && !isAlive(owner)
}
