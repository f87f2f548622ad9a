/** `folkmoot copy`: everything of one storage into another. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { postgresOutbox, postgresStorage } from '../../../adapters/storage/postgres.ts'
import { sqliteOutbox, sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { copyTables, endCopy } from '../../../daemon/server/storage/copy-tables.ts'
import { createCommunity } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import type { Row, Table } from '../../../lib/storage/table.ts'
import { networks } from '../../../lib/storage/tables/administration.ts'
import { tables } from '../../../lib/storage/tables.ts'
import { recordsOf } from '../../adapters/storage/records-of.ts'
import { begun } from '../../support/begun.ts'
import { run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'
import { ended } from '../../support/program.ts'
import { createSeededCommunity } from '../../support/seed.ts'
import { wrappedStorage } from '../../support/storage.ts'

const server = await testPostgres()

const everything = (storage: Storage) =>
  storage.transaction(async (tx) => {
    const all: Record<string, unknown> = {}
    for (const table of tables as readonly Table<Row>[]) all[table.name] = await tx.find(table, {})
    return all
  })

async function emptySqlite(): Promise<Storage> {
  const storage = await sqliteStorage({ path: join(temporaryDirectory(), 'db.sqlite') })
  onTestFinished(() => storage.close())
  return storage
}

test('a network arrives whole, from memory over SQLite into PostgreSQL', async () => {
  const seeded = await createSeededCommunity({ storage: memoryStorage() })
  const sqlite = await emptySqlite()
  const schema = server.newSchema()
  const postgres = await postgresStorage({ url: server.url, schema })
  onTestFinished(() => postgres.close())
  await copyTables(seeded.storage, sqlite, 'memory')
  await endCopy(sqlite)
  await copyTables(sqlite, postgres, 'sqlite')
  await endCopy(postgres)
  expect(await everything(postgres)).toEqual(await everything(seeded.storage))
})

function breaksAfterSevenWrites(storage: Storage): Storage {
  let writes = 0
  return wrappedStorage(storage, {
    transaction: (work, options) => {
      if (!options?.readOnly && ++writes === 8) throw new Error('the power went')
      return storage.transaction(work, options)
    },
  })
}

test('an interrupted copy resumes where it was, and brings no row twice', async () => {
  const { storage: from } = await createSeededCommunity({ storage: memoryStorage() })
  const to = await emptySqlite()
  const breaking = breaksAfterSevenWrites(to)
  await expect(copyTables(from, breaking, 'memory')).rejects.toThrow('the power went')
  const seen: number[] = []
  const counts = await copyTables(from, to, 'memory', ({ copied }) => void seen.push(copied))
  await endCopy(to)
  expect(await everything(to)).toEqual(await everything(from))
  expect(seen.at(-1)).toBe(Object.values(counts).reduce((sum, count) => sum + count, 0))
  // It did not begin at the beginning.
  expect(seen[0]).toBeGreaterThan(20)
})

test('copy refuses a non-empty target, and the unfinished copy of another source', async () => {
  const { storage: from } = await createSeededCommunity({ storage: memoryStorage() })
  const { storage: filled } = await createSeededCommunity({ storage: await emptySqlite() })
  await expect(copyTables(from, filled, 'memory')).rejects.toThrow(/not empty, these tables hold rows: networks 1, api_keys 1/)
  const begun = await emptySqlite()
  await copyTables(from, begun, 'memory')
  await expect(copyTables(from, begun, 'another')).rejects.toThrow(/unfinished copy of memory/)
})

test('an empty source is refused: most likely its name is wrong', async () => {
  await expect(copyTables(memoryStorage(), await emptySqlite(), 'memory')).rejects.toThrow(/source is empty/)
})

test('counts that differ in the end are told', async () => {
  const { storage: from } = await createSeededCommunity({ storage: memoryStorage() })
  const losing = wrappedStorage(from, { tx: (tx) => ({ find: async (table, query) => (await tx.find(table, query)).slice(1) }) })
  await expect(copyTables(losing, await emptySqlite(), 'memory')).rejects.toThrow(
    /counts of source and target differ \(networks 1 and 0/,
  )
})

test('folkmoot copy takes a lowdb file into PostgreSQL, and the relay there is notified of the endpoints', async () => {
  const from = `lowdb:${join(temporaryDirectory(), 'db.json')}`
  const schema = server.newSchema()
  const to = `${server.url}?schema=${schema}`
  const api = begun('serve', '--storage', from, '--demo', '--allow-http', '--json', '--port', '0')
  await api.firstLine()
  await api.stop()
  const endpoint = ['--network', 'demo', '--url', 'https://hooks.example.org/in', '--token', 'k']
  expect((await ended('folkmoot', 'endpoints', 'add', '--storage', from, ...endpoint)).code).toBe(0)

  const first = run('folkmoot', 'copy', '--from', from, '--to', to, '--json')
  expect(await first.ended).toBe(0)
  const report = JSON.parse(first.out.stdout)
  expect(report.tables).toMatchObject({ networks: 1, members: 60 })
  expect(first.out.stderr).toContain('rows, members')
  const records = await recordsOf(await postgresOutbox({ url: server.url, schema }))
  expect(records).toEqual([expect.objectContaining({ kind: 'endpoint', url: 'https://hooks.example.org/in' })])
  const newest = await ended('folkmoot', 'audit', 'list', '--storage', to, '--limit', '1', '--json')
  expect(JSON.parse(newest.stdout)).toMatchObject({ action: 'endpoints.republished', actor: expect.stringMatching(/^cli:./) })

  const second = await ended('folkmoot', 'copy', '--from', from, '--to', to)
  expect(second.code).toBe(2)
  expect(second.stderr).toMatch(/^folkmoot: the target is not empty/)
})

async function emptyPostgres(): Promise<Storage> {
  const storage = await postgresStorage({ url: server.url, schema: server.newSchema() })
  onTestFinished(() => storage.close())
  return storage
}

/** A seeded network that is read-only, and another one in its storage. */
async function standing(storage: Storage) {
  const { community, token, clock } = await createSeededCommunity({ storage })
  const owner = { email: 'x@example.org', first_name: 'X', last_name: '' }
  await community.networks.create({ id: 2, subdomain: 'second', title: 'Second', owner })
  await community.endpoints.upsert({ network: 1, url: 'https://one.example/hook', token: 'k', secrets: true })
  const network = await community.networks.update(1, { read_only: true })
  return { community, token, clock, network, move: (to: Storage) => copyTables(storage, to, 'there', () => {}, network) }
}

const ofNetwork = async (storage: Storage, network_id = '1') => {
  const all = await everything(storage)
  return Object.entries(all).map(([name, rows]) => [name, (rows as Row[]).filter((row) => row.network_id === network_id)])
}

test.each([
  ['SQLite', 'PostgreSQL', emptySqlite, emptyPostgres],
  ['PostgreSQL', 'SQLite', emptyPostgres, emptySqlite],
] as const)('a network of %s moves into %s beside others, and is interrupted anywhere', async (_from, _to, open, openTarget) => {
  const from = await open()
  const { network, token, move } = await standing(from)
  const to = await openTarget()
  const there = createCommunity({ storage: to, allowHttp: true })
  const owner = { email: 'y@example.org', first_name: 'Y', last_name: '' }
  await there.networks.create({ id: 3, subdomain: 'third', title: 'Third', owner })
  const third = await ofNetwork(to, '3')
  let [writes, breaks] = [0, 0]
  const breaking = wrappedStorage(to, {
    transaction: (work, options) => {
      if (!options?.readOnly && ++writes % 5 === 0 && ++breaks) throw new Error('the power went')
      return to.transaction(work, options)
    },
  })
  while (
    await move(breaking).then(
      () => false,
      (error: Error) => error.message === 'the power went',
    )
  );
  await endCopy(to, network)
  expect(breaks).toBeGreaterThan(2)
  expect(await ofNetwork(to)).toEqual(await ofNetwork(from))
  expect([await ofNetwork(to, '2'), await ofNetwork(to, '3')]).toEqual([await ofNetwork(to, '9'), third])
  const get = (path: string, method = 'GET') =>
    there.fetch(new Request(`http://x/admin/v1/networks/1/${path}`, { method, headers: { authorization: `Bearer ${token}` } }))
  expect([(await get('me')).status, (await get('members/1', 'DELETE')).status]).toEqual([200, 503])
})

test('a copy of another time is replaced, and its endpoints that are gone are removed at the relay', async () => {
  const from = await emptySqlite()
  const { community, move } = await standing(from)
  const path = join(temporaryDirectory(), 'to.sqlite')
  const to = await sqliteStorage({ path })
  onTestFinished(() => to.close())
  await move(to)
  await community.networks.update(1, { read_only: false })
  const [endpoint] = await community.endpoints.list(1)
  await community.endpoints.remove(1, endpoint?.id ?? '')
  const network = await community.networks.update(1, { read_only: true })
  await copyTables(from, to, 'there, later', () => {}, network)
  await endCopy(to, network)
  expect(await ofNetwork(to)).toEqual(await ofNetwork(from))
  expect(await recordsOf(await sqliteOutbox(path))).toMatchObject([{ kind: 'endpoint', action: 'remove', id: endpoint?.id }])
})

test('a network that has taken writes in the target since, or that is another one there, is left alone', async () => {
  const { network, move } = await standing(await emptySqlite())
  const to = await emptySqlite()
  await move(to)
  await endCopy(to, network)
  const there = createCommunity({ storage: to })
  await there.networks.update(1, { read_only: false })
  const before = await everything(to)
  const refusal = /the target's network 1 has changed since the source became read-only/
  await expect(move(to)).rejects.toThrow(refusal)
  await there.networks.update(1, { read_only: true })
  await expect(move(to)).rejects.toThrow(refusal)
  expect((await ofNetwork(to)).filter(([name]) => name !== 'networks' && name !== 'audit')).toEqual(
    Object.entries(before).filter(([name]) => name !== 'networks' && name !== 'audit'),
  )
  const other = await emptySqlite()
  await createSeededCommunity({ storage: other })
  await other.transaction((tx) => tx.update(networks, '1', { subdomain: 'first' }))
  const owner = { email: 'z@example.org', first_name: 'Z', last_name: '' }
  await createCommunity({ storage: other }).networks.create({ id: 7, subdomain: 'demo', title: 'Demo', owner })
  await expect(move(other)).rejects.toThrow('the target holds another network demo, with the id 7: give another target')
})

test.each([
  ['SQLite', () => join(temporaryDirectory(), 'db.sqlite'), (path: string) => sqliteStorage({ path })],
  ['PostgreSQL', () => server.newSchema(), (schema: string) => postgresStorage({ url: server.url, schema })],
] as const)('a network of %s stays when the target is its own storage by another address', async (_engine, place, open) => {
  const at = place()
  const [storage, again] = [await open(at), await open(at)]
  for (const each of [storage, again]) onTestFinished(() => each.close())
  const { move } = await standing(storage)
  const before = await everything(storage)
  for (const _time of [1, 2]) await expect(move(again)).rejects.toThrow('--from and --to are the same storage')
  expect(await everything(storage)).toEqual(before)
})

test('a copy of a network that takes writes meanwhile is refused in the end, and the next one replaces it', async () => {
  const from = await emptySqlite()
  const { community, clock, network, move } = await standing(from)
  const to = await emptySqlite()
  let writes = 0
  const slow = wrappedStorage(to, {
    transaction: async (work, options) => {
      if (!options?.readOnly && ++writes === 12) {
        clock.advance(1000)
        await community.networks.update(1, { read_only: false })
        const [member] = (await community.members.list(1, { limit: 1 })).items
        await community.call('members.update', { network: 1, params: { id: member?.id ?? '' }, body: { first_name: 'Later' } })
        await community.networks.update(1, { read_only: true })
      }
      return to.transaction(work, options)
    },
  })
  await expect(move(slow)).rejects.toThrow('network 1 of --from has changed while it was copied: copy it again')
  const [again] = await community.networks.list()
  if (!again) throw new Error('the network is gone')
  expect(again.updated_at > network.updated_at).toBe(true)
  await copyTables(from, to, 'there, later', () => {}, again)
  await endCopy(to, again)
  expect(await ofNetwork(to)).toEqual(await ofNetwork(from))
})

test('a network stays when its unfinished copy is named as the source', async () => {
  const from = await emptySqlite()
  const { network, move } = await standing(from)
  const to = await emptySqlite()
  const breaking = breaksAfterSevenWrites(to)
  await expect(move(breaking)).rejects.toThrow('the power went')
  const before = await everything(from)
  await expect(copyTables(to, from, 'the copy', () => {}, network)).rejects.toThrow(
    '--from has an unfinished copy of there: finish that one first',
  )
  expect(await everything(from)).toEqual(before)
  await move(to)
  await endCopy(to, network)
  expect(await ofNetwork(to)).toEqual(await ofNetwork(from))
})

test('folkmoot copy --network needs a network that is read-only, and takes it from lowdb beside another one, and back', async () => {
  const [first, second] = [1, 2].map(() => `lowdb:${join(temporaryDirectory(), 'db.json')}`) as [string, string]
  const make = async (storage: string, subdomain: string) => {
    const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']
    const made = await ended(
      'folkmoot',
      'networks',
      'create',
      '--storage',
      storage,
      '--subdomain',
      subdomain,
      '--title',
      'T',
      ...owner,
    )
    expect(made.code).toBe(0)
  }
  await make(first, 'paint-pals')
  await make(second, 'knitters')
  const copy = (from: string, to: string, network = 'paint-pals') =>
    ended('folkmoot', 'copy', '--from', from, '--to', to, '--network', network)
  const update = async (storage: string, ...flags: string[]) =>
    expect((await ended('folkmoot', 'networks', 'update', 'paint-pals', '--storage', storage, ...flags)).code).toBe(0)
  const refused = await copy(first, second)
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining(`\`folkmoot networks update paint-pals --storage ${first} --read-only\``),
  ])
  expect((await copy(first, second, 'nobody')).stderr).toContain('there is no network nobody in --from')
  await update(first, '--read-only')
  expect((await copy(first, second)).code).toBe(0)
  await update(second, '--no-read-only', '--title', 'Moved')
  // Too late: what it has taken since would be lost.
  expect((await copy(first, second)).stderr).toContain('are --from and --to the right way round?')
  await update(second, '--read-only')
  expect((await copy(first, second)).stderr).toContain('are --from and --to the right way round?')
  expect((await copy(second, first)).code).toBe(0)
  const shown = await ended('folkmoot', 'networks', 'show', 'paint-pals', '--storage', first, '--json')
  expect(JSON.parse(shown.stdout)).toMatchObject({ title: 'Moved', read_only: true })
  const lines = await ended('folkmoot', 'audit', 'list', '--storage', first, '--network', 'paint-pals', '--json')
  expect(lines.stdout).toContain('network.pulled')
})
