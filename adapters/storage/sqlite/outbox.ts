/** The outbox of a SQLite file, for the relay. */
import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import * as v from 'valibot'
import { shown } from '../../../lib/base/describe-value.ts'
import type { OutboxSource } from '../../../lib/outbox/source.ts'
import { StorageError } from '../../../lib/storage/contract.ts'
import { sqlitePath } from '../../options.ts'
import { whileBusy } from '../../sql/sqlite/busy.ts'
import { connectionOver, openConnection } from '../../sql/sqlite/connection.ts'
import { sqliteDialect } from '../../sql/sqlite/dialect.ts'
import { storageErrorOf } from '../../sql/sqlite/errors.ts'
import { openReadOnly } from '../../sql/sqlite/read-only.ts'
import { outboxSource } from '../sql/outbox-source.ts'
import { openLogFile } from './log.ts'
import { migrateSqlite } from './migrate.ts'

/** Milliseconds to wait for the API server, which writes to the same file. */
const busyTimeoutMs = 5_000

/**
 * The outbox in a SQLite file that an API server uses. Settled rows are deleted.
 *
 * @param path the file, as `--storage sqlite:` names it; it is created if it is missing, so that either may start first
 * @param looking only to look: nothing is made or changed, and the file must be there
 * @param openLog opens the file's write-ahead log to sync it, for tests
 * @throws StorageError `damaged`, `newer`, `full`, `unavailable`
 * @throws TypeError when the first argument is no path
 */
export async function sqliteOutbox(path: string, looking = false, openLog = openLogFile): Promise<OutboxSource> {
  if (!v.is(sqlitePath, path))
    throw new TypeError(
      `sqliteOutbox: the first argument must be the path of a file, such as ./data/db.sqlite, got ${shown(path)}`,
    )
  const file = resolve(path)
  if (!looking) await migrateSqlite({ path: file, tables: [] })
  const connection = looking ? connectionOver(openReadOnly(file), file) : openConnection(file)
  const log = looking ? undefined : await openLog(file)
  const watchers = new Set<FSWatcher>()
  const inode = statSync(file).ino
  const isThere = (): boolean => statSync(file, { throwIfNoEntry: false })?.ino === inode

  return outboxSource({
    dialect: sqliteDialect,
    async run(sql, values) {
      // SQLite keeps a moved or deleted file open, and never finds anything new in it.
      if (!isThere()) throw new StorageError('unavailable', `${file} was moved, deleted or replaced while it was read`)
      return whileBusy(busyTimeoutMs, () => connection.query({ sql, values }))
    },
    watch(changed) {
      // Every commit writes to the write-ahead log. Watching the directory survives the log coming and going.
      const log = `${basename(file)}-wal`
      const watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
        if (name === log) changed()
      })
      // The reader also looks by itself, so nothing depends on the hint.
      watcher.on('error', () => watcher.close())
      watchers.add(watcher)
      return () => {
        watchers.delete(watcher)
        watcher.close()
      }
    },

    // The API server syncs its commits after it has made them. An event of a commit that is lost must not go out.
    async durable() {
      try {
        await log?.datasync()
      } catch (error) {
        throw storageErrorOf(error, file)
      }
    },

    async close() {
      for (const watcher of watchers) watcher.close()
      await log?.close()
      connection.close()
    },
  })
}
