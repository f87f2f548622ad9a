/** One transaction on one connection. */
import { createHash } from 'node:crypto'
import { StorageError, type Tx, UniqueViolation } from '../../../lib/storage/contract.ts'
import type { Dialect } from '../sql/dialect.ts'
import { keyOfIndex } from '../sql/schema.ts'
import { type Executor, openSession } from '../sql/session.ts'
import type { Statement, Statements } from '../sql/statements.ts'
import type { TableShape } from '../sql/values.ts'
import { type PgClient, send } from './client.ts'
import { storageErrorOf, violatedIndex } from './errors.ts'

/** What the statements of one storage have in common. */
export interface Language {
  readonly dialect: Dialect
  readonly statements: Statements
  /** Whether statements are prepared under a name. Off for poolers that give every transaction another connection. */
  readonly prepared: boolean
  readonly onStatement: ((statement: Statement) => void) | undefined
}

const names = new Map<string, string>()

/** The same text has the same name in every process, as poolers that share prepared statements need it. */
export function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `folkmoot_${createHash('sha1').update(text).digest('hex')}`
  names.set(text, name)
  return name
}

/**
 * Runs work on a connection that has a transaction open, and neither begins nor ends one.
 *
 * @throws what `work` throws, or the error of a statement that `work` has caught: PostgreSQL undoes the transaction anyway
 */
export async function inSession<T>(
  client: PgClient,
  language: Language,
  readOnly: boolean,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const executor = executorOver(client, language)
  const session = openSession(executor, language.statements, readOnly)
  try {
    const value = await work(session.tx)
    executor.check()
    return value
  } finally {
    session.end()
  }
}

function executorOver(client: PgClient, { dialect, prepared, onStatement }: Language): Executor & { check(): void } {
  /** The error that made PostgreSQL give up the transaction. */
  let failure: { readonly error: unknown } | undefined

  function check(): void {
    if (failure) throw failure.error
  }

  function failed(error: unknown): unknown {
    failure = { error: storageErrorOf(error) }
    return failure.error
  }

  async function query({ sql, values }: Statement): Promise<readonly unknown[][]> {
    onStatement?.({ sql, values })
    return (await send(client, sql, values, prepared ? nameOf(sql) : undefined)).rows
  }

  return {
    native: client,
    check,

    async query(statement) {
      check()
      try {
        return await query(statement)
      } catch (error) {
        throw failed(error)
      }
    },

    async attempt(statement, table) {
      check()
      try {
        await send(client, 'SAVEPOINT attempt')
        const rows = await query(statement).catch(async (error: unknown) => {
          const violation = violationOf(error, dialect, table)
          if (!violation) throw error
          await send(client, 'ROLLBACK TO attempt')
          return violation
        })
        await send(client, 'RELEASE attempt')
        if (rows instanceof StorageError) throw rows
        return rows
      } catch (error) {
        throw error instanceof UniqueViolation ? error : failed(error)
      }
    },
  }
}

function violationOf(error: unknown, dialect: Dialect, table: TableShape): UniqueViolation | undefined {
  const index = violatedIndex(error)
  if (index === undefined) return undefined
  const key = index === `${table.name}_pkey` ? ['id'] : keyOfIndex(dialect, table, index)
  return key && new UniqueViolation(table.name, key)
}
