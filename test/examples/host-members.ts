/**
 * An application that had people long before it had an Admin API. Its table stays as it is:
 *
 * `CREATE TABLE people (person_no INTEGER PRIMARY KEY, mail TEXT NOT NULL UNIQUE, given TEXT NOT NULL, family TEXT,
 *                       is_admin INTEGER NOT NULL DEFAULT 0, left_on TEXT, joined_on TEXT NOT NULL, changed_on TEXT NOT NULL)`
 *
 * Reading and renaming go through the API. New people sign up in the application, so `insert` and `remove` are left out. The
 * API refuses new members with 403, and every change that `people` cannot store: removals, bans, new addresses.
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { ApiError, type HostRows, type HostTable, type Query, tables, type Where } from './package.ts'

type MemberRow = HostRows['members']

/** The value of each column of a member, in terms of `people`. A column that is missing here has its default. */
const expressions: Readonly<Record<string, string>> = {
  id: 'CAST(person_no AS TEXT)',
  created_at: 'joined_on',
  updated_at: 'changed_on',
  email: 'mail',
  email_key: 'lower(mail)',
  first_name: 'given',
  last_name: "coalesce(family, '')",
  role: "CASE WHEN is_admin THEN 'host' ELSE 'contributor' END",
  state: "CASE WHEN left_on IS NULL THEN 'active' ELSE 'removed' END",
}

/** Columns that the API may change. `update` refuses all others. */
const changeable: Readonly<Record<string, string>> = { first_name: 'given', last_name: 'family', updated_at: 'changed_on' }

const columns = Object.entries(expressions).map(([name, expression]) => `${expression} AS ${name}`)

/** @param network_id the one network that these people belong to */
export function hostMembers(network_id: string): HostTable<MemberRow, DatabaseSync> {
  const columnsOfOurs = tables.find(({ name }) => name === 'members')?.columns ?? {}
  const defaults = Object.fromEntries(Object.entries(columnsOfOurs).map(([name, column]) => [name, column.default]))
  const rowOf = (found: object): MemberRow => ({ ...defaults, ...found, network_id }) as unknown as MemberRow

  function conditions(where: Where<MemberRow>, values: SQLInputValue[]): string[] {
    return Object.entries(where).map(([name, wanted]) => {
      const all: readonly unknown[] = [wanted].flat()
      const expression = expressions[name]
      // A column that people do not have holds its default, or the one network, in every row.
      if (expression === undefined) return all.includes(name === 'network_id' ? network_id : defaults[name]) ? 'TRUE' : 'FALSE'
      values.push(...all.map((value) => value as SQLInputValue))
      return all.length === 0 ? 'FALSE' : `(${all.map(() => `${expression} IS ?`).join(' OR ')})`
    })
  }

  async function find(database: DatabaseSync, { where = {}, order, after, limit = -1, offset = 0 }: Query<MemberRow>) {
    const values: SQLInputValue[] = []
    const { by, direction } = order ?? { by: 'id', direction: 'asc' }
    // Ids are numbers: "9" comes before "10".
    const key = by === 'id' ? 'person_no' : (expressions[by] ?? 'NULL')
    const all = conditions(where, values)
    if (after !== undefined) {
      values.push(by === 'id' ? Number(after) : after)
      all.push(`${key} ${direction === 'asc' ? '>' : '<'} ?`)
    }
    const sql = `SELECT ${columns.join(', ')} FROM people WHERE ${['TRUE', ...all].join(' AND ')}
                 ORDER BY ${key} ${direction}, person_no ${direction} LIMIT ? OFFSET ?`
    return database
      .prepare(sql)
      .all(...values, limit, offset)
      .map(rowOf)
  }

  return {
    find,
    get: async (database, id) => (await find(database, { where: { id }, limit: 1 }))[0],
    async count(database, where) {
      const values: SQLInputValue[] = []
      const sql = `SELECT count(*) AS number FROM people WHERE ${['TRUE', ...conditions(where, values)].join(' AND ')}`
      return Number(database.prepare(sql).get(...values)?.['number'])
    },
    async update(database, id, patch, guard = {}) {
      const values: SQLInputValue[] = []
      const changes = Object.entries(patch).flatMap(([name, value]) => {
        if (value === undefined) return []
        // If it were ignored, a removal would be reported as done, and the person would still be here.
        if (!changeable[name])
          throw new ApiError(403, { error: 'forbidden', message: `${name} is managed by the host application`, status: 403 })
        values.push(value as SQLInputValue)
        return [`${changeable[name]} = ?`]
      })
      const where = conditions({ id, ...guard }, values)
      database.prepare(`UPDATE people SET ${changes.join(', ')} WHERE ${where.join(' AND ')}`).run(...values)
      return (await find(database, { where: { id } }))[0]
    },
  }
}
