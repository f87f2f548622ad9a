/**
 * Pages that are asked for again. PostgreSQL makes and sends their text only if a row has changed. The text is most of its work
 * for a page.
 *
 * Terms
 * - **Versions** of a page: the id and the version of each of its rows. The same versions have the same text.
 */
import type { Dialect } from '../../sql/dialect.ts'
import type { PgClient, PgPool, PgResult } from '../../sql/postgres/connection.ts'
import { holdClient } from '../../sql/postgres/hold.ts'
import { send } from '../../sql/postgres/wire/send.ts'
import type { Statement } from '../../sql/statement.ts'
import { bytesOf } from '../../utf8.ts'

export interface KeptPages {
  /**
   * Runs a statement that reads in a snapshot. The text of a kept page is bytes.
   * @param run runs it on the connection
   */
  answer(client: PgClient, statement: Statement, run: (statement: Statement) => Promise<PgResult>): Promise<PgResult>
}

/** A page that was asked for, and its text if that is kept. */
interface Asked {
  /** The length of its text. */
  readonly length: number
  readonly page?: Page
}

interface Page {
  readonly versions: string
  readonly text: Buffer
  /** The moment since which it is kept, as a count. */
  readonly since: number
}

/**
 * Pages that are remembered as asked for, kept or not, and their bytes. A page that is asked for less often than this would be gone
 * each time. To keep it would cost a third more than to make it.
 */
const [maxPages, maxBytes] = [1000, 8 * 2 ** 20]

/** Asked for, and not yet answered. */
const first: Asked = { length: 0 }

export function keptPages(): KeptPages {
  /** By the statement. The one that was asked for last is the last one. */
  const pages = new Map<string, Asked>()
  /** The first use of each connection, by the same count. */
  const firstUses = new WeakMap<PgClient, number>()
  let bytes = 0
  let count = 0

  function put(key: string, asked: Asked): void {
    bytes += asked.length - (pages.get(key)?.length ?? 0)
    pages.delete(key)
    pages.set(key, asked)
    for (const [oldest, { length }] of pages) {
      if (pages.size <= maxPages && bytes <= maxBytes) break
      pages.delete(oldest)
      bytes -= length
    }
  }

  const keep = (key: string, page: Page): void => put(key, { length: page.text.length, page })

  return {
    async answer(client, statement, run) {
      const { unless, sql, values } = statement
      if (!unless) return run(statement)
      if (!firstUses.has(client)) firstUses.set(client, ++count)
      const firstUse = firstUses.get(client) ?? 0
      const key = `${sql} ${JSON.stringify(values)}`
      const known = pages.get(key)
      put(key, known ?? first)
      if (!known) {
        const answer = await run(statement)
        const [[text] = []] = answer.rows
        if (pages.get(key) === first && typeof text === 'string') put(key, { length: text.length })
        return answer
      }
      const { page } = known
      // A server that lost commits gives their versions again, and has lost its connections.
      const kept = page && page.since > firstUse ? page : undefined
      const answer = await run(unless(kept?.versions ?? ''))
      const [[text, rows, last, more, versions] = []] = answer.rows
      // A page that has become empty has no text and no versions.
      if (kept && text === null && rows !== '0') return { ...answer, rows: [[kept.text, rows, last, more]] }
      if (typeof text === 'string' && typeof versions === 'string') keep(key, { versions, text: bytesOf(text), since: ++count })
      return answer
    },
  }
}

/** Whether the rows of a database have versions. Not all that speak PostgreSQL have them. */
export async function hasRowVersions(pool: PgPool, dialect: Dialect, connectTimeoutMs: number): Promise<boolean> {
  const { client, release } = await holdClient(pool, connectTimeoutMs)
  const asked = send(
    client,
    `SELECT ${dialect.rowVersion} FROM (SELECT "seq" AS "id", xmin FROM ${dialect.table('outbox')} LIMIT 0) AS o`,
  )
  const isAnswered = await asked.then(
    () => true,
    () => false,
  )
  release()
  return isAnswered
}
