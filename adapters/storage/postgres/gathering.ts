/** Rows of one table that are asked for one by one in the same tick are one statement. */

import { atEndOfTick } from '../../sql/postgres/client.ts'
import type { Several, Statement } from '../../sql/statement.ts'
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
  const waiting = new Map<Several, Gathered>()

  function gatheredOf(several: Several): Gathered {
    const known = waiting.get(several)
    if (known) return known
    const statements = new Map<string, Statement>()
    const rows = new Promise<void>(atEndOfTick).then(() => {
      waiting.delete(several)
      return rowsOf(run, several, [...statements.values()])
    })
    const gathered = { statements, rows }
    waiting.set(several, gathered)
    return gathered
  }

  return async (statement) => {
    const { several, values } = statement
    if (!several) return run(statement)
    const id = String(values[0])
    const { statements, rows } = gatheredOf(several)
    statements.set(id, statement)
    return (await rows).get(id) ?? []
  }
}

/** The rows of some statements, by id. */
async function rowsOf(run: Run, { sql, place }: Several, statements: readonly Statement[]): Promise<ReadonlyMap<string, Rows>> {
  const ids = statements.map(({ values }) => String(values[0]))
  const [only] = statements
  const rows = await run(statements.length === 1 && only ? only : { sql, values: [ids] })
  return new Map(rows.map((row) => [String(row[place]), [row]]))
}
