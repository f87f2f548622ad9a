/**
 * Ingests commits of the outbox table, in one transaction that removes them from it. Where they hold nothing but events, as nearly all do,
 * it is a single statement.
 */
import { claimOutbox, type OutboxCommit, readOutbox } from '../../../../adapters/storage/postgres/outbox.ts'
import { maxCounted } from '../../../../lib/outbox/source.ts'
import { countDeliveries, type Ingester } from '../plans/ingest.ts'
import { number } from '../rows.ts'
import type { Ingested } from '../store.ts'
import { type PostgresDatabase, type Session, waitForDisk } from './database.ts'
import { moveEvents } from './move-events.ts'

/** Commits ingested at once. */
const commitsAtOnce = 500

export interface OutboxPiece {
  readonly ingested: Ingested
  readonly version: number
  /** Whether there is more to ingest at once. */
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
  /** Whether another relay was quicker at the last piece, and the oldest commit that was left to it since. */
  let beaten: { left?: number } | undefined

  /** Anything, in a transaction. The version is held from its begin to its end. */
  async function ingestOn(
    session: Session,
    timeline: () => number,
    firstDelay: number,
    oneByOne: boolean,
  ): Promise<OutboxPiece | undefined> {
    // One relay at a time: it holds the version.
    const [free] = await session.rows(`SELECT value FROM $schema.meta WHERE name = 'version' FOR UPDATE SKIP LOCKED`)
    if (!free) return undefined
    const { commits, damage } = await claimOutbox(session.client, commitsAtOnce, schema)
    if (commits.length === 0) return undefined
    await waitForDisk(session)
    // After the commits were read: an event is not due before it was recorded.
    const now = timeline()
    const due = now + firstDelay
    const { version, ...ingested } = await session.run(ingester.ingest({ records: commits.flat(), damage }, now, due, oneByOne))
    return { ingested, version, more: commits.length >= commitsAtOnce }
  }

  async function ingest(timeline: () => number, firstDelay: number, oneByOne: boolean): Promise<OutboxPiece | undefined> {
    // Data read in a transaction that is rolled back may be wrong; the next one may begin within `session`.
    const attempt = (session: Session) => ingestOn(session, timeline, firstDelay, oneByOne).catch(forgetAnd)
    try {
      return await database.session(attempt).catch(forgetAnd)
    } catch (error) {
      if (!oneByOne && database.isRecordsFault(error)) return ingest(timeline, firstDelay, true)
      throw error
    }
  }

  /** Commits of events, up to the first one with something else. They are read first, and nobody holds the version meanwhile. */
  async function move(timeline: () => number, firstDelay: number): Promise<Moved> {
    const read = await readOutbox(database.rows, commitsAtOnce, schema)
    const other = read.findIndex((commit) => !isOfEvents(commit))
    const commits = other === -1 ? read : read.slice(0, other)
    if (commits.length === 0) return read.length === 0 ? 'beaten' : 'not events alone'
    const now = timeline()
    await database.read(() => ingester.load())
    const records = commits.flatMap(({ records }) => records).filter((record) => record.kind === 'event')
    const events = ingester.addressed(records)
    const places = commits.map(({ seq }) => seq)
    const moved = await moveEvents(database, { places, events, known: ingester.known }, now, now + firstDelay)
    if (!moved) return 'beaten'
    const deliveries = new Map<number, number>()
    const fresh = new Set(events.map(({ record }) => record.event_id).filter((id) => !moved.present.has(id)))
    const duplicates = countDeliveries(events, fresh, deliveries)
    const nothing = { changed: [], removed: [], notices: [], setAside: [] }
    const more = read.length >= commitsAtOnce || commits.length < read.length
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
      const [oldest] = await database.rows(`SELECT "seq" FROM "${schema}"."outbox" ORDER BY "seq" LIMIT 1`)
      if (!oldest) return undefined
      // Each of several relays would read everything, and all but one in vain. So the quicker one goes on, as long as it does.
      const seq = number(oldest, 'seq')
      if (beaten && beaten.left !== seq) {
        beaten.left = seq
        return undefined
      }
      const moved = await move(timeline, firstDelay).catch((error: unknown) => {
        if (!database.isRecordsFault(error)) return forgetAnd(error)
        return 'not events alone' as const
      })
      const piece =
        moved === 'not events alone' ? await ingest(timeline, firstDelay, false) : moved === 'beaten' ? undefined : moved
      beaten = piece ? undefined : {}
      return piece
    },
  }
}
