/** The SQLite store for an operator. */
import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { errorCode } from '../../../../adapters/outbox/file-system.ts'
import { openToLook } from '../../../../adapters/storage/sqlite/look.ts'
import { NoRelayYet, UsageError } from '../../../usage.ts'
import { laneAgain, type OperatorStore, operatorStore } from '../operator.ts'
import { number, text } from '../rows.ts'
import { checkVersion, inTransaction, openDatabase } from './database.ts'

/**
 * Opens the store in a file.
 * @param running the process of the relay that works on it, if one does
 * @param looking nothing is made or changed, the version of the tables included
 * @throws UsageError when no relay has ever run there, or when it may not be read; StorageError
 */
export function openSqliteOperator(
  path: string,
  running: () => Promise<{ readonly pid: number } | undefined>,
  looking = false,
): OperatorStore {
  try {
    statSync(path)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') throw new NoRelayYet(`no relay has run on this outbox yet: ${path} does not exist`)
    throw new UsageError(`the relay's store ${path} may not be read (${code}): run this as the user of the relay`)
  }
  const database = looking ? openToLook(path) : openDatabase(path)
  if (looking) checkVersion(database, path)
  const again = database.prepare(
    `UPDATE deliveries SET state = 'pending', due = ?, attempts = 0, starts = 0, ${laneAgain.replaceAll('$schema.', '')}
     WHERE id = ? AND state <> 'pending'`,
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
    async positions() {
      const rows = database.prepare('SELECT stream, position FROM positions').all()
      return Object.fromEntries(rows.map((row) => [text(row, 'stream'), number(row, 'position')]))
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
