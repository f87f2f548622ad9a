/**
 * Ingests commits of the outbox table, in one transaction that removes them from it. Where they hold nothing but events, as nearly all do,
 * it is a single statement.
 */
import { quoted } from '../../../../adapters/sql/dialect.ts'
import { type OutboxCommit, type OutboxPart, outboxReader, takeFromOutbox } from '../../../../adapters/storage/postgres/outbox.ts'
import { maxCounted } from '../../../../lib/outbox/source.ts'
import type { Addressed } from '../endpoint/endpoint-index.ts'
import { countDeliveries, type Ingester } from '../plans/ingest.ts'
import { number, textOrNull } from '../rows.ts'
import type { Ingested } from '../store.ts'
import { durably, type PostgresDatabase, type Session, waitForDisk } from './database.ts'
import { insertion, valuesOf } from './events.ts'

/** Bytes ingested per batch. They are parsed in one go, and other relays take one for dead that does nothing else for too long. */
const pieceBytes = 2 * 1024 * 1024

export interface OutboxPiece {
  readonly ingested: Ingested
  readonly version: number
  /** Whether there is more to ingest immediately. */
  readonly more: boolean
}

export interface OutboxTable {
  /** `undefined` without commits, or if another relay is ingesting. */
  ingest(timeline: () => number, firstDelay: number): Promise<OutboxPiece | undefined>
  /** How many commits are in the outbox; at most `maxCounted`. */
  waiting(): Promise<number>
}

/** What was moved, or why nothing was. */
type Moved = OutboxPiece | 'beaten' | 'not events alone'

const isOfEvents = ({ records, damage }: OutboxCommit): boolean =>
  damage.length === 0 && records.every(({ kind }) => kind === 'event')

export function outboxTable(database: PostgresDatabase, ingester: Ingester): OutboxTable {
  const { schema } = database
  const read = outboxReader(database.rows, pieceBytes, schema)
  /** Whether another relay was quicker at the last piece, and the oldest commit that was left to it since. */
  let beaten: { left?: number } | undefined

  /** Anything, in a transaction. The version is held from its begin to its end, so what takes long has been done before: reading. */
  async function ingestOn(
    session: Session,
    { commits, more }: OutboxPart,
    timeline: () => number,
    firstDelay: number,
    oneByOne: boolean,
  ): Promise<OutboxPiece | undefined> {
    // One relay at a time: it holds the version.
    const [free] = await session.rows(`SELECT value FROM $schema.meta WHERE name = 'version' FOR UPDATE SKIP LOCKED`)
    if (!free) return undefined
    const places = commits.map(({ seq }) => seq)
    const taken = await takeFromOutbox(session.client, places, schema)
    if (taken.size === 0) return undefined
    const own = commits.filter(({ seq }) => taken.has(seq))
    await waitForDisk(session)
    // After the commits were read: an event is not due before it was recorded.
    const now = timeline()
    const due = now + firstDelay
    const records = own.flatMap((commit) => commit.records)
    const damage = own.flatMap((commit) => commit.damage)
    const { version, ...ingested } = await session.run(ingester.ingest({ records, damage }, now, due, oneByOne))
    return { ingested, version, more }
  }

  async function ingest(
    part: OutboxPart,
    timeline: () => number,
    firstDelay: number,
    oneByOne = false,
  ): Promise<OutboxPiece | undefined> {
    // Data read in a transaction that is rolled back may be wrong; the next one may begin within `session`.
    const attempt = (session: Session) => ingestOn(session, part, timeline, firstDelay, oneByOne).catch(forgetAnd)
    try {
      return await database.session(attempt).catch(forgetAnd)
    } catch (error) {
      if (!oneByOne && database.isRecordsFault(error)) return ingest(part, timeline, firstDelay, true)
      throw error
    }
  }

  /** Commits of events, up to the first one with something else. */
  async function move(part: OutboxPart, known: Promise<void>, timeline: () => number, firstDelay: number): Promise<Moved> {
    const other = part.commits.findIndex((commit) => !isOfEvents(commit))
    const commits = other === -1 ? part.commits : part.commits.slice(0, other)
    if (commits.length === 0) return part.commits.length === 0 ? 'beaten' : 'not events alone'
    const now = timeline()
    await known
    const records = commits.flatMap(({ records }) => records).filter((record) => record.kind === 'event')
    const events = ingester.addressed(records)
    const places = commits.map(({ seq }) => seq)
    const moved = await moveEvents(database, { places, events, known: ingester.known }, now, now + firstDelay)
    if (!moved) return 'beaten'
    const deliveries = new Map<number, number>()
    const fresh = new Set(events.map(({ record }) => record.event_id).filter((id) => !moved.present.has(id)))
    const duplicates = countDeliveries(events, fresh, deliveries)
    const nothing = { changed: [], removed: [], notices: [], quarantined: [] }
    const more = part.more || commits.length < part.commits.length
    return { ingested: { events: records.length, duplicates, deliveries, ...nothing }, version: moved.version, more }
  }

  function forgetAnd(error: unknown): never {
    ingester.forget()
    throw error
  }

  return {
    async waiting() {
      const some = `SELECT 1 FROM "${schema}"."outbox" LIMIT $1`
      const [row = {}] = await database.rows(`SELECT count(*) AS count FROM (${some}) AS counted`, [maxCounted])
      return number(row, 'count')
    },
    async ingest(timeline, firstDelay) {
      if (beaten) {
        const [oldest] = await database.rows(`SELECT "seq" FROM "${schema}"."outbox" ORDER BY "seq" LIMIT 1`)
        if (!oldest) return undefined
        // Each of several relays would read everything, and all but one in vain. So the quicker one goes on, as long as it does.
        const seq = number(oldest, 'seq')
        if (beaten.left !== seq) {
          beaten.left = seq
          return undefined
        }
      }
      const known = database.read(() => ingester.load())
      // It is waited for only where there is something to move.
      known.catch(() => undefined)
      const part = await read()
      if (part.commits.length === 0) return undefined
      const moved = await move(part, known, timeline, firstDelay).catch((error: unknown) => {
        if (!database.isRecordsFault(error)) return forgetAnd(error)
        return 'not events alone' as const
      })
      const done =
        moved === 'not events alone' ? await ingest(part, timeline, firstDelay) : moved === 'beaten' ? undefined : moved
      beaten = done ? undefined : {}
      return done
    },
  }
}

/** Commits as they were read, which hold nothing but events. */
interface ReadCommits {
  /** Their places in the outbox. */
  readonly places: readonly number[]
  readonly events: readonly Addressed[]
  /** The version up to which the endpoints are known that the events go to. */
  readonly known: number
}

/**
 * Nothing happens unless all is as it was read: no transaction holds the version, no endpoint has changed, and the commits are still there. The
 * statement sees the database as it was when it began. So the version has to be the one of then: every ingest changes it.
 *
 * ?17: the version of the endpoints. ?18: places in the outbox.
 */
const moving = (outbox: string) => `
  WITH free AS (
    SELECT m.name FROM $schema.meta m
    WHERE m.name = 'version' AND m.value = (SELECT value FROM $schema.meta WHERE name = 'version') FOR UPDATE OF m SKIP LOCKED),
  held AS (
    UPDATE $schema.meta m SET value = m.value + 1 FROM free
    WHERE m.name = free.name AND NOT EXISTS (SELECT 1 FROM $schema.endpoints WHERE defined > ?17::bigint)
      AND (SELECT count(*) FROM ${outbox} WHERE "seq" = ANY (?18::bigint[])) = cardinality(?18::bigint[])
    RETURNING m.value AS version),
  claimed AS (DELETE FROM ${outbox} o USING held WHERE o."seq" = ANY (?18::bigint[])),
  ${insertion(', held')},
  touched AS (
    UPDATE $schema.leases l SET touched = held.version FROM held WHERE l.endpoint = ANY (ARRAY (SELECT endpoint FROM addressed)))
  SELECT version, (SELECT array_to_json(array_agg(event_id)) FROM given WHERE event_id NOT IN (SELECT event_id FROM fresh)) AS present,
    ${durably} FROM held`

/**
 * Moves commits out of the outbox into the store, by one statement: a relay that stops before or after it holds no lock.
 * @returns `undefined` when something was in the way; else the version, and the ids of events that were there before
 */
async function moveEvents(
  database: PostgresDatabase,
  { places, events, known }: ReadCommits,
  received_at: number,
  due: number,
): Promise<{ readonly version: number; readonly present: ReadonlySet<string> } | undefined> {
  const outbox = `${quoted(database.schema)}."outbox"`
  const [moved] = await database.rows(moving(outbox), [...valuesOf(events, received_at, due), known, places])
  if (!moved) return undefined
  const present = textOrNull(moved, 'present')
  return { version: number(moved, 'version'), present: new Set(present === null ? [] : (JSON.parse(present) as string[])) }
}
