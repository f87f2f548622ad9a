/** Ingests commits of the outbox table, in one transaction that removes them from it. */
import { claimOutbox } from '../../../../adapters/storage/postgres/outbox.ts'
import { maxCounted } from '../../../../lib/outbox/source.ts'
import type { Ingester } from '../plans/ingest.ts'
import { number } from '../rows.ts'
import type { Ingested } from '../store.ts'
import { type PostgresDatabase, type Session, waitForDisk } from './database.ts'

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

export function outboxTable(database: PostgresDatabase, ingester: Ingester): OutboxTable {
  const { schema } = database

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
      const [waiting] = await database.rows(`SELECT 1 FROM "${schema}"."outbox" ORDER BY "seq" LIMIT 1`)
      return waiting && ingest(timeline, firstDelay, false)
    },
  }
}
