/** Snapshots: transactions that only read, each for several reads at once. */
import { Conflict } from '../../../lib/storage/contract.ts'
import { isPipelined, keep, type PgClient, type PgPool, type PgResult, send } from '../../sql/postgres/client.ts'
import { faultOf, isLost, storageErrorOf, unreachable } from '../../sql/postgres/errors.ts'
import { beginOn, type Held, holdClient } from '../../sql/postgres/pool.ts'
import type { Statement } from '../../sql/statements.ts'
import type { Rows } from '../sql/session.ts'
import type { Snapshot } from '../sql/snapshots.ts'
import { type Language, senderOn } from './transaction.ts'

const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY'

/**
 * Opens a snapshot on a separate connection.
 *
 * @param connectTimeoutMs milliseconds, tries after a lost connection included
 * @param ended is given the end of the snapshot, for which nobody has to wait: it changed nothing
 * @throws StorageError `unavailable` when there is no connection in time
 */
export async function openSnapshot(
  pool: PgPool,
  language: Language,
  connectTimeoutMs: number,
  ended: (end: Promise<void>) => void,
): Promise<Snapshot> {
  const early = isPipelined(pool) ? await beginEarly(pool, connectTimeoutMs) : undefined
  const begun = early?.begun ?? (await beginOn(pool, begin, connectTimeoutMs))
  const client = early?.client ?? (await begun).client
  const end = async () => {
    const held = await begun
    const broken = await send(held.client, 'COMMIT').then(
      () => false,
      () => true,
    )
    held.release(broken)
  }
  return {
    native: client,
    query: readsOn(client, begun, language),
    begun: early?.letGo ?? (() => {}),
    end: () => ended(end()),
  }
}

/** A connection on which the first statements travel with the BEGIN. */
interface Early {
  readonly client: PgClient
  /** The connection on which it has begun: another one, when the first turned out to be gone. */
  readonly begun: Promise<Held>
  /** Sends the BEGIN together with the statements so far. */
  letGo(): void
}

async function beginEarly(pool: PgPool, connectTimeoutMs: number): Promise<Early | undefined> {
  const held = await holdClient(pool, connectTimeoutMs).catch((error: unknown) => {
    if (isLost(error)) return undefined
    throw unreachable(error)
  })
  if (!held) return undefined
  const letGo = keep(held.client)
  const begun = send(held.client, begin).then(
    () => held,
    (error: unknown) => {
      held.release(true)
      if (isLost(error)) return beginOn(pool, begin, connectTimeoutMs)
      throw unreachable(error)
    },
  )
  // Every reader gets the error; without a reader nobody handles it.
  const known = begun.catch(() => undefined)
  // A `pg` before 8.23 takes the option and does not know it.
  if (!held.client.pipeline) await known
  return { client: held.client, begun, letGo }
}

/** Runs the statements of the reads. If one fails, its read gets the error, and the others `conflict`. */
function readsOn(first: PgClient, beginning: Held | Promise<Held>, language: Language): (statement: Statement) => Promise<Rows> {
  let { run } = senderOn(first, language)
  let begun = false
  let failed = false

  /** Nothing was read yet on a connection whose BEGIN failed, so another one does as well. */
  async function beforeBegin(statement: Statement): Promise<PgResult> {
    const answer = run(statement)
    answer.catch(() => undefined)
    const { client } = await beginning
    if (!begun && client !== first) run = senderOn(client, language).run
    begun = true
    return client === first ? answer : run(statement)
  }

  return async (statement) => {
    if (failed) throw new Conflict('another read in the same snapshot failed')
    try {
      return (await (begun ? run(statement) : beforeBegin(statement))).rows
    } catch (error) {
      if (failed || faultOf(error) === 'aborted') throw new Conflict('another read in the same snapshot failed', { cause: error })
      failed = true
      throw storageErrorOf(error)
    }
  }
}
