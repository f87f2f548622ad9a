/**
 * Pages of deliveries among many: rows that the statements read and plans by which they read them, never times. The soak run
 * has a million deliveries.
 */
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { pageOf } from '../../../../daemon/relay/admin/deliveries.ts'
import { type Plan, type RelayDatabase, type Rows, rows, type Statement } from '../../../../daemon/relay/store/database.ts'
import { operatorStore } from '../../../../daemon/relay/store/operator/operator.ts'
import type { OperatorStore } from '../../../../daemon/relay/store/operator/operator-store.ts'
import { openDatabase as openPostgres } from '../../../../daemon/relay/store/postgres/database.ts'
import { openOperatorDatabase } from '../../../../daemon/relay/store/postgres/operator.ts'
import { openDatabase as openSqlite } from '../../../../daemon/relay/store/sqlite/database.ts'
import type { DeliveryFilter } from '../../../../lib/relay/relay-admin.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { soaking } from '../../../support/rounds.ts'

const postgres = await testPostgres()
const large = soaking ? 1_000_000 : 50_000
/** PostgreSQL ends a statement of a relay after 10 seconds. */
const part = 50_000
const small = 1000
const limit = 50

interface Made {
  readonly database: RelayDatabase
  run(sql: string): Promise<unknown>
}

const engines: Readonly<
  Record<'SQLite' | 'PostgreSQL', { open(): Promise<Made>; readonly series: (from: number, to: number) => string }>
> = {
  SQLite: {
    async open() {
      const database = await openSqlite(join(temporaryDirectory(), 'relay.sqlite'))
      return { database, run: async (sql) => database.connection.exec(sql.replaceAll('$schema.', '')) }
    },
    series: (from, to) =>
      `(WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to}) SELECT i FROM n) s`,
  },
  PostgreSQL: {
    async open() {
      const schema = postgres.newSchema()
      await (await openPostgres({ url: postgres.url, schema })).close()
      const database = await openOperatorDatabase({ url: postgres.url, schema })
      return { database, run: (sql) => database.rows(sql) }
    },
    series: (from, to) => `generate_series(${from}, ${to}) AS s (i)`,
  },
}

const made: Made[] = []
afterAll(async () => {
  for (const { database } of made) await database.close()
})

/**
 * A store with so many deliveries, and without statistics. Nearly all are of network 1; every tenth of them failed. Network 2 has
 * 100, among the oldest.
 */
async function newStore(name: keyof typeof engines, count: number) {
  const { open, series } = engines[name]
  const { database, run } = await open()
  made.push({ database, run })
  const endpoint = (ref: number) =>
    `INSERT INTO $schema.endpoints (ref, network_id, id, url, key, secrets, audience, enabled, "order")
     VALUES (${ref}, '${ref}', '${ref}7', 'http://127.0.0.1:1/', 'k', '[]', 'integration', ${name === 'SQLite' ? '1' : 'true'}, 'none')`
  const overriding = name === 'SQLite' ? '' : 'OVERRIDING SYSTEM VALUE'
  await run(endpoint(1).replace('VALUES', `${overriding} VALUES`))
  await run(endpoint(2).replace('VALUES', `${overriding} VALUES`))
  for (let from = 1; from <= count; from += part) {
    const rows = series(from, Math.min(from + part - 1, count))
    await run(`INSERT INTO $schema.events (event_id, network_id, event_type, event_timestamp, received_at, body, subject)
    SELECT 'e' || i, '1', CASE WHEN i % 10 = 5 THEN 'TagCreatedHook' ELSE 'PostCreatedHook' END, '2026-11-20T10:00:00.000Z',
      1000 * i, ${name === 'SQLite' ? `x'7b7d'` : `'{}'`}, 'member:' || (i % 10) FROM ${rows}`)
    await run(`INSERT INTO $schema.deliveries (event, endpoint, state, lane, due, attempts, at, milliseconds, status, outcome)
    SELECT i, CASE WHEN i <= 100 THEN 2 ELSE 1 END, CASE WHEN i % 10 = 0 THEN 'dead' ELSE 'delivered' END, 1, 0, 1, 1000 * i, 5,
      CASE WHEN i % 10 = 0 THEN 500 ELSE 204 END, CASE WHEN i % 10 = 0 THEN 'status' ELSE 'delivered' END FROM ${rows}`)
  }
  const statements: Statement[] = []
  /** Runs a plan as it is, and keeps its statements. */
  function* recorded<T>(plan: Plan<T>): Plan<T> {
    let step = plan.next()
    while (!step.done) {
      statements.push(step.value)
      step = plan.next(yield step.value)
    }
    return step.value
  }
  const recording: RelayDatabase = { ...database, read: (plan) => database.read(() => recorded(plan())) }
  const none = { relays: async () => [], positions: async () => ({}), problems: async () => [] }
  const explained = async (explain: string) => {
    const found: Rows[] = []
    for (const { sql, values } of statements) found.push(await database.read(() => rows(`${explain} ${sql}`, values)))
    return found
  }
  return { store: operatorStore(recording, none), statements, explained, analyze: () => run('ANALYZE') }
}
type Stored = Awaited<ReturnType<typeof newStore>>

/** Making one costs more than the tests that read it: they share it. Those that want no statistics come first. */
const stores = new Map<string, Promise<Stored>>()
async function storeOf(name: keyof typeof engines, count: number, isAnalyzed = true): Promise<Stored> {
  const key = `${name} ${count}`
  const stored = await (stores.get(key) ?? newStore(name, count))
  stores.set(key, Promise.resolve(stored))
  if (isAnalyzed) await stored.analyze()
  stored.statements.length = 0
  return stored
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** The rows that the scans of a plan read. */
function readBy(node: PlanNode): number {
  const isScan = node['Node Type'].includes('Scan') && !node['Node Type'].startsWith('Subquery')
  const own = isScan ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'] : 0
  return own + (node.Plans ?? []).reduce((sum, each) => sum + readBy(each), 0)
}

async function rowsRead({ explained }: Stored): Promise<number> {
  const plans = await explained('EXPLAIN (ANALYZE, FORMAT JSON)')
  return plans.reduce((sum, [found]) => sum + readBy(JSON.parse(String(found?.['QUERY PLAN']))[0].Plan), 0)
}

/** How SQLite may read the tables that grow: by a key or an index with bounds, and for its ends. */
const allowed = [
  /^SEARCH (?:d|i) USING (?:COVERING )?INDEX deliveries_(?:endpoint|failed) \(endpoint=\?(?: AND id>\?(?: AND id<\?)?)?\)$/,
  /^SEARCH i USING (?:COVERING )?INDEX deliveries_event \(event=\?(?: AND rowid>\? AND rowid<\?)?\)$/,
  /^SEARCH (?:d|i) USING INTEGER PRIMARY KEY \(rowid(?:=\?|>\? AND rowid<\?)\)$/,
  /^SEARCH e USING INTEGER PRIMARY KEY \(rowid=\?\)$/,
  /^SEARCH e USING (?:COVERING )?INDEX sqlite_autoindex_events_1 \(event_id=\?\)$/,
  /^SEARCH d USING (?:COVERING )?INDEX deliveries_waiting \(endpoint=\?(?: AND lane=\?)?\)$/,
  /^SEARCH deliveries$/,
]
/** Whether a line is about a table that grows with the deliveries. */
const grows = (detail: string): boolean => /^(?:SEARCH|SCAN) (?:d|i|e|deliveries|events)\b/.test(detail)

async function strangePlans({ explained }: Stored): Promise<readonly string[]> {
  const lines = (await explained('EXPLAIN QUERY PLAN')).flat().map((row) => String(row['detail']))
  return [...new Set(lines.filter((line) => grows(line) && !allowed.some((each) => each.test(line))))]
}

const middle = (count: number): DeliveryFilter => ({
  since: new Date(1000 * Math.floor(count * 0.4)).toISOString(),
  until: new Date(1000 * Math.floor(count * 0.6)).toISOString(),
})

const pages: Readonly<Record<string, (count: number) => { readonly network?: string; readonly filter: DeliveryFilter }>> = {
  'without a filter': () => ({ filter: {} }),
  'of an endpoint': () => ({ filter: { endpoint_id: '17' } }),
  'of an event type': () => ({ filter: { event_type: 'TagCreatedHook' } }),
  'of a subject': () => ({ filter: { subject: 'member:3' } }),
  'of an outcome': () => ({ filter: { outcome: 'status' } }),
  'of an HTTP status': () => ({ filter: { http_status: 500 } }),
  'of a state': () => ({ filter: { state: 'dead' } }),
  'of a time range': (count) => ({ filter: middle(count) }),
  'of an event': (count) => ({ filter: { event_id: `e${Math.floor(count / 2)}` } }),
  'of a network with few deliveries': () => ({ network: '2', filter: {} }),
}

const pageAt = (stored: Stored, { network = '1', filter }: { readonly network?: string; readonly filter: DeliveryFilter }) => {
  stored.statements.length = 0
  return pageOf(stored.store, { ...filter, network_id: network, limit })
}

test('on PostgreSQL the state and the charts of a network read its own deliveries', async () => {
  const many = await storeOf('PostgreSQL', large, false)
  const [state] = await many.store.endpointsOf('2')
  expect(state).toMatchObject({ endpoint_id: '27', pending: 0, dead: 10, last_success_at: '1970-01-01T00:01:39.000Z' })
  const slots = await many.store.slots('2', 0, 3_600_000, 10_000)
  expect(slots).toEqual([{ endpoint_id: '27', at: 0, delivered: 90, failed: 10 }])
  expect(await rowsRead(many)).toBeLessThan(400)
})

test.each([
  ['before PostgreSQL has statistics', false],
  ['with statistics', true],
] as const)(
  `on PostgreSQL, %s, a page among ${large} deliveries reads at most twice the rows of one among ${small}`,
  async (_, isAnalyzed) => {
    const [few, many] = [await storeOf('PostgreSQL', small, isAnalyzed), await storeOf('PostgreSQL', large, isAnalyzed)]
    const read: Record<string, readonly [number, number]> = {}
    for (const [name, filterAt] of Object.entries(pages)) {
      const [one, other] = [await pageAt(few, filterAt(small)), await pageAt(many, filterAt(large))]
      expect([name, other.items.length]).toEqual([name, one.items.length])
      read[name] = [await rowsRead(few), await rowsRead(many)]
    }
    expect(Object.entries(read).filter(([, [one, other]]) => other > 2 * one)).toEqual([])
  },
)

describe('on SQLite', () => {
  test(`every statement of a page among ${large} deliveries has an index with bounds`, async () => {
    const many = await storeOf('SQLite', large)
    for (const [name, filterAt] of Object.entries(pages)) {
      const { items } = await pageAt(many, filterAt(large))
      expect([name, items.length]).toEqual([name, name === 'of an event' ? 1 : limit])
      expect([name, await strangePlans(many)]).toEqual([name, []])
    }
    many.statements.length = 0
    expect(await many.store.endpointsOf('2')).toMatchObject([{ endpoint_id: '27', pending: 0, dead: 10 }])
    expect(await many.store.slots('2', 0, 3_600_000, 10_000)).toEqual([{ endpoint_id: '27', at: 0, delivered: 90, failed: 10 }])
    expect(await strangePlans(many)).toEqual([])
  })
})

describe.each(['SQLite', 'PostgreSQL'] as const)('on %s', (engine) => {
  test.each([
    [{ network_id: '1', event_type: 'NoneHook' }, 1],
    [{ network_id: '1', subject: 'member:none' }, 1],
    [{ subject: 'member:none' }, 2],
  ])(
    'filter %j, which nothing matches, looks through a bounded number of rows, and the next page continues',
    async (filter, endpoints) => {
      const many = await storeOf(engine, large)
      const seen: (string | null)[] = []
      for (let after: string | undefined, page = 0; page < 100; page++) {
        const { items, next } = await pageOf(many.store, { ...filter, limit, ...(after === undefined ? {} : { after }) })
        expect(items).toEqual([])
        seen.push(next)
        if (next === null) break
        after = next
      }
      // A page looks through 20,000 to 25,000, in equal parts for each endpoint; nearly all are of one.
      expect(seen.length).toBeGreaterThanOrEqual(Math.floor(large / 25_000))
      expect(seen.length).toBeLessThanOrEqual(Math.ceil((large * endpoints) / 20_000) + 1)
      expect(seen.at(-1)).toBeNull()
    },
  )

  test('counts and walks find each delivery once, whatever the size of their steps', async () => {
    const some = await storeOf(engine, 12_345)
    const countOf = async (search: Parameters<OperatorStore['counts']>[0]) => {
      let sum = 0
      for await (const part of some.store.counts(search)) sum += part
      return sum
    }
    expect(await countOf({ network_id: '1' })).toBe(12_245)
    expect(await countOf({ network_id: '2' })).toBe(100)
    expect(await countOf({ network_id: '1', outcome: 'status' })).toBe(1224)
    expect(await countOf({ network_id: '1', event_type: 'TagCreatedHook', state: 'delivered' })).toBe(1225)
    const ids: number[] = []
    for await (const { found } of some.store.walk({ network_id: '1' }, 'ASC')) ids.push(...found.map(({ id }) => Number(id)))
    expect([ids.length, new Set(ids).size, ids[0], ids.at(-1)]).toEqual([12_245, 12_245, 101, 12_345])
    const paged: string[] = []
    for (let after: string | undefined; ; ) {
      const { items, next } = await pageOf(some.store, {
        network_id: '1',
        state: 'dead',
        limit: 100,
        ...(after === undefined ? {} : { after }),
      })
      paged.push(...items.map(({ id }) => id))
      if (next === null) break
      after = next
    }
    expect([paged.length, new Set(paged).size]).toEqual([1224, 1224])
  })
})
