/** Looking into a SQLite file without leaving a trace. */
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from './module.ts'

/**
 * Opens a file for reading alone. Without a write-ahead log next to it no process uses the file, and SQLite gets that hint. It
 * would make a log otherwise, and leave it there.
 */
export function openReadOnly(path: string): DatabaseSync {
  const address = pathToFileURL(path)
  if (!existsSync(`${path}-wal`)) address.searchParams.set('immutable', '1')
  return new DatabaseSync(address, { readOnly: true, timeout: 5_000 })
}

/**
 * Whether a file has a table.
 * @throws what SQLite throws when the file cannot be read
 */
export function hasTable(path: string, name: string): boolean {
  const database = openReadOnly(path)
  try {
    return database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined
  } finally {
    database.close()
  }
}
