/** The costs of a PostgreSQL server on this machine: processor time, write-ahead log, transactions, rows and bytes. Linux only. */
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'

/** Of the whole server, since it started. */
export interface Spent {
  /** Microseconds of processor time, in steps of ten thousand. */
  readonly cpu: number
  /** Bytes of the write-ahead log. */
  readonly wal: number
  /** Transaction ids. */
  readonly xids: number
}

/** Of one schema. */
export interface Stored {
  readonly rows: number
  /** With indexes. */
  readonly bytes: number
}

export interface PostgresCosts {
  spent(): Promise<Spent>
  /** @param tables only those of these names; by default all of the schema */
  stored(schema: string, tables?: RegExp): Promise<Stored>
  close(): Promise<void>
}

/** Fields of `/proc/PID/stat` behind the name of the program, from the state of the process on. */
function statOf(pid: string): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    // It has ended in between.
    return undefined
  }
}

/** Linux counts in hundredths of a second. */
const microsecondsOf = (ticks: readonly (string | undefined)[]): number =>
  ticks.reduce((sum, each) => sum + Number(each), 0) * 10_000

/** Of a process, of its children, and of those that have ended. */
function cpuOf(parent: string): number {
  const own = statOf(parent) ?? []
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const stat = statOf(pid)
      return stat?.[1] === parent ? [microsecondsOf(stat.slice(11, 13))] : []
    })
  return children.reduce((sum, each) => sum + each, microsecondsOf(own.slice(11, 15)))
}

export async function postgresCosts(url: string): Promise<PostgresCosts> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const one = async (sql: string): Promise<Readonly<Record<string, unknown>>> => (await client.query(sql)).rows[0] ?? {}
  const { pid } = await one('SELECT pg_backend_pid() AS pid')
  const server = statOf(String(pid))?.[1]
  if (server === undefined) throw new Error('the processor time of PostgreSQL is read from /proc, which is not here')
  return {
    async spent() {
      const { wal, xids } = await one(
        "SELECT pg_current_wal_insert_lsn() - '0/0' AS wal, pg_snapshot_xmax(pg_current_snapshot()) AS xids",
      )
      return { cpu: cpuOf(server), wal: Number(wal), xids: Number(xids) }
    },
    async stored(schema, tables = /./) {
      const names: readonly { readonly name: string; readonly bytes: string }[] = (
        await client.query(
          `SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'`,
          [schema],
        )
      ).rows
      const sizes = { rows: 0, bytes: 0 }
      for (const { name, bytes } of names.filter((each) => tables.test(each.name))) {
        sizes.bytes += Number(bytes)
        sizes.rows += Number((await one(`SELECT count(*) AS rows FROM "${schema}"."${name}"`))['rows'])
      }
      return sizes
    },
    close: () => client.end(),
  }
}
