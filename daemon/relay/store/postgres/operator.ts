/** The PostgreSQL store for an operator. */
import { isReadOnly } from '../../../../adapters/sql/postgres/errors.ts'
import { operatorStore } from '../operator/operator.ts'
import type { OperatorStore } from '../operator/operator-store.ts'
import { number, text } from '../rows.ts'
import { type DatabaseOptions, openDatabase, type PostgresDatabase } from './database.ts'

/**
 * Walks read an index in its order, and stop early. A plan without statistics would read everything first, and sort it.
 */
const planner = { enable_bitmapscan: 'off', enable_sort: 'off' }

/**
 * The database for the statements of an operator; to look alone if it takes no changes.
 * @throws UsageError when no relay has ever run there, StorageError
 */
export async function openOperatorDatabase(options: DatabaseOptions): Promise<PostgresDatabase> {
  const given = { ...options, planner, poolSize: 1, make: false }
  try {
    return await openDatabase(given)
  } catch (error) {
    if (!(error instanceof Error && isReadOnly(error.cause))) throw error
    return openDatabase({ ...given, looking: true })
  }
}

const noChanges =
  'the database takes no changes: it is a standby, or default_transaction_read_only is on. Give the address of the primary'

/** Opens the store that the relays of a database share. @throws UsageError when no relay has ever run there, StorageError */
export async function openPostgresOperator(options: DatabaseOptions): Promise<OperatorStore> {
  const database = await openOperatorDatabase(options)
  return operatorStore(database, {
    async relays() {
      const found = await database.rows(
        `SELECT host, process->>'pid' AS pid FROM $schema.relays WHERE expires_at > clock_timestamp() ORDER BY started_at`,
      )
      return found.map((each) => ({ host: text(each, 'host'), pid: number(each, 'pid') }))
    },
    positions: async () => ({}),
    async problems() {
      // Not the present value: those who only look have set it.
      const [found = {}] = await database.rows(
        `SELECT pg_is_in_recovery() OR reset_val = 'on' AS refuses FROM pg_settings WHERE name = 'default_transaction_read_only'`,
      )
      return found['refuses'] === 't' ? [noChanges] : []
    },
  })
}
