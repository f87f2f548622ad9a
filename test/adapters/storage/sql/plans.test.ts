/**
 * Every query of every list is served by an index. So is every look-up and change of any other request, by more of the index
 * than the network. The plans of both databases prove it, with 10,000 rows in each table.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Dialect } from '../../../../adapters/sql/dialect.ts'
import { postgresDialect } from '../../../../adapters/sql/postgres/dialect.ts'
import { prepared } from '../../../../adapters/sql/sqlite/old-node.ts'
import type { Statement } from '../../../../adapters/sql/statement.ts'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { isPaged } from '../../../../lib/fields.ts'
import type { Community } from '../../../../lib/index.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import type { Column } from '../../../../lib/storage/table.ts'
import { tables } from '../../../../lib/storage/tables.ts'
import { exampleOf, routesWhere, sendExample } from '../../../contract/support.ts'
import { request } from '../../../support/community.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { createSeededCommunity } from '../../../support/seed.ts'

const rows = 10_000
/** Tables of which a network has few rows: reading all of them is what a database had better do. */
const few: Readonly<Record<string, number>> = { collections: 1000 }
/** Every other request, those that remove at the end. */
const others = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].flatMap((method) =>
  routesWhere(({ route }) => route.method === method && !(method === 'GET' && isPaged(route.operation.returns))),
)
const lists = routesWhere(({ route }) => route.method === 'GET' && isPaged(route.operation.returns))

/** Where a value that nearly every row has is looked for, as in life. */
const common: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  members: { state: 'active', role: 'contributor' },
  posts: { family: 'post', status: 'posted' },
  segments: { kind: 'tag' },
  member_segments: { kind: 'tag' },
  subscriptions: { status: 'active' },
  custom_fields: { response_type: 'text' },
  audit: { actor: 'host', action: 'key.created', subject_type: 'key' },
}

/** The value of row `n` in a column, as SQL; unique keys hold. */
function valueIn(table: string, name: string, { type }: Column, ids: string[]): string {
  if (name === 'id') return '50000000 + n'
  if (name === 'network_id') return '1'
  if (type === 'id') {
    ids.push(name)
    // Two references together are unique, and the third is by itself.
    return ['60000000 + n % 1000', '60000000 + n / 10', '60000000 + n % 1000', '60000000 + n'][ids.length - 1] ?? '60000000 + n'
  }
  if (type === 'boolean') return 'n % 2 = 0'
  if (type === 'integer' || type === 'real') return 'n'
  if (type === 'json') return `'[]'`
  if (type === 'timestamp') return `'2026-11-20T10:00:00.000Z'`
  const value = common[table]?.[name]
  return value ? `'${value}'` : `'text ' || n`
}

/** The statement that fills a table of PostgreSQL. */
function fillingOf(dialect: Dialect, table: (typeof tables)[number]): string {
  const ids: string[] = []
  const columns = Object.entries(table.columns)
  const values = columns.map(([name, column]) => valueIn(table.name, name, column, ids)).join(', ')
  const names = columns.map(([name]) => `"${name}"`).join(', ')
  return `INSERT INTO ${dialect.table(table.name)} (${names}) SELECT ${values} FROM generate_series(1::bigint, ${few[table.name] ?? rows}) n`
}

interface QueriedStatement extends Statement {
  /** Or of another request. */
  readonly ofList: boolean
}

/**
 * Runs every list, its second page and its last link, then every other request. It keeps the statements: of the requests
 * themselves, of their keys and of their repeats.
 */
async function statementsOfRequests(storage: Storage, seen: Map<string, Statement>): Promise<readonly QueriedStatement[]> {
  const network = await createSeededCommunity({ storage })
  seen.clear()
  for (const id of lists) {
    await sendExample(network, id)
    const first = await sendExample(network, id, { query: { per_page: '1' } })
    await sendExample(network, id, { query: { per_page: '1', page: '2' } })
    const next: string | null = first.body.links.next
    if (next)
      await request(network.community, 'GET', next.replace('https://api.test', ''), {
        headers: { authorization: `Bearer ${network.token}` },
      })
    expect(exampleOf(id).route.operation.id).toBe(id)
  }
  await listAudit(network.community)
  const ofLists = new Set(seen.keys())
  for (const id of others) await sendExample(network, id, { headers: { 'idempotency-key': id } })
  expect(network.faults).toEqual([])
  const statements = [...seen.values()]
    .filter(({ sql }) => /^(?:SELECT|UPDATE|DELETE) /.test(sql))
    .map((statement) => ({ ...statement, ofList: ofLists.has(statement.sql) }))
  for (const lookedUp of ['email_key', 'token_hash', 'caller'])
    expect(statements.filter(({ sql }) => sql.includes(` WHERE "${lookedUp}" =`)).length, lookedUp).toBeGreaterThan(0)
  return statements
}

/** Every filter of the audit, in both orders, with and without a page before. */
async function listAudit({ audit }: Community): Promise<void> {
  const [actor, action, subject] = [{ actor: 'host' }, { action: 'key.created' }, { subject: { type: 'key', id: '1' } }] as const
  for (const filter of [{}, actor, action, { ...actor, ...action }, subject, { ...actor, ...action, ...subject }])
    for (const order of ['newest', 'oldest'] as const)
      for (const place of [{}, { cursor: '50005000' }, { from: '2026-11-20T10:00:00Z', to: '2026-11-20T10:00:01Z' }])
        await audit.list({ network: '1', per_page: 10, order, ...filter, ...place })
}

test('SQLite scans no table for any request, and sorts nothing by itself', async () => {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const seen = new Map<string, Statement>()
  const storage = await sqliteStorage({ path, onStatement: (statement) => void seen.set(statement.sql, statement) })
  const statements = await statementsOfRequests(storage, seen)
  await storage.close()
  const database = new DatabaseSync(path)
  onTestFinished(() => database.close())
  // The plan depends on the indexes alone: SQLite has no statistics unless they are gathered.
  const plans = statements.map(({ sql, values, ofList }) => {
    const steps = prepared(database, `EXPLAIN QUERY PLAN ${sql}`).all(...(values as string[]))
    return { sql, ofList, plan: steps.map(({ detail }) => String(detail)) }
  })
  expect(statements.length).toBeGreaterThan(lists.length / 2)
  expect(plans.filter(({ sql, plan }) => plan.some((step) => isCostly(sql, step)))).toEqual([])
  expect(plans.filter(({ sql, plan, ofList }) => ofList && unserved(sql, plan.join()).length > 0)).toEqual([])
  expect(plans.filter(({ sql, plan, ofList }) => !ofList && isWide(sql, plan.join()))).toEqual([])
  // A late page by number: what is passed over is read from the index alone.
  const late = plans.filter(({ sql }) => sql.includes(' UNION ALL ') && sql.includes(' OFFSET '))
  expect(late.length).toBeGreaterThan(0)
  expect(late.filter(({ plan }) => plan.some((step) => / USING (?!COVERING |INTEGER )/.test(step)))).toEqual([])
})

/** Whether a step reads a whole table, or sorts more than the pages of a list's parts. */
const isCostly = (sql: string, step: string): boolean =>
  step.startsWith('SCAN folkmoot_') || (step.includes('TEMP B-TREE') && !sql.includes(' UNION ALL '))

/** The columns of the conditions that no index is searched by: rows are read and thrown away for them. */
function unserved(sql: string, plan: string): readonly string[] {
  const where = / WHERE (.+?) (?:ORDER BY|UNION) /.exec(sql)?.[1] ?? ''
  const columns = [...where.matchAll(/"(\w+)" (?:=|IN|IS NULL|<|>)/g)].map(([, name]) => name ?? '')
  // By its primary key or by a unique key there is one row at most, and nothing more to search by.
  if (/PRIMARY KEY|_key \(/.test(plan)) return []
  return columns.filter((name) => !new RegExp(`\\b${name === 'id' ? '(?:rowid|id)' : name}[=<>]`).test(plan))
}

/** Whether a whole network is read for what other columns say. */
const isWide = (sql: string, plan: string): boolean =>
  /"(?!network_id|id)\w+" (?:=|IN|IS NULL)/.test(sql.split(' WHERE ')[1] ?? '') &&
  /\(network_id=\?(?: AND (?:rowid|id)[<>]\?)?\)/.test(plan)

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}
const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
const isLarge = (node: Plan): boolean => !few[node['Relation Name'] ?? '']

/** Whether far more pages are read than the resulting rows need, such as a whole index from its first entry to its last. */
function readsWidely(node: Plan): boolean {
  const pages = (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0)
  return node['Node Type'].includes('Scan') && pages > 30 + 3 * (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 1)
}

const server = await testPostgres()

test('PostgreSQL scans no table for any request, and reads little that it does not give back', async () => {
  const schema = server.newSchema()
  const dialect = postgresDialect(schema)
  const seen = new Map<string, Statement>()
  const onStatement = (statement: Statement) => void seen.set(statement.sql, statement)
  const storage = await postgresStorage({ url: server.url, schema, onStatement })
  const statements = await statementsOfRequests(storage, seen)
  await storage.close()
  const client = await server.client()
  const read = tables.filter(({ name }) => statements.some(({ sql }) => sql.includes(` ${dialect.table(name)} `)))
  for (const table of read) {
    await client.query(fillingOf(dialect, table))
    await client.query(`ANALYZE ${dialect.table(table.name)}`)
  }

  const problems: unknown[] = []
  for (const { sql, values } of statements) {
    const { rows: answer } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, [...values])
    const nodes = nodesOf(answer[0]['QUERY PLAN'][0].Plan as Plan)
    const bad = nodes.filter(
      (node) =>
        (isLarge(node) && (node['Node Type'] === 'Seq Scan' || readsWidely(node))) ||
        (node['Rows Removed by Filter'] ?? 0) > 1000 ||
        (node['Node Type'] === 'Sort' && (node.Plans?.[0]?.['Actual Rows'] ?? 0) > 1000),
    )
    if (bad.length > 0)
      problems.push({ sql, values, bad: nodes.map((node) => `${node['Node Type']} ${node['Relation Name'] ?? ''}`) })
  }
  expect(statements.length).toBeGreaterThan(lists.length / 2)
  expect(problems).toEqual([])
})
