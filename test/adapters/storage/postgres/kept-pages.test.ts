/** Pages that are asked for again: PostgreSQL sends their text only if a row has changed. */
import { expect, onTestFinished, test } from 'vitest'
import type { PgClient, PgResult } from '../../../../adapters/sql/postgres/connection.ts'
import type { Statement } from '../../../../adapters/sql/statement.ts'
import { keptPages } from '../../../../adapters/storage/postgres/kept-pages.ts'
import { type PostgresOptions, postgresStorage } from '../../../../adapters/storage/postgres.ts'
import type { Query, Storage, Tx } from '../../../../lib/storage/contract.ts'
import type { JsonFields, JsonRows } from '../../../../lib/storage/json.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { insertAndTell, type Thing, things } from '../things.ts'

const server = await testPostgres()
const admin = await server.client()

const fields: JsonFields = [
  ['id', { from: 'column', column: 'id' }],
  ['name', { from: 'column', column: 'name' }],
  ['size', { from: 'column', column: 'size' }],
]
const decoder = new TextDecoder()

/** A page as values, and whether its text was kept: then it is bytes. */
function shown({ json, hasMore, last }: JsonRows) {
  const items = JSON.parse(`[${typeof json === 'string' ? json : decoder.decode(json)}]`) as unknown[]
  return { items, hasMore, last, isKept: typeof json !== 'string' }
}

async function pageIn(tx: Tx, query: Query<Thing> = { limit: 3 }) {
  const found = await tx.findJson?.(things, query, fields)
  if (!found) throw new Error('this storage writes no JSON')
  return shown(found)
}
const pageOf = (storage: Storage, query?: Query<Thing>) => storage.transaction((tx) => pageIn(tx, query), { readOnly: true })

const itemsOf = (...ids: number[]) => ids.map((id) => ({ id: String(id), name: `Thing ${id}`, size: 0 }))

async function open(options: PostgresOptions = {}) {
  const schema = server.newSchema()
  // A page is made anew on each connection that is new to pages.
  const storage = await postgresStorage({ url: server.url, schema, tables: [things], poolSize: 1, ...options })
  onTestFinished(() => storage.close())
  for (const id of [1, 2, 3]) await insertAndTell(storage, id)
  return { storage, schema }
}

/** Asks until the page is kept. */
async function kept(storage: Storage): Promise<void> {
  expect((await pageOf(storage)).isKept).toBe(false)
  expect((await pageOf(storage)).isKept).toBe(false)
  expect(await pageOf(storage)).toEqual({ items: itemsOf(1, 2, 3), hasMore: false, last: '3', isKept: true })
}

const changes: readonly (readonly [string, string, object])[] = [
  ['a changed row', `UPDATE S.things SET size = 7 WHERE id = 2`, { items: [{ size: 0 }, { size: 7 }, { size: 0 }] }],
  ['a row that is gone', `DELETE FROM S.things WHERE id = 2`, { items: itemsOf(1, 3), isKept: false }],
  [
    'a row in the place of another one, by the same transaction',
    `DELETE FROM S.things WHERE id = 2; UPDATE S.things SET id = 2, name = 'Thing 2' WHERE id = 3`,
    { items: itemsOf(1, 2), last: '2', isKept: false },
  ],
  ['that no row is left', `DELETE FROM S.things`, { items: [], last: null }],
  [
    'a row behind the page, whose own rows are the same',
    `INSERT INTO S.things SELECT 4, network_id, created_at, updated_at, 'Thing 4', size, label FROM S.things WHERE id = 3`,
    { items: itemsOf(1, 2, 3), hasMore: true, isKept: true },
  ],
]

test.each(changes)('a kept page shows %s at once, also if another connection made the change', async (_what, sql, expected) => {
  const { storage, schema } = await open()
  await kept(storage)
  await admin.query(sql.replaceAll('S.', `"${schema}".`))
  expect(await pageOf(storage)).toMatchObject(expected)
  expect(await pageOf(storage)).toMatchObject({ ...expected, isKept: expect.any(Boolean) })
})

test('other conditions, limits and fields are other pages', async () => {
  const { storage } = await open()
  await kept(storage)
  expect(await pageOf(storage, { limit: 2 })).toEqual({ items: itemsOf(1, 2), hasMore: true, last: '2', isKept: false })
  expect(await pageOf(storage, { limit: 3, where: { name: 'Thing 2' } })).toMatchObject({ items: itemsOf(2), isKept: false })
})

test('a transaction that writes sees each change that it makes, and keeps none', async () => {
  const { storage } = await open()
  await kept(storage)
  const sizes = await storage.transaction(async (tx) => {
    const seen: unknown[] = []
    for (const size of [5, 6, 7]) {
      await tx.update(things, '1', { size })
      seen.push((await pageIn(tx)).items[0])
    }
    return seen
  })
  expect(sizes).toEqual([{ size: 5 }, { size: 6 }, { size: 7 }].map((changed) => ({ ...itemsOf(1)[0], ...changed })))
})

test('a page is made anew on a connection that is younger: its server may be another one', async () => {
  const { storage } = await open()
  await kept(storage)
  const ended = storage.transaction(async ({ native }) =>
    (native as PgClient).query({ text: 'SELECT pg_terminate_backend(pg_backend_pid())', rowMode: 'array' }),
  )
  await expect(ended).rejects.toThrow()
  expect(await pageOf(storage)).toMatchObject({ items: itemsOf(1, 2, 3), isKept: false })
  expect(await pageOf(storage)).toMatchObject({ items: itemsOf(1, 2, 3), isKept: true })
})

test('a pooler may change the server behind a connection, so nothing is kept without prepared statements', async () => {
  const { storage } = await open({ prepared: false })
  for (let time = 0; time < 4; time++) expect((await pageOf(storage)).isKept).toBe(false)
})

/** Pages of 1 MiB each, and how they are asked for. */
function largePages() {
  const pages = keptPages()
  const asked: string[] = []
  const client: PgClient = { query: () => Promise.reject(new Error('nothing is sent')) }
  const text = 'x'.repeat(2 ** 20)
  const pageAt = (place: number): Statement => ({
    sql: 'page',
    values: [place],
    unless: (versions) => ({ sql: 'unless', values: [place, versions] }),
  })
  const result = (row: unknown[]): PgResult => ({ rows: [row], fields: [], command: 'SELECT', rowCount: 1 })
  /** As PostgreSQL would answer: with the text, unless its version is known. */
  const run = async ({ sql, values: [, versions] }: Statement) => {
    asked.push(sql)
    return result(versions === 'v' ? [null, '1', '1', 'f', null] : [text, '1', '1', 'f', 'v'])
  }
  async function isKept(place: number): Promise<boolean> {
    const { rows } = await pages.answer(client, pageAt(place), run)
    return rows[0]?.[0] instanceof Uint8Array
  }
  return { isKept, asked }
}

test('pages are kept up to 8 MiB; those that were asked for last stay', async () => {
  const { isKept } = largePages()
  for (let place = 0; place < 9; place++) for (const _ of ['first', 'again']) expect(await isKept(place)).toBe(false)
  for (let place = 8; place > 0; place--) expect(await isKept(place)).toBe(true)
  expect(await isKept(0)).toBe(false)
})

test('a page that would be gone before it is asked for again is not prepared for keeping', async () => {
  const { isKept, asked } = largePages()
  for (let round = 0; round < 3; round++) for (let place = 0; place < 9; place++) expect(await isKept(place)).toBe(false)
  expect(new Set(asked)).toEqual(new Set(['page']))
})
