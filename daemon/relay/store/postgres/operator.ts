/** The PostgreSQL store for an operator. */
import { operatorStore } from '../operator/operator.ts'
import type { OperatorStore } from '../operator/operator-store.ts'
import { number, text } from '../rows.ts'
import { type DatabaseOptions, openDatabase } from './database.ts'

/** Opens the store that the relays of a database share. @throws UsageError when no relay has ever run there, StorageError */
export async function openPostgresOperator(options: DatabaseOptions): Promise<OperatorStore> {
  const database = await openDatabase({ ...options, poolSize: 1, make: false })
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
