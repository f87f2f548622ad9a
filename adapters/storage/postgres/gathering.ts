/** Rows of one table that are read one by one in the same tick are one statement. */

import { atEndOfTick } from '../../sql/postgres/wire/send.ts'
import type { ByIds, Statement } from '../../sql/statement.ts'
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
