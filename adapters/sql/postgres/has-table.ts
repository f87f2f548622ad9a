/** Looking into a PostgreSQL database without changing anything. */

import { unreachable } from './errors.ts'
import { newClient } from './pool.ts'
import { send } from './wire/send.ts'

/**
 * Whether a table is there.
 * @param table its name with its schema, both quoted
 * @throws StorageError `unavailable` when the database cannot be reached
 */
export async function hasTable(url: string, table: string): Promise<boolean> {
  const client = await newClient({ connectionString: url, connectionTimeoutMillis: 5_000, statement_timeout: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await send(client, 'SELECT to_regclass($1)', [table])
    return rows[0]?.[0] != null
  } catch (error) {
    throw unreachable(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}
