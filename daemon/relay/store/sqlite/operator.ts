/** The SQLite store for an operator. */
import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { errorCode } from '../../../../adapters/files/errors.ts'
import { openReadOnly } from '../../../../adapters/sql/sqlite/read-only.ts'
import { NoRelayYet, UsageError } from '../../../usage.ts'
import { laneAgain, type OperatorStore, operatorStore } from '../operator.ts'
import { arriving, behind, number, text, textOrNull } from '../rows.ts'
import type { Notice } from '../store.ts'
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
    throw new UsageError(`the relay's store ${path} cannot be read (${code}): run this as the user of the relay`)
  }
  const database = looking ? openReadOnly(path) : openDatabase(path)
  if (looking) checkVersion(database, path)
  const again = database.prepare(
    `UPDATE deliveries SET state = 'pending', due = ?, attempts = 0, starts = 0, ${laneAgain.replaceAll('$schema.', '')}
     WHERE id = ? AND state <> 'pending'`,
  )
  const afresh = database.prepare('UPDATE endpoints SET fresh_starts = fresh_starts + 1 WHERE ref = ? AND removed_at IS NULL')
  const note = database.prepare(
    'INSERT INTO notices (at, kind, network_id, endpoint_id, event_id, text) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const record = ({ kind, network_id, endpoint_id, event_id, text }: Notice, now: number) =>
    note.run(now, kind, network_id, endpoint_id, event_id, text)
  const skipOne = database.prepare(
    `UPDATE deliveries SET state = 'skipped', at = ?, outcome = 'skipped' WHERE id = ? AND state = 'pending'
     RETURNING endpoint, subject, event`,
  )
  const nextOfSubject = database.prepare(
    `UPDATE deliveries SET lane = ${arriving} WHERE lane = ${behind} AND id = (
       SELECT id FROM deliveries WHERE endpoint = ? AND subject = ? AND state = 'pending' AND event > ? ORDER BY event LIMIT 1)`,
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
    skip: async (deliveries, now, noticeOf) =>
      inTransaction(database, () => {
        const rows = deliveries.flatMap((id) => skipOne.all(now, id))
        // The relay that sends finds out whether these are the first ones of their subjects now.
        for (const row of rows) nextOfSubject.run(number(row, 'endpoint'), textOrNull(row, 'subject'), number(row, 'event'))
        if (rows.length > 0) record(noticeOf(rows.length), now)
        return rows.length
      }),
    async startAfresh(ref, now, notice) {
      inTransaction(database, () => {
        afresh.run(ref)
        if (notice) record(notice, now)
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
