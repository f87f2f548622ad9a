/** The PostgreSQL store for an operator. */
import { laneAgain, type OperatorStore, operatorStore } from '../operator.ts'
import { number, text } from '../rows.ts'
import { type DatabaseOptions, durable, openDatabase } from './database.ts'
import { nextVersion, startAfresh, touch, writeNotices } from './take.ts'

/** Opens the store that the relays of a database share. @throws UsageError when no relay has ever run there, StorageError */
export async function openPostgresOperator(options: DatabaseOptions): Promise<OperatorStore> {
  const database = await openDatabase({ ...options, poolSize: 1, make: false })
  return operatorStore({
    rows: (sql, values = []) => database.rows(sql.replaceAll(/\?(\d+)/g, '$$$1'), values),
    makeDue: (deliveries) =>
      database.transaction(async (session) => {
        await durable(session)
        const version = await nextVersion(session)
        const rows = await session.rows(
          `UPDATE $schema.deliveries d SET state = 'pending', due = g.due, attempts = 0, starts = 0, ${laneAgain}
           FROM unnest($1::bigint[], $2::bigint[]) AS g (id, due) WHERE d.id = g.id AND d.state <> 'pending'
           RETURNING d.endpoint`,
          [deliveries.map(({ delivery }) => delivery), deliveries.map(({ due }) => due)],
        )
        await touch(session, [...new Set(rows.map((row) => number(row, 'endpoint')))], version)
        return rows.length
      }),
    async relays() {
      const rows = await database.rows(
        `SELECT host, process->>'pid' AS pid FROM $schema.relays WHERE expires_at > clock_timestamp() ORDER BY started_at`,
      )
      return rows.map((row) => ({ host: text(row, 'host'), pid: number(row, 'pid') }))
    },
    startAfresh: (ref, now, notice) =>
      database.transaction(async (session) => {
        await startAfresh(session, ref, false)
        await writeNotices(session, notice ? [notice] : [], now)
      }),
    positions: async () => ({}),
    problems: async () => [],
    close: () => database.close(),
  })
}
