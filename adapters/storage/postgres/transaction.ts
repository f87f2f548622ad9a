/** One transaction on one connection. */
import { partsOf } from '../../../lib/outbox/parts.ts'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import { type Tx, UniqueViolation } from '../../../lib/storage/contract.ts'
import type { Dialect } from '../../sql/dialect.ts'
import type { PgResult } from '../../sql/postgres/connection.ts'
import { faultOf, storageErrorOf, violatedIndex } from '../../sql/postgres/errors.ts'
import type { TableShape } from '../../sql/values.ts'
import { keyOfIndex } from '../sql/schema.ts'
import { inSession, type Writer } from '../sql/session.ts'
import { type Connection, type Language, senderAfter } from './transaction-sender.ts'

/** A transaction that is open on a connection; its opener ends it. */
export interface Transaction extends Writer {
  /** @throws the error of a statement that `work` has caught: PostgreSQL undoes the transaction anyway */
  check(): void
  /**
   * Sends the remaining statements, with the statement that ends the transaction.
   * @returns the result of that statement
   * @throws what `pg` throws
   */
  endWith(statement: string): Promise<PgResult>
  /** Whether there were records for the outbox. */
  appended(): boolean
  /** See `TransactionSender`. */
  hasBegun(): boolean
}

/** @throws what `work` throws, and what `check` does */
export async function runIn<T>(
  transaction: Transaction,
  { statements }: Language,
  readOnly: boolean,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const value = await inSession(transaction, readOnly ? undefined : transaction, statements, work)
  transaction.check()
  return value
}

export function transactionOn(connection: Connection, language: Language): Transaction {
  const { dialect, statements } = language
  const sender = senderAfter(connection, language)
  const { run, send, end, handOver } = sender
  /** They travel with the end of the transaction: no caller waits for a response in between. Many of them go out before. */
  let records: readonly OutboxRecord[] = []
  let appended = false
  /** The error that made PostgreSQL abort the transaction. */
  let failure: { readonly error: unknown; readonly cause: unknown } | undefined

  function check(): void {
    if (failure) throw failure.error
  }

  /** Of statements that were sent together, the first that fails makes the others fail. */
  function failed(error: unknown): unknown {
    if (!failure || faultOf(failure.cause) === 'aborted') failure = { error: storageErrorOf(error), cause: error }
    return failure.error
  }

  return {
    native: () => handOver(),
    check,

    async query(statement) {
      check()
      try {
        return (await run(statement)).rows
      } catch (error) {
        throw failed(error)
      }
    },

    async insert(statement) {
      check()
      try {
        return (await run(statement)).rowCount === 1
      } catch (error) {
        throw failed(error)
      }
    },

    async append(added) {
      check()
      appended ||= added.length > 0
      const parts = [...partsOf([...records, ...added])]
      records = parts.pop() ?? []
      try {
        await inOrder(parts.map((part) => run(statements.append(part))))
      } catch (error) {
        throw failed(error)
      }
    },

    async attempt(statement, table) {
      check()
      const sent = [send('SAVEPOINT attempt'), run(statement), send('RELEASE attempt')]
      try {
        return (await inOrder(sent))[1]?.rows ?? []
      } catch (error) {
        const violation = violationOf(error, dialect, table)
        if (!violation) throw failed(error)
        await inOrder([send('ROLLBACK TO attempt'), send('RELEASE attempt')]).catch((lost: unknown) => {
          throw failed(lost)
        })
        throw violation
      }
    },

    appended: () => appended,

    hasBegun: sender.hasBegun,

    async endWith(statement) {
      if (records.length === 0) return end(statement)
      return (await inOrder([run(statements.append(records)), end(statement)]))[1]
    },
  }
}

/** All results. @throws when all are there: the error of the first that failed, of which the others are consequences */
async function inOrder<const T extends readonly unknown[]>(results: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(results)
  for (const result of results) await result
  return Promise.all(results)
}

function violationOf(error: unknown, dialect: Dialect, table: TableShape): UniqueViolation | undefined {
  const index = violatedIndex(error)
  if (index === undefined) return undefined
  const key = index === `${table.name}_pkey` ? ['id'] : keyOfIndex(dialect, table, index)
  return key && new UniqueViolation(table.name, key)
}
