/** Counts by slots of time, for charts. */
import { type Plan, type RelayDatabase, rows } from '../database.ts'
import { number } from '../rows.ts'
import type { Slot } from './operator-store.ts'
import { newestOf } from './searches.ts'

/** The slots of the network, by the latest attempts of the newest deliveries of each endpoint. */
export function* slotsOf(
  database: RelayDatabase,
  network: string,
  since: number,
  length: number,
  newest: number,
): Plan<readonly Slot[]> {
  const deliveries =
    database.dialect.engine === 'sqlite'
      ? `$schema.deliveries d INDEXED BY deliveries_endpoint ON d.endpoint = p.ref AND d.id > 0
           AND d.id >= coalesce((${newestOf(database, 'i.id', 'LIMIT 1 OFFSET ?4')}), 0)`
      : `LATERAL (${newestOf(database, 'i.at, i.state', 'LIMIT ?4')}) d`
  const found = yield* rows(
    `SELECT p.id AS endpoint, d.at / CAST(?3 AS bigint) AS slot, count(*) AS attempts,
       sum(CASE WHEN d.state = 'delivered' THEN 1 ELSE 0 END) AS delivered
     FROM $schema.endpoints p CROSS JOIN ${deliveries}
     WHERE p.network_id = ?1 AND p.removed_at IS NULL AND d.at >= ?2
     GROUP BY p.id, d.at / CAST(?3 AS bigint) ORDER BY 2`,
    [network, since, length, newest],
  )
  return found.map((each) => ({
    endpoint_id: String(each['endpoint']),
    at: number(each, 'slot') * length,
    delivered: number(each, 'delivered'),
    failed: number(each, 'attempts') - number(each, 'delivered'),
  }))
}
