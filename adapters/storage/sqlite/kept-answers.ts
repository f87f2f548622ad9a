/**
 * Answers to reads that are asked for again. An answer is the same until this process changes its table, or somebody else commits.
 *
 * Terms
 * - **State** of the file: a number that is another one after each change that this process has heard of.
 * - **Generations**: what was asked for lately, and what was asked for before that. The older one goes when the other is full.
 */
import type { Connection } from '../../sql/sqlite/connection.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Rows } from '../sql/session.ts'
import type { Tables } from './unsynced.ts'
import { countOfOthers } from './version.ts'

export interface KeptAnswers {
  /**
   * A snapshot begins, on a connection that has a transaction and has read nothing in it. It reads from now on.
   * @returns the state of the file that it sees; `NaN` if nobody can tell
   */
  begun(connection: Connection): number
  /** An answer in this state, asked for only if it is not kept. @throws what `ask` throws */
  of(statement: Statement, state: number, ask: (statement: Statement) => Rows): Rows
  /** This process has committed changes of these tables. */
  committed(tables: Tables): void
}

/** A statement that was asked. Its answer is kept from the second time on. */
interface Asked {
  /** Of its values and its answer. */
  readonly size: number
  rows?: Rows
}

/** By table, by the text of the statement, and by its values. */
type Generation = Map<string, Map<string, Map<unknown, Asked>>>

/** Bytes of a generation, and of an answer. One that was asked for once counts, so a walk through a long list keeps nothing. */
const [mostBytes, longest] = [4 * 2 ** 20, 512 * 2 ** 10]

/** @param haveCommitted whether others have committed since its last call; @throws what SQLite throws */
export function keptAnswers(haveCommitted: () => boolean): KeptAnswers {
  let young: Generation = new Map()
  let old: Generation = new Map()
  let size = 0
  let state = 0
  /** The commits that each connection has seen, by its own count. */
  const counts = new WeakMap<Connection, { readonly now: () => number; last: number }>()

  function committed(tables: Tables): void {
    if (tables !== 'any' && tables.size === 0) return
    state += 1
    if (tables === 'any') {
      young.clear()
      old.clear()
      size = 0
      return
    }
    // The size stays: it is only a bound.
    for (const name of tables) {
      young.delete(name)
      old.delete(name)
    }
  }

  function put(table: string, sql: string, key: unknown, asked: Asked): void {
    if (size + asked.size > mostBytes) {
      old = young
      young = new Map()
      size = 0
    }
    const statements = young.get(table) ?? new Map<string, Map<unknown, Asked>>()
    const known = statements.get(sql)
    const answers = known ?? new Map<unknown, Asked>()
    size += asked.size + (known ? 0 : sql.length)
    young.set(table, statements.set(sql, answers.set(key, asked)))
  }

  function find(table: string, sql: string, key: unknown): Asked | undefined {
    const found = young.get(table)?.get(sql)?.get(key)
    if (found) return found
    const older = old.get(table)?.get(sql)?.get(key)
    if (older) put(table, sql, key, older)
    return older
  }

  return {
    committed,
    begun(connection) {
      try {
        const count = counts.get(connection) ?? { now: countOfOthers(connection), last: Number.NaN }
        counts.set(connection, count)
        const now = count.now()
        if (now === count.last) return state
        const isKnown = !haveCommitted()
        count.last = now
        if (isKnown) return state
        // Somebody may have committed again since this snapshot began, so it keeps nothing.
        committed('any')
      } catch {
        // The next read reports the fault.
      }
      return Number.NaN
    },
    of(statement, seen, ask) {
      const { sql, values, reads } = statement
      if (reads === undefined || seen !== state) return ask(statement)
      const key = values.length === 1 ? values[0] : JSON.stringify(values)
      const asked = find(reads, sql, key)
      if (asked?.rows) return asked.rows
      const rows = ask(statement)
      if (asked) asked.rows = rows
      else {
        const size = sizeOf(rows, key)
        if (size <= longest) put(reads, sql, key, { size })
      }
      return rows
    },
  }
}

/** About the bytes of an answer, with those of its place. Callers choose values, and may choose long ones. */
function sizeOf(rows: Rows, key: unknown): number {
  let size = 200 + (typeof key === 'string' ? key.length : 0)
  for (const row of rows)
    for (const value of row) {
      if (typeof value === 'string') size += value.length
      else if (value instanceof Uint8Array) size += value.length
      size += 16
    }
  return size
}
