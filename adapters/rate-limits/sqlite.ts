/**
 * Rate limits for one machine: a small SQLite file next to the one of the storage, which every process counts in.
 *
 * A separate file, never synced: a count is worth nothing after a minute. In the storage's file each request, even a read,
 * would wait for the writer.
 */
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as v from 'valibot'
import { isStorageError } from '../../lib/storage/contract.ts'
import { callable, checkOptions, positive, type RulesOf, sqlitePath } from '../options.ts'
import { whileBusy } from '../sql/sqlite/busy.ts'
import type { Connection } from '../sql/sqlite/connection.ts'
import { sqliteDialect } from '../sql/sqlite/dialect.ts'
import { storageErrorOf } from '../sql/sqlite/errors.ts'
import { type CountTable, type SharedRateLimits, sharedRateLimits } from './shared.ts'

/** The file of the counts, and how long requests wait for it. */
export interface SqliteRateLimitOptions {
  /** The file of the storage, as `sqliteStorage` has it. The counts are next to it, in the directory `<path>-rate-limits`. */
  readonly path: string
  /** Milliseconds to wait while another process counts, before this one counts for itself. Default 1,000. */
  readonly timeoutMs?: number
  /** Milliseconds until counts that could not be shared are tried again. Default 5,000. */
  readonly retryMs?: number
  /** Is told when the counts cannot be shared, and when they can again. Default `console.warn`. */
  readonly warn?: (sentence: string) => void
}

const rules = {
  path: sqlitePath,
  timeoutMs: v.optional(positive, 1_000),
  retryMs: v.optional(positive, 5_000),
  warn: v.optional(callable<NonNullable<SqliteRateLimitOptions['warn']>>(), () => console.warn),
} satisfies RulesOf<SqliteRateLimitOptions>

const makeTable =
  'CREATE TABLE IF NOT EXISTS "rate_limits" ("key" TEXT PRIMARY KEY, "used" INTEGER NOT NULL, "ends_at" INTEGER NOT NULL) STRICT, WITHOUT ROWID'

const { now } = sqliteDialect
/** A minute that ends later than this was begun before the clock was set back. */
const running = `"ends_at" > ${now} AND "ends_at" <= ${now} + 120000`
const addAll = `INSERT INTO "rate_limits" ("key", "used", "ends_at")
  SELECT "key", "value", ${now} + 60000 FROM json_each(?) WHERE TRUE
  ON CONFLICT ("key") DO UPDATE SET
    "used" = iif(${running}, "used" + excluded."used", excluded."used"),
    "ends_at" = iif(${running}, "ends_at", excluded."ends_at")
  RETURNING "key", "used", "ends_at" - ${now}`
const sweepAll = `DELETE FROM "rate_limits" WHERE NOT (${running})`

/**
 * Rate limits that all processes on one SQLite file count together, to the request (interface.md, 8.2).
 *
 * @returns limits that never refuse because of the file: while it does not answer, each process counts for itself
 * @throws StorageError `unavailable`, `full` when the file next to the storage's cannot be made
 * @throws TypeError that lists every option that is missing, malformed or unknown
 */
export async function sqliteRateLimits(options: SqliteRateLimitOptions): Promise<SharedRateLimits> {
  const { path, timeoutMs, retryMs, warn } = checkOptions('sqliteRateLimits', rules, options, "{ path: './data/db.sqlite' }")
  const directory = `${resolve(path)}-rate-limits`
  return sharedRateLimits(await countTable(directory, timeoutMs), { warn, retryMs })
}

async function countTable(directory: string, timeoutMs: number): Promise<CountTable> {
  // Loaded here, so that `folkmoot/rate-limits` loads where there is no `node:sqlite`.
  const { openConnection } = await import('../sql/sqlite/connection.ts')
  const file = join(directory, 'counts.sqlite')
  let connection: Promise<Connection> | undefined = open()
  await connection

  async function open(): Promise<Connection> {
    try {
      return await whileBusy(timeoutMs, opened)
    } catch (error) {
      if (!isStorageError(error) || error.code !== 'damaged') throw error
      // Left so by a machine that lost its power. There is nothing in it that a minute would not have ended.
      for (const each of [file, `${file}-wal`, `${file}-shm`]) await rm(each, { force: true })
      return whileBusy(timeoutMs, opened)
    }
  }

  function opened(): Connection {
    const made = openConnection(file)
    try {
      made.database.exec(`PRAGMA synchronous = OFF; PRAGMA busy_timeout = 2; PRAGMA cache_size = -1000; ${makeTable}`)
      return made
    } catch (error) {
      made.close()
      throw storageErrorOf(error, file)
    }
  }

  async function run(sql: string, ...values: readonly string[]): Promise<readonly (readonly unknown[])[]> {
    connection ??= open()
    const opening = connection
    try {
      const { query } = await opening
      return await whileBusy(timeoutMs, () => query({ sql, values }))
    } catch (error) {
      // Opened again by the next try: the file may have been damaged, or taken away.
      if (connection === opening) connection = undefined
      await closed(opening)
      throw error
    }
  }

  return {
    add: (requests) => run(addAll, JSON.stringify(Object.fromEntries(requests))),
    sweep: () => run(sweepAll),
    async close() {
      const last = connection
      connection = undefined
      if (last) await closed(last)
    },
  }
}

/** Closes a connection, if it was ever opened. */
const closed = (opening: Promise<Connection>): Promise<void> =>
  opening.then(
    (connection) => connection.close(),
    () => undefined,
  )
