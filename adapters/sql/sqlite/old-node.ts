/**
 * Two faults of `node:sqlite` in Node 22, and in early versions of 24 to 26. They are looked for once, and not by the version: Bun
 * and Deno have another `node:sqlite`.
 */
import { createRequire } from 'node:module'
import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** The part of a statement that is used. */
export type PreparedStatement = Pick<StatementSync, 'all' | 'get' | 'run'>

type Value = string | number | null

let found: { readonly bindsNumbers: boolean; readonly readsZeros: boolean; readonly hasFts5: boolean } | undefined

/** At the first use: a program that only names a SQLite storage does not load it. */
function abilities() {
  if (found) return found
  const { DatabaseSync } = createRequire('/')('node:sqlite') as typeof import('node:sqlite')
  const database = new DatabaseSync(':memory:')
  const text = 'a\0b'
  const readsZeros = database.prepare('SELECT ? AS text').get(text)?.['text'] === text
  const options = database.prepare("SELECT sqlite_compileoption_used('ENABLE_FTS5') AS fts5").get()
  found = { bindsNumbers: bindsNumbers(database), readsZeros, hasFts5: options?.['fts5'] === 1 }
  database.close()
  return found
}

function bindsNumbers(database: DatabaseSync): boolean {
  try {
    return database.prepare('SELECT ?1 AS one').get(1)?.['one'] === 1
  } catch {
    return false
  }
}

/** Whether a text with a zero character is read whole. Node 22, 24 before 24.16, 25.0 and 26.0 leave out the rest. */
export const readsZeros = (): boolean => abilities().readsZeros

/** Whether SQLite has its index of texts, as Node's own has. */
export const hasFts5 = (): boolean => abilities().hasFts5

/**
 * Prepares a statement whose parameters are numbered, as `?1`. Its rows are lists if `lists` is true. Node before 22.20, and 24 before
 * 24.7, gives values only to parameters without numbers. There they are given by name.
 * @throws an error of SQLite
 */
export function prepared(database: DatabaseSync, sql: string, lists = false): PreparedStatement {
  const statement = database.prepare(sql)
  if (lists) statement.setReturnArrays(true)
  // The database may be a host's, whose numbers come as BigInt.
  statement.setReadBigInts(false)
  const names = [...new Set(sql.match(/\?\d+/g))]
  if (names.length === 0 || abilities().bindsNumbers) return statement
  const named = (values: readonly unknown[]) =>
    Object.fromEntries(names.map((name) => [name, values[Number(name.slice(1)) - 1] as Value]))
  return {
    all: (...values: unknown[]) => statement.all(named(values)),
    get: (...values: unknown[]) => statement.get(named(values)),
    run: (...values: unknown[]) => statement.run(named(values)),
  }
}
