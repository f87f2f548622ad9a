/** The SQLite store for an operator. */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { UsageError } from '../../../usage.ts'
import { type OperatorStore, operatorStore } from '../operator.ts'
import { text } from '../rows.ts'
import { inTransaction, openDatabase } from './database.ts'

/**
 * Opens the store in a file.
 * @param running the process of the relay that works on it, if one does
 * @throws UsageError when no relay has ever run there, StorageError
 */
export function openSqliteOperator(path: string, running: () => Promise<{ readonly pid: number } | undefined>): OperatorStore {
  if (!existsSync(path)) throw new UsageError(`no relay has run on this outbox yet: ${path} does not exist`)
  const database = openDatabase(path)
  const again = database.prepare(
    `UPDATE deliveries SET state = 'pending', lane = 0, due = ?, attempts = 0, starts = 0 WHERE id = ? AND state <> 'pending'`,
  )
  const afresh = database.prepare('UPDATE endpoints SET fresh_starts = fresh_starts + 1 WHERE ref = ? AND removed_at IS NULL')
  const note = database.prepare(
    'INSERT INTO notices (at, kind, network_id, endpoint_id, event_id, text) VALUES (?, ?, ?, ?, ?, ?)',
  )
  return operatorStore({
    rows: async (sql, values = []) => database.prepare(sql.replaceAll('$schema.', '')).all(...values),
    makeDue: async (deliveries) =>
      inTransaction(database, () =>
        deliveries.reduce((made, { delivery, due }) => made + Number(again.run(due, delivery).changes), 0),
      ),
    async relays() {
      const owner = await running()
      return owner ? [{ host: hostname(), pid: owner.pid }] : []
    },
    async startAfresh(ref, now, notice) {
      inTransaction(database, () => {
        afresh.run(ref)
        if (notice) note.run(now, notice.kind, notice.network_id, notice.endpoint_id, notice.event_id, notice.text)
      })
    },
    problems: async () =>
      database
        .prepare('PRAGMA quick_check')
        .all()
        .map((row) => text(row, 'quick_check'))
        .filter((each) => each !== 'ok'),
    close: async () => database.close(),
  })
}
