/** The PostgreSQL store for an operator. */
import { laneAgain, type OperatorStore, operatorStore } from '../operator.ts'
import { arriving, behind, number, text } from '../rows.ts'
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
    skip: (deliveries, now, noticeOf) =>
      database.transaction(async (session) => {
        await durable(session)
        const version = await nextVersion(session)
        // Whoever puts deliveries in order at this moment still takes these for the first ones of their subjects.
        await session.rows('SELECT id FROM $schema.relays ORDER BY id FOR UPDATE')
        const rows = await session.rows(
          `UPDATE $schema.deliveries SET state = 'skipped', at = $2, outcome = 'skipped'
           WHERE id = ANY($1::bigint[]) AND state = 'pending' RETURNING endpoint, subject, event`,
          [deliveries, now],
        )
        if (rows.length === 0) return 0
        // The relay that sends finds out whether these are the first ones of their subjects now.
        const ordered = rows.filter((row) => row['subject'] != null)
        const column = (name: string) => ordered.map((row) => row[name])
        await session.rows(
          `UPDATE $schema.deliveries SET lane = ${arriving} WHERE lane = ${behind} AND state = 'pending' AND id IN (
             SELECT n.id FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS g (endpoint, subject, event) CROSS JOIN LATERAL (
               SELECT d.id FROM $schema.deliveries d WHERE d.endpoint = g.endpoint AND d.subject = g.subject AND d.state = 'pending'
                 AND d.event > g.event ORDER BY d.event LIMIT 1) AS n)`,
          [column('endpoint'), column('subject'), column('event')],
        )
        await touch(session, [...new Set(rows.map((row) => number(row, 'endpoint')))], version)
        await writeNotices(session, [noticeOf(rows.length)], now)
        return rows.length
      }),
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
