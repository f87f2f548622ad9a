/** A database of an earlier version, whose tags, badges and options have no keys of their titles, and some of them twice. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lowdbStorage } from '../../../adapters/storage/lowdb.ts'
import { postgresStorage } from '../../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { createCommunity } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { scoped } from '../../../lib/storage/scoped.ts'
import type { Row, Table } from '../../../lib/storage/table.ts'
import { customFields, segments } from '../../../lib/storage/tables/custom-fields.ts'
import { tables } from '../../../lib/storage/tables.ts'
import { request } from '../../support/community.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'

const server = await testPostgres()

const isNew = (column: string) => ['title_key', 'twin_id'].includes(column)
const { title_key: _, twin_id: __, ...columns } = segments.columns as Table['columns']
/** The table as it was. */
const older: Table<Row> = {
  ...(segments as unknown as Table<Row>),
  columns,
  unique: segments.unique.filter((key) => !key.some(isNew)),
  indexes: segments.indexes.filter((key) => !key.some(isNew)),
}
const olderTables = tables.map((table) => (table.name === 'segments' ? older : table))

/** How the storage of each engine is opened, by this version and by an earlier one. */
const engines: Readonly<Record<string, () => (isOlder: boolean) => Promise<Storage>>> = {
  lowdb() {
    const path = join(temporaryDirectory(), 'db.json')
    const outbox = { append: async () => {}, close: async () => {} }
    return () => lowdbStorage({ path, outbox })
  },
  sqlite() {
    const path = join(temporaryDirectory(), 'db.sqlite')
    return (isOlder) => sqliteStorage({ path, ...(isOlder ? { tables: olderTables } : {}) })
  },
  postgres() {
    const place = { url: server.url, schema: server.newSchema() }
    return (isOlder) => postgresStorage({ ...place, ...(isOlder ? { tables: olderTables } : {}) })
  },
}

test.each(Object.keys(engines))('%s opens with twins among its titles, finds each, and adds no more', async (name) => {
  const open = engines[name]?.()
  if (!open) throw new Error(`there is no engine ${name}`)
  const earlier = await open(true)
  const before = createCommunity({ storage: earlier, allowHttp: true })
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: '' }
  await before.networks.create({ id: '1', subdomain: 'demo', title: 'Demo', service_plan: 'unlimited', owner })
  const { token } = await before.keys.create({ network_id: '1', name: 'test', scopes: ['*'] })
  await earlier.transaction(async (raw) => {
    const tx = scoped(raw, '1')
    const field = await tx.first(customFields, { response_type: 'tag' })
    for (const [place, title] of ['VIP', ' vip ', 'VIP', 'Guest'].entries()) {
      const at = '2026-11-20T10:00:00.000Z'
      const row = {
        id: String(1001 + place),
        network_id: '1',
        created_at: at,
        updated_at: at,
        kind: 'tag',
        title,
        creator_id: '1',
      }
      const rest = { custom_field_id: field?.id, description: null, color: null, avatar_id: null, avatar_url: null }
      await raw.insert(older, { ...row, ...rest, member_count: 0, is_ad_hoc: false } as Row)
    }
  })
  await before.close()

  const storage = await open(false)
  const community = createCommunity({ storage, allowHttp: true })
  onTestFinished(() => community.close())
  const send = (method: string, path: string, body?: unknown) =>
    request(community, method, `/admin/v1/networks/1${path}`, {
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const listed = async () => (await send('GET', '/tags')).body.items.map(({ title }: { title: string }) => title)
  expect(await listed()).toEqual(['VIP', ' vip ', 'VIP', 'Guest'])
  expect(await send('POST', '/tags', { title: 'vip' })).toMatchObject({ status: 422 })
  const made = await Promise.all(['New', 'new', 'NEW'].map((title) => send('POST', '/tags', { title })))
  expect(made.map(({ status }) => status).sort()).toEqual([201, 422, 422])
  expect(await send('PATCH', '/tags/1002/', { title: 'Vip', description: 'A twin' })).toMatchObject({ status: 200 })
  expect(await send('PATCH', '/tags/1002/', { title: 'Guest' })).toMatchObject({ status: 422 })
  expect(await send('PATCH', '/tags/1002/', { title: 'Crew' })).toMatchObject({ status: 200 })
  expect(await send('POST', '/tags', { title: 'VIP' })).toMatchObject({ status: 422 })
  const keys = await storage.transaction((tx) => tx.find(segments, { where: { network_id: '1', id: ['1001', '1002', '1003'] } }))
  expect(keys.map(({ title_key }) => title_key)).toEqual(['vip', 'crew', 'vip'])
})
