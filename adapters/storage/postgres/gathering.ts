/** Rows of one table that are asked for, or added, one by one in the same tick are one statement. */

import type { SqlValue } from '../../sql/dialect.ts'
import { atEndOfTick } from '../../sql/postgres/wire/send.ts'
import type { ByIds, ManyRows, Statement } from '../../sql/statement.ts'
import type { Rows } from '../sql/session.ts'

type Run = (statement: Statement) => Promise<Rows>

/** Statements that ask for one row each of one table, by its id. */
interface Gathered {
  readonly statements: Map<string, Statement>
  readonly rows: Promise<ReadonlyMap<string, Rows>>
}

/**
 * Runs statements. Those that ask for a row by id wait for the end of the tick, and go out as one for each table.
 * @param run runs a statement
 */
export function gathering(run: Run): (statement: Statement) => Promise<Rows> {
  const waiting = new Map<ByIds, Gathered>()

  function gatheredOf(byIds: ByIds): Gathered {
    const known = waiting.get(byIds)
    if (known) return known
    const statements = new Map<string, Statement>()
    const rows = new Promise<void>(atEndOfTick).then(() => {
      waiting.delete(byIds)
      return rowsOf(run, byIds, [...statements.values()])
    })
    const gathered = { statements, rows }
    waiting.set(byIds, gathered)
    return gathered
  }

  return async (statement) => {
    const { byIds, values } = statement
    if (!byIds) return run(statement)
    const id = String(values[0])
    const { statements, rows } = gatheredOf(byIds)
    statements.set(id, statement)
    return (await rows).get(id) ?? []
  }
}

/** The rows of some statements, by id. */
async function rowsOf(run: Run, { sql, place }: ByIds, statements: readonly Statement[]): Promise<ReadonlyMap<string, Rows>> {
  const ids = statements.map(({ values }) => String(values[0]))
  const [only] = statements
  const rows = await run(statements.length === 1 && only ? only : { sql, values: [ids] })
  return new Map(rows.map((row) => [String(row[place]), [row]]))
}

/** Fewer inserts cost less one by one. */
const leastTogether = 4

/** Inserts into one table that wait for the end of the tick. */
interface Waiting {
  readonly statements: Map<string, Statement>
  readonly added: Promise<ReadonlySet<string>>
}

/**
 * Runs inserts, and returns whether each row went in. Those into one table wait for the end of the tick, and go out as one.
 * @param insert runs one
 * @param query runs the one for several
 */
export function gatheringInserts(insert: (statement: Statement) => Promise<boolean>, query: Run): typeof insert {
  const waiting = new Map<ManyRows, Waiting>()

  async function addAll({ sql, place, lists }: ManyRows, statements: readonly Statement[]): Promise<ReadonlySet<string>> {
    const idOf = ({ values }: Statement) => String(values[place])
    if (statements.length < leastTogether) {
      const added = await Promise.all(statements.map(insert))
      return new Set(statements.filter((_, index) => added[index]).map(idOf))
    }
    const columns = (statements[0]?.values ?? []).map((_, column) => statements.map(({ values }) => values[column] as SqlValue))
    const rows = await query({ sql, values: lists(columns), writes: statements[0]?.writes ?? '' })
    return new Set(rows.map(([id]) => String(id)))
  }

  function waitingFor(manyRows: ManyRows): Waiting {
    const known = waiting.get(manyRows)
    if (known) return known
    const statements = new Map<string, Statement>()
    const added = new Promise<void>(atEndOfTick).then(() => {
      waiting.delete(manyRows)
      return addAll(manyRows, [...statements.values()])
    })
    const inserts = { statements, added }
    waiting.set(manyRows, inserts)
    return inserts
  }

  return async (statement) => {
    const { manyRows, values } = statement
    if (!manyRows) return insert(statement)
    const id = String(values[manyRows.place])
    const { statements, added } = waitingFor(manyRows)
    // Only one of two with the same id goes in, and the answer would not tell which.
    if (statements.has(id)) return insert(statement)
    statements.set(id, statement)
    return (await added).has(id)
  }
}
