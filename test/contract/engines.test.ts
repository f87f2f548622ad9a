/**
 * The operations on every engine: each answers with its documented status and exactly its documented record, and does so on
 * real databases as it does in memory. The whole suite runs on one of them with `node scripts/test-on.ts sqlite` (or
 * `lowdb`, `postgres`).
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { lowdbStorage } from '../../adapters/storage/lowdb.ts'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { type Community, createCommunity } from '../../lib/index.ts'
import { operations } from '../../lib/operations.ts'
import type { Storage } from '../../lib/storage/contract.ts'
import { tables } from '../../lib/storage/tables.ts'
import { requestSchemas } from '../support/examples.ts'
import { at, problemsOf } from '../support/json-schema.ts'
import { testPorts } from '../support/ports.ts'
import { testPostgres } from '../support/postgres.ts'
import { createSeededCommunity } from '../support/seed.ts'
import { document, exampleOf, routeIds, sendExample } from './support.ts'

/** A seeded network, as new for every test. */
interface Engine {
  readonly token: string
  fresh(): Promise<Community>
  close(): Promise<void>
}

const faults: unknown[] = []
const optionsOf = ({ clock }: Awaited<ReturnType<typeof createSeededCommunity>>) => ({
  clock,
  hooks: { onError: (error: unknown) => void faults.push(error) },
  ports: testPorts().ports,
})

const directory = mkdtempSync(join(tmpdir(), 'folkmoot-engines-'))
afterAll(() => rmSync(directory, { recursive: true }))

async function lowdb(): Promise<Engine> {
  const template = join(directory, 'template.json')
  const outbox = { append: async () => {}, close: async () => {} }
  const seeded = await createSeededCommunity({ storage: await lowdbStorage({ path: template, outbox }) })
  await seeded.community.close()
  let count = 0
  let community: Community | undefined
  const close = async () => community?.close()
  return {
    token: seeded.token,
    async fresh() {
      await close()
      const path = join(directory, `${++count}.json`)
      copyFileSync(template, path)
      community = createCommunity({ ...optionsOf(seeded), storage: await lowdbStorage({ path, outbox }) })
      return community
    },
    close,
  }
}

/** Keeps a copy of every seeded table, and puts it back before a test. */
async function sql(storage: Storage, name: (table: string) => string, run: (native: unknown, sql: string) => Promise<unknown>) {
  const seeded = await createSeededCommunity({ storage })
  const all = tables.map((table) => [name(table.name), name(`seeded_${table.name}`)])
  const exec = (statements: readonly string[]) => storage.transaction((tx) => run(tx.native, statements.join(';')))
  await exec(all.map(([table, copy]) => `CREATE TABLE ${copy} AS SELECT * FROM ${table}`))
  const back = all.flatMap(([table, copy]) => [`DELETE FROM ${table}`, `INSERT INTO ${table} SELECT * FROM ${copy}`])
  const community = createCommunity({ ...optionsOf(seeded), storage })
  return {
    token: seeded.token,
    async fresh() {
      await exec(back)
      return community
    },
    close: () => community.close(),
  }
}

async function sqlite(): Promise<Engine> {
  const storage = await sqliteStorage({ path: join(directory, 'db.sqlite') })
  return sql(
    storage,
    (table) => `"folkmoot_${table}"`,
    async (native, text) => (native as DatabaseSync).exec(text),
  )
}

const server = await testPostgres()

async function postgres(): Promise<Engine> {
  const schema = server.newSchema()
  const storage = await postgresStorage({ url: server.url, schema })
  return sql(
    storage,
    (table) => `"${schema}"."${table}"`,
    (native, text) => (native as { query(text: string): Promise<unknown> }).query(text),
  )
}

const engines: readonly (readonly [string, Engine])[] = [
  ['lowdb', await lowdb()],
  ['sqlite', await sqlite()],
  ['postgres', await postgres()],
]

afterAll(async () => {
  for (const [, engine] of engines) await engine.close()
})

describe.each(engines)('%s', (_name, engine) => {
  test.each(routeIds)('%s answers with its documented status and exactly its documented record', async (id) => {
    const community = await engine.fresh()
    const { route } = exampleOf(id)
    const answer = await sendExample({ community, token: engine.token }, id)
    expect(faults.splice(0)).toEqual([])
    expect({ status: answer.status, ...(answer.status < 300 ? {} : { body: answer.body }) }).toEqual({
      status: route.operation.status,
    })
    const { described } = requestSchemas(document, route)
    const schema = at(described, 'responses', String(answer.status), 'content', 'application/json', 'schema')
    if (route.operation.returns) expect(problemsOf(document, schema, answer.body)).toEqual([])
  })

  test('texts of any script come back as they went in, and those that no database keeps are refused', async () => {
    const community = await engine.fresh()
    for (const [title, status] of [
      ['Grüße aus 東京 👩‍👩‍👧', 201],
      [`'; DROP TABLE members; --`, 201],
      ['\ud800', 422],
      ['a\0b', 422],
    ] as const) {
      const answer = await sendExample({ community, token: engine.token }, 'tags.create', { body: { title } })
      expect(answer.status).toBe(status)
      if (status === 201) expect(answer.body.title).toBe(title)
    }
    expect(faults.splice(0)).toEqual([])
  })
})

test('every operation is tried', () => {
  expect(new Set(routeIds.map((id) => exampleOf(id).route.operation.id)).size).toBe(operations.length)
})
