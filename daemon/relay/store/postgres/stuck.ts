/** Ends connections that hold what other relays need, for a relay that does not go on: a stopped process, a network that swallows everything. */
import { connectionName, type PostgresDatabase } from './database.ts'

/**
 * PostgreSQL itself ends a transaction that stands still (`idle_in_transaction_session_timeout`). It does not do so while it sends a response
 * that the client doesn't read, and not for commands and relays of earlier versions. Only those of the same role are seen, and may be ended.
 *
 * $1: milliseconds. A connection that holds no lock on a table of these relays is not in the way.
 */
const ending = `
  SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
  WHERE a.datname = current_database() AND a.usename = current_user AND a.application_name = '${connectionName}'
    AND (a.state LIKE 'idle in transaction%' OR a.state = 'active' AND a.wait_event = 'ClientWrite')
    AND a.state_change < clock_timestamp() - $1::double precision * interval '1 millisecond'
    AND EXISTS (
      SELECT 1 FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
      WHERE l.pid = a.pid AND l.database = a.datid AND c.relnamespace = '$schema'::regnamespace)`

/**
 * Ends transactions of relays on these tables that have stood still for too long. They are undone.
 * @param patience milliseconds
 */
export async function endStuck(database: PostgresDatabase, patience: number): Promise<void> {
  await database.rows(ending, [patience])
}
