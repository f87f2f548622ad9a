/** Transactions: a connection within a time limit, and again where that helps, and their end. */
import pRetry from 'p-retry'
import { StorageError } from '../../../lib/storage/contract.ts'
import { isPipelined, type PgClient, type PgPool, type PgResult } from './connection.ts'
import { commitError, faultOf, isLost, unreachable } from './errors.ts'
import { noteError, noteUnknown, unfitness } from './fitness.ts'
import { type HeldClient, holdClient } from './hold.ts'
import { holdBack } from './wire/batch.ts'
import { type Batch, nextBatch, send, sendWaiting } from './wire/send.ts'

/**
 * Begins a transaction that writes, whatever the database's default is. A statement has to see what others have committed before it: the
 * one that had a lock, above all.
 */
export const beginReadCommitted = 'BEGIN ISOLATION LEVEL READ COMMITTED'

/** The setting of connections for statements by themselves, for the same reason. */
export const readCommittedAlone = { default_transaction_isolation: 'read committed' } as const

/**
 * A connection on which a transaction has begun.
 *
 * @param begin the statement that begins it
 * @param connectTimeoutMs milliseconds, tries after a lost connection included
 * @throws StorageError `unavailable` if none becomes free in time
 */
async function beginOn(pool: PgPool, begin: string, connectTimeoutMs: number): Promise<HeldClient> {
  const attempt = async (): Promise<HeldClient> => {
    const held = await holdClient(pool, connectTimeoutMs)
    try {
      await send(held.client, begin)
      return held
    } catch (error) {
      held.release(true)
      throw error
    }
  }
  try {
    return await pRetry(attempt, {
      retries: 6,
      minTimeout: 50,
      maxTimeout: 1000,
      randomize: true,
      maxRetryTime: connectTimeoutMs,
      // Nothing has been done yet, so a connection of no use is safe to replace. A full pool is not tried again: it was waited for.
      shouldRetry: ({ error }) => isOfNoUse(error),
    })
  } catch (error) {
    throw unreachable(error)
  }
}

/** Whether the failure of a BEGIN is the connection's: it is gone, or the transaction before has not ended. */
const isOfNoUse = (error: unknown): boolean => isLost(error) || faultOf(error) === 'aborted'

/** A transaction whose BEGIN may still be on its way. A statement that only reads may be sent right after it. */
export interface Beginning {
  /** The connection to which the BEGIN was sent. */
  readonly client: PgClient
  /** The batch in which the BEGIN travels, where the connection sends ahead. */
  readonly batch?: Batch
  /**
   * The connection on which the transaction has begun: another one if the first turned out to be gone.
   * @throws StorageError `unavailable` if no other one becomes free in time
   */
  readonly begun: Promise<HeldClient>
  /**
   * Gives the connection to the next one who waits for one, if any does. To be called when the end of the transaction is on its
   * way: the next BEGIN leaves with it, and its response comes first. If this transaction could not end, that BEGIN fails and
   * takes another connection.
   */
  handOn(): void
}

export interface Begin {
  readonly text: string
  /** Names it as a prepared one. */
  readonly name: string | undefined
}

/**
 * As `beginOn`, but without waiting for the response to the BEGIN, where the connection sends ahead.
 *
 * @throws StorageError `unavailable` if no connection becomes free in time
 */
export async function beginAhead(pool: PgPool, { text, name }: Begin, connectTimeoutMs: number): Promise<Beginning> {
  const ahead = isPipelined(pool) ? await heldOrLost(pool, connectTimeoutMs) : undefined
  // A `pg` before 8.23 takes the option and ignores it.
  if (!ahead?.client.pipeline) {
    ahead?.release()
    const held = await beginOn(pool, text, connectTimeoutMs)
    return { client: held.client, begun: Promise.resolve(held), handOn: () => undefined }
  }
  const batch = nextBatch(ahead.client)
  const begun = send(ahead.client, text, [], name).then(
    () => ahead,
    (error: unknown) => {
      ahead.release(true)
      if (isOfNoUse(error)) return beginOn(pool, text, connectTimeoutMs)
      throw unreachable(error)
    },
  )
  let current: HeldClient | undefined
  begun.then(
    (held) => (current = held),
    // Every statement gets the error; without a statement no caller handles it.
    () => undefined,
  )
  function handOn(): void {
    if (!current?.client.pipeline || !pool.waitingCount) return
    holdBack(current.client)
    sendWaiting(current.client)
    current.release()
  }
  return { client: ahead.client, begun, handOn, ...(batch ? { batch } : {}) }
}

const heldOrLost = (pool: PgPool, connectTimeoutMs: number): Promise<HeldClient | undefined> =>
  holdClient(pool, connectTimeoutMs).catch((error: unknown) => {
    if (isLost(error)) return undefined
    throw unreachable(error)
  })

/**
 * Runs work in a transaction, which the work commits. An error of it undoes the transaction.
 *
 * @param begin the statement that begins it
 * @param connectTimeoutMs milliseconds, tries after a lost connection included
 * @param lost is called when the connection can't be used any more
 * @throws StorageError `unavailable` when there is no connection in time; what `work` throws
 */
export async function inTransaction<T>(
  pool: PgPool,
  connectTimeoutMs: number,
  work: (client: PgClient) => Promise<T>,
  lost?: () => void,
): Promise<T> {
  const held = await beginOn(pool, beginReadCommitted, connectTimeoutMs)
  return inBegun(Promise.resolve(held), () => work(held.client), lost)
}

/** As `inTransaction`, for work that sends its first reads together with the BEGIN. */
export async function inTransactionAhead<T>(
  pool: PgPool,
  begin: Begin,
  connectTimeoutMs: number,
  work: (beginning: Beginning) => Promise<T>,
): Promise<T> {
  const beginning = await beginAhead(pool, begin, connectTimeoutMs)
  return inBegun(beginning.begun, () => work(beginning))
}

async function inBegun<T>(begun: Promise<HeldClient>, work: () => Promise<T>, lost?: () => void): Promise<T> {
  let value: T
  try {
    value = await work()
  } catch (error) {
    const isLost = await begun.then(
      (held) => undo(held, error),
      () => true,
    )
    if (isLost) lost?.()
    throw error
  }
  ;(await begun).release()
  return value
}

/**
 * Undoes a transaction that has failed, and gives its connection back. A connection in an unknown state is closed, and its transaction
 * with it. One that was handed on is not ours any more.
 * @returns whether it has been closed
 */
export async function undo({ client, isReleased, release }: HeldClient, error: unknown): Promise<boolean> {
  // That of a host's own statement has not been noted.
  noteError(client, error)
  if (isReleased()) return false
  const isUndone =
    unfitness(client) === undefined &&
    (await send(client, 'ROLLBACK').then(
      () => true,
      () => false,
    ))
  return release(!isUndone)
}

interface On {
  readonly client: PgClient
}

/**
 * The response to a COMMIT.
 * @param on the connection of the transaction
 * @throws StorageError `unknown` when it may or may not have come through, `conflict`, `unavailable`
 */
export async function committed(result: Promise<PgResult>, on: On | Promise<On>): Promise<void> {
  const { command } = await result.catch((error: unknown) => {
    throw commitError(error)
  })
  // PostgreSQL responds to the COMMIT of a failed transaction with ROLLBACK, and with no error.
  if (command === 'COMMIT') return
  // A caller has swallowed the error that says why, which may be that the server takes no changes.
  noteUnknown((await on).client)
  throw new StorageError('unavailable', 'PostgreSQL has rolled back the transaction')
}
