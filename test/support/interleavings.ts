/**
 * Two transactions on a real PostgreSQL, in every order in which their steps can meet. One is stopped before its n-th step.
 * The other runs until it is done or waits for a lock of the first, and the first continues. The outcome must be that of
 * running one after the other.
 */
import type pg from 'pg'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { isoTime } from '../../lib/base/clock.ts'
import { isApiError } from '../../lib/errors.ts'
import { type Community, createCommunity } from '../../lib/index.ts'
import type { Storage, Tx } from '../../lib/storage/contract.ts'
import { tables } from '../../lib/storage/tables.ts'
import { manualClock } from './clock.ts'
import { testPorts } from './ports.ts'
import type { TestPostgres } from './postgres.ts'
import { createSeededCommunity } from './seed.ts'
import { wrappedStorage } from './storage.ts'

/** A call of a community. */
export type Act = (community: Community) => Promise<unknown>

/** The outcome of two acts. */
export interface Outcome {
  readonly responses: readonly [unknown, unknown]
  /** The rows of each table that was written to. */
  readonly rows: ReadonlyMap<string, readonly string[]>
  readonly events: readonly string[]
}

interface Stop {
  /** Counted among the steps that have to do with what the other one touches. */
  readonly step: number
  readonly other: Touched
  /** `last`: there is no later step, because the transaction is about to commit. */
  readonly reached: (last: boolean) => void
  readonly go: Promise<void>
}

/** The tables that are read and written in a transaction. */
interface Touched {
  readonly read: Set<string>
  readonly written: Set<string>
}

/** A transaction of which every step is told before it is taken. */
const told = (tx: Tx, tell: (table: string, writes: boolean) => Promise<void>): Tx => ({
  native: tx.native,
  get: (table, id) => tell(table.name, false).then(() => tx.get(table, id)),
  find: (table, query) => tell(table.name, false).then(() => tx.find(table, query)),
  count: (table, query) => tell(table.name, false).then(() => tx.count(table, query)),
  insert: (table, row) => tell(table.name, true).then(() => tx.insert(table, row)),
  update: (table, id, patch, guard) => tell(table.name, true).then(() => tx.update(table, id, patch, guard)),
  increment: (table, id, by, guard) => tell(table.name, true).then(() => tx.increment(table, id, by, guard)),
  remove: (table, id, guard) => tell(table.name, true).then(() => tx.remove(table, id, guard)),
  lock: (table, id, strength) => tell(table.name, true).then(() => tx.lock(table, id, strength)),
  append: (records) => tell('outbox', true).then(() => tx.append(records)),
})

/**
 * A storage of which the next writing transaction can be stopped before one of its steps, the commit included.
 * @param touched is notified of the tables that transactions read and write
 */
function stoppable(database: Storage, touched: Touched) {
  let next: Stop | undefined
  let deadlocks = 0

  const note = (tx: Tx) =>
    told(tx, async (table, writes) => {
      touched[writes ? 'written' : 'read'].add(table)
    })

  async function stopped<T>(work: (tx: Tx) => Promise<T>, tx: Tx, { step, other, reached, go }: Stop): Promise<T> {
    let steps = 0
    const pass = async (last: boolean) => {
      if (steps++ !== step) return
      reached(last)
      await go
    }
    // Before a step that the other one has nothing to do with, it is as before the next one.
    const matters = (table: string, writes: boolean) =>
      other.written.has(table) || (writes && table !== 'outbox' && other.read.has(table))
    const result = await work(told(tx, async (table, writes) => (matters(table, writes) ? pass(false) : undefined)))
    await pass(true)
    return result
  }

  return {
    storage: wrappedStorage(database, {
      async transaction(work, options) {
        const stop = options?.readOnly ? undefined : next
        if (stop) next = undefined
        try {
          return await database.transaction((tx) => (stop ? stopped(work, note(tx), stop) : work(note(tx))), options)
        } catch (error) {
          if (isDeadlock(error)) deadlocks++
          throw error
        }
      },
    }),
    /** Stops the next writing transaction; one that is run again is not stopped again. */
    stopAt(step: number, other: Touched) {
      const reached = Promise.withResolvers<boolean>()
      const go = Promise.withResolvers<void>()
      next = { step, other, reached: reached.resolve, go: go.promise }
      return {
        reached: reached.promise,
        go() {
          next = undefined
          go.resolve()
        },
      }
    },
    /** How often since the last call two transactions have waited for each other. */
    deadlocks() {
      const seen = deadlocks
      deadlocks = 0
      return seen
    },
  }
}

const isDeadlock = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && 'code' in error.cause && error.cause.code === '40P01'

/** Ids that were made on the way differ from run to run. */
const withoutNewIds = (text: string): string =>
  text.replace(/\b\d{15,16}\b/g, 'new').replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'new')

/**
 * A seeded network on PostgreSQL, on which acts can be tried again and again.
 * @param prepare makes what is not seeded
 */
export async function contestedNetwork<Made>(
  server: TestPostgres,
  prepare: (community: Community, owner: string) => Promise<Made>,
) {
  const schema = server.newSchema()
  const application = `folkmoot ${schema}`
  const url = new URL(server.url)
  url.searchParams.set('application_name', application)
  url.searchParams.set('options', '-c deadlock_timeout=50ms')
  const clock = manualClock()
  const faults: unknown[] = []
  const touched: Touched = { read: new Set(), written: new Set() }
  const touchedBy = new Map<Act, Touched>()
  const open = async () => {
    const storage = stoppable(await postgresStorage({ url: url.href, schema, poolSize: 4 }), touched)
    const options = { clock, ports: testPorts().ports, hooks: { onError: (error: unknown) => void faults.push(error) } }
    return { ...storage, options: { ...options, storage: storage.storage } }
  }
  const [first, second] = [await open(), await open()]
  const { community, owner } = await createSeededCommunity(first.options)
  const made = await prepare(community, owner.id)
  const other = createCommunity(second.options)
  const client = await server.client()

  const at = (name: string) => `"${schema}"."${name}"`
  const names = tables.map(({ name }) => name)
  // Of the same clock, the other process would make the same ids for its lines of the audit.
  for (const name of ['outbox', 'audit']) await client.query(`DELETE FROM ${at(name)}`)
  // Noted already: requests by key write nothing beside the rows that are tried.
  await client.query(`UPDATE ${at('api_keys')} SET "last_used_at" = $1`, [isoTime(clock.now())])
  for (const name of names) await client.query(`CREATE TABLE ${at(`seeded_${name}`)} AS SELECT * FROM ${at(name)}`)
  const seededLines = new Map([...(await rowsOf(client, names, at))].map(([name, all]) => [name, linesOf(all).join()]))
  const asSeeded = await digestsOf(client, names, at)
  touched.written.clear()

  /** The state of the network, which is put back. */
  async function outcome(responses: readonly [unknown, unknown]): Promise<Outcome> {
    const changed = [...touched.written].sort()
    touched.written.clear()
    const found = await rowsOf(client, changed, at, asSeeded)
    const statements = [...found.keys()].flatMap((name) => [
      `DELETE FROM ${at(name)}`,
      ...(name === 'outbox' ? [] : [`INSERT INTO ${at(name)} SELECT * FROM ${at(`seeded_${name}`)}`]),
    ])
    if (statements.length > 0) await client.query(['BEGIN', ...statements, 'COMMIT'].join(';'))
    const rows = [...found].flatMap(([name, all]) => {
      const lines = linesOf(all)
      return name === 'outbox' || lines.join() === seededLines.get(name) ? [] : [[name, lines] as const]
    })
    const records = (found.get('outbox') ?? []).flatMap(({ records }) => records as { body?: string }[])
    const events = records.map((record) => withoutNewIds(String(record.body ?? JSON.stringify(record))))
    return { responses, rows: new Map(rows), events: events.sort() }
  }

  /** Waits until someone waits for a lock, or `end` is settled. */
  async function blockedOr(end: Promise<unknown>): Promise<void> {
    let ended = false
    const over = end.then(() => {
      ended = true
    })
    for (let wait = 1; !ended; wait = Math.min(wait * 2, 16)) {
      const { rows } = await client.query(
        `SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`,
        [application],
      )
      if (rows.length > 0) return
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, wait))])
    }
  }

  /** The response to an act, while the tables that it touches are noted. */
  async function noted(act: Act, by: Community): Promise<unknown> {
    const before = new Set(touched.written)
    for (const tables of [touched.read, touched.written]) tables.clear()
    const response = await responseOf(act, by)
    const known = touchedBy.get(act)
    touchedBy.set(act, {
      read: new Set([...touched.read, ...(known?.read ?? [])]),
      written: new Set([...touched.written, ...(known?.written ?? [])]),
    })
    for (const table of before) touched.written.add(table)
    return response
  }

  return {
    made,
    faults,
    deadlocks: () => first.deadlocks() + second.deadlocks(),
    /** One act, and when it is done the other. */
    async oneByOne(a: Act, b: Act): Promise<Outcome> {
      const responseOfA = await noted(a, community)
      return outcome([responseOfA, await noted(b, other)])
    },
    /**
     * The other act while the first one is stopped before a step that has to do with it; `undefined` when it has no such step.
     * `last`: it has no later one.
     */
    async stoppedAt(step: number, a: Act, b: Act): Promise<{ outcome: Outcome; last: boolean } | undefined> {
      const stop = first.stopAt(step, touchedBy.get(b) ?? touched)
      const doing = responseOf(a, community)
      const reached = await Promise.race([stop.reached.then((last) => ({ last })), doing.then(() => undefined)])
      if (!reached) {
        stop.go()
        await outcome([undefined, undefined])
        return undefined
      }
      const meanwhile = responseOf(b, other)
      await blockedOr(meanwhile)
      stop.go()
      return { outcome: await outcome([await doing, await meanwhile]), last: reached.last }
    },
    async close() {
      await community.close()
      await other.close()
    },
  }
}

/** The response; of several reasons to refuse a request any will do. */
async function responseOf(act: Act, community: Community): Promise<unknown> {
  const response = await act(community).catch((error: unknown) => (isApiError(error) ? 'refused' : { fault: String(error) }))
  return JSON.parse(withoutNewIds(JSON.stringify(response ?? null)))
}

const linesOf = (rows: Rows): string[] => rows.map((row) => withoutNewIds(JSON.stringify(row))).sort()

type Rows = readonly Readonly<Record<string, unknown>>[]

const digest = (table: string) => `(SELECT md5(string_agg(t::text, '' ORDER BY id)) FROM ${table} t)`

/** A digest that separates the rows of a table from all others. */
async function digestsOf(client: pg.Client, names: readonly string[], at: (name: string) => string) {
  const { rows } = await client.query(
    names.map((name) => `SELECT '${name}' AS name, ${digest(at(name))} AS digest`).join(' UNION ALL '),
  )
  return new Map<string, string | null>(rows.map((row) => [row.name, row.digest]))
}

/** The rows of tables; without those tables that are as `asBefore` has them. */
async function rowsOf(
  client: pg.Client,
  names: readonly string[],
  at: (name: string) => string,
  asBefore: ReadonlyMap<string, string | null> = new Map(),
): Promise<ReadonlyMap<string, Rows>> {
  if (names.length === 0) return new Map()
  const each = names.map((name) => {
    const all = `(SELECT coalesce(json_agg(t), '[]') FROM ${at(name)} t)`
    const before = asBefore.get(name)
    if (before === undefined) return `SELECT '${name}' AS name, ${all} AS rows`
    const differs = `${digest(at(name))} IS DISTINCT FROM ${before === null ? 'NULL' : `'${before}'`}`
    return `SELECT '${name}' AS name, CASE WHEN ${differs} THEN ${all} END AS rows`
  })
  const { rows } = await client.query(each.join(' UNION ALL '))
  return new Map(rows.filter(({ rows }) => rows !== null).map(({ name, rows }) => [String(name), rows as Rows]))
}
