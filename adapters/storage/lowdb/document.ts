/** The content of a lowdb file: `{ "folkmoot": 1, "tables": { name: [row, …] }, "pending": [[record, …], …] }`. */
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import { StorageError } from '../../../lib/storage/contract.ts'
import type { StoredRow } from '../in-memory/row.ts'

/** The version of the format. One that only adds tables or columns stays the same. */
export const format = 1

export interface Document {
  readonly folkmoot: typeof format
  /** The rows of each table, in no particular order. */
  readonly tables: Readonly<Record<string, readonly StoredRow[]>>
  /** Records of commits that may not be in the outbox yet; one list per commit, in order. */
  readonly pending: readonly (readonly OutboxRecord[])[]
}

/**
 * Reads a document, and looks at all of it before anything relies on it.
 *
 * @param bytes the whole file
 * @param path its name, for the messages
 * @throws StorageError `damaged` when it is not ours or not whole, `newer` when a newer version wrote it
 */
export function parseDocument(bytes: Uint8Array, path: string): Document {
  const content = parseJson(bytes, path)
  if (!isObject(content) || !('folkmoot' in content)) throw damaged(path, 'it is JSON, but not a folkmoot database')
  const { folkmoot, tables, pending } = content
  if (typeof folkmoot === 'number' && folkmoot > format) {
    throw new StorageError(
      'newer',
      `${path} was written by a newer version of folkmoot (format ${folkmoot}; this one reads ${format}): update folkmoot, or open another file`,
    )
  }
  if (folkmoot !== format) throw damaged(path, 'its format is not a number that folkmoot ever used')
  if (!isObject(tables)) throw damaged(path, 'it has no tables')
  for (const [name, rows] of Object.entries(tables)) checkRows(name, rows, path)
  if (!Array.isArray(pending) || !pending.every(isCommit)) throw damaged(path, 'its pending events are not lists of records')
  // All relied-upon parts were checked above; the reader of a column checks its values.
  return content as unknown as Document
}

function parseJson(bytes: Uint8Array, path: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw damaged(path, bytes.length === 0 ? 'it is empty' : 'it is not JSON', cause)
  }
}

function checkRows(name: string, rows: unknown, path: string) {
  if (!Array.isArray(rows)) throw damaged(path, `table ${name} is not a list of rows`)
  const ids = new Set<string>()
  for (const row of rows) {
    if (!isObject(row) || typeof row['id'] !== 'string') throw damaged(path, `table ${name} has a row without an id`)
    if (ids.has(row['id'])) throw damaged(path, `table ${name} has two rows with the id ${row['id']}`)
    ids.add(row['id'])
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isCommit = (value: unknown): boolean =>
  Array.isArray(value) && value.every((record) => isObject(record) && 'kind' in record)

function damaged(path: string, reason: string, cause?: unknown): StorageError {
  const message = `${path} cannot be used: ${reason}. It was left as it is; restore a backup, or move it away to start over`
  return new StorageError('damaged', message, { cause })
}
