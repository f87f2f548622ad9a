/** Views: transactions that only read, each for several reads at once. */
import { Conflict } from '../../../lib/storage/contract.ts'
import { isPipelined, keep, type PgClient, type PgPool, send } from '../../sql/postgres/client.ts'
import { faultOf, isLost, unreachable } from '../../sql/postgres/errors.ts'
import { beginOn, type Held, holdClient } from '../../sql/postgres/pool.ts'
import type { View } from '../sql/views.ts'
import { type Language, type Transaction, transactionOn } from './transaction.ts'

const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY'

/**
 * Opens a view on a connection of its own.
 *
 * @param connectTimeoutMs milliseconds, tries after a lost connection included
 * @param ended is given the end of the view, for which nobody has to wait: it changed nothing
 * @throws StorageError `unavailable` when there is no connection in time
 */
export async function openView(
  pool: PgPool,
  language: Language,
  connectTimeoutMs: number,
  ended: (end: Promise<void>) => void,
): Promise<View> {
  const early = isPipelined(pool) ? await beginEarly(pool, connectTimeoutMs) : undefined
  const begun = early?.begun ?? (await beginOn(pool, begin, connectTimeoutMs))
  const transaction = statementsOn(early?.client ?? (await begun).client, begun, language)
  const end = async () => {
    const { client, release } = await begun
    const broken = await send(client, 'COMMIT').then(
      () => false,
      () => true,
    )
    release(broken)
  }
  return { ...transaction, begun: early?.letGo ?? (() => {}), end: () => ended(end().catch(() => undefined)) }
}

/** A connection on which the first statements travel with the BEGIN. */
interface Early {
  readonly client: PgClient
  /** The connection on which it has begun: another one, when the first turned out to be gone. */
  readonly begun: Promise<Held>
  /** Sends the BEGIN, and with it what was asked until now. */
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
  // Whoever reads is told; without a read there is nobody to tell.
  const known = begun.catch(() => undefined)
  // A `pg` before 8.23 takes the option and does not know it.
  if (!held.client.pipeline) await known
  return { client: held.client, begun, letGo }
}

/** The statements of a view: when one fails, its read is told why, and the others that the view was lost. */
function statementsOn(client: PgClient, begun: Held | Promise<Held>, language: Language): Transaction {
  const first = transactionOn(client, language)
  let late: Transaction | undefined
  let failed = false

  /** Nothing was read yet on a connection whose BEGIN failed, so another one does as well. */
  async function answerTo(statement: Parameters<Transaction['query']>[0]) {
    if (late) return late.query(statement)
    const answer = first.query(statement)
    answer.catch(() => undefined)
    const held = await begun
    if (held.client === client) return answer
    late ??= transactionOn(held.client, language)
    return late.query(statement)
  }

  return {
    ...first,
    async query(statement) {
      try {
        return await answerTo(statement)
      } catch (error) {
        if (failed || faultOf(error) === 'aborted') throw new Conflict('another read in the same view failed', { cause: error })
        failed = true
        throw error
      }
    },
  }
}
