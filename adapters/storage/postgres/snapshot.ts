/** Snapshots: transactions that only read, each shared by several reads. */
import { Conflict } from '../../../lib/storage/contract.ts'
import type { PgPool } from '../../sql/postgres/connection.ts'
import { faultOf, storageErrorOf } from '../../sql/postgres/errors.ts'
import { type Beginning, beginAhead } from '../../sql/postgres/transaction.ts'
import { keep, send } from '../../sql/postgres/wire/send.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Rows } from '../sql/session.ts'
import type { Snapshot } from '../sql/snapshots.ts'
import { type Language, named, type Sender, senderAfter } from './transaction-sender.ts'

const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY'

/**
 * Opens a snapshot on a separate connection.
 *
 * @param connectTimeoutMs milliseconds, tries after a lost connection included
 * @param ended is given the end of the snapshot, for which no caller has to wait: it changed nothing
 * @param isHosts whether the pool is a host's
 * @throws StorageError `unavailable` when there is no connection in time
 */
export async function openSnapshot(
  pool: PgPool,
  language: Language,
  connectTimeoutMs: number,
  ended: (end: Promise<void>) => void,
  isHosts: boolean,
): Promise<Snapshot> {
  const beginning = await beginAhead(pool, named(language, begin), connectTimeoutMs)
  const sender = senderAfter(beginning, language)
  return {
    native: () => sender.handOver(),
    begun: beginning.begun,
    query: readsOn(sender),
    end: () => ended(endOf(beginning, named(language, 'COMMIT').name, isHosts)),
  }
}

/** Ends a snapshot. Where the connection sends ahead, our next transaction on it need not wait for that. */
async function endOf({ begun }: Beginning, name: string | undefined, isHosts: boolean): Promise<void> {
  const held = await begun
  // A host's BEGIN would overtake the COMMIT, which would end the host's transaction.
  const letGo = held.client.pipeline && !isHosts ? keep(held.client) : undefined
  const broken = send(held.client, 'COMMIT', [], name).then(
    () => false,
    () => true,
  )
  // With a BEGIN of the next turn it is one message less. If it fails, that BEGIN fails, and has another connection.
  if (letGo) {
    held.release()
    setImmediate(() => setImmediate(letGo))
  }
  const isBroken = await broken
  if (!letGo) held.release(isBroken)
}

/** Runs the statements of the reads. If one fails, its read gets the error, and the others `conflict`. */
function readsOn(sender: Sender): (statement: Statement) => Promise<Rows> {
  let failed = false
  return async (statement) => {
    if (failed) throw new Conflict('another read in the same snapshot failed')
    try {
      return (await sender.run(statement)).rows
    } catch (error) {
      if (failed || faultOf(error) === 'aborted') throw new Conflict('another read in the same snapshot failed', { cause: error })
      failed = true
      throw storageErrorOf(error)
    }
  }
}
