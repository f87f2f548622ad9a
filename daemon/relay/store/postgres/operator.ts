/** The PostgreSQL store for an operator. */
import { operatorStore } from '../operator/operator.ts'
import type { OperatorStore } from '../operator/operator-store.ts'
import { number, text } from '../rows.ts'
import { type DatabaseOptions, openDatabase, type PostgresDatabase } from './database.ts'

/**
 * Walks read an index in its order, and stop early. A plan without statistics would read everything first, and sort it.
 */
const planner = { enable_bitmapscan: 'off', enable_sort: 'off' }

/** The database for the statements of an operator. @throws UsageError when no relay has ever run there, StorageError */
export const openOperatorDatabase = (options: DatabaseOptions): Promise<PostgresDatabase> =>
  openDatabase({ ...options, planner, poolSize: 1, make: false })

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
    problems: async () => [],
  })
}
