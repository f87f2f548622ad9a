/** Migrations, on both databases: what they add, and what they refuse. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { migratePostgres, type PostgresStorage, postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { migrateSqlite, sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { createCommunity } from '../../../../lib/index.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { boolean, defaultsTo, derived, integer, json, nullable, table, text } from '../../../../lib/storage/table.ts'
import { networks } from '../../../../lib/storage/tables/administration.ts'
import { tables as allTables } from '../../../../lib/storage/tables.ts'
import type { TableDefinition } from '../../../../lib/testing/index.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { testPostgres } from '../../../support/postgres.ts'

/** A separate database, which can be migrated and opened with other tables than before. */
interface Database {
  migrate(tables: readonly TableDefinition[], dryRun?: boolean): Promise<readonly string[]>
  open(tables: readonly TableDefinition[], migrate?: boolean): Promise<Storage>
  /** Runs SQL on the tables as they are called here. */
  run(sql: (table: (name: string) => string) => string): Promise<void>
}

const closing = <S extends Storage>(storage: S): S => {
  onTestFinished(() => storage.close())
  return storage
}

function sqlite(): Database {
  const path = join(temporaryDirectory(), 'db.sqlite')
  return {
    migrate: (tables, dryRun = false) => migrateSqlite({ path, tables, dryRun }),
    open: async (tables, migrate = true) => closing(await sqliteStorage({ path, tables, migrate })),
    async run(sql) {
      const database = new DatabaseSync(path)
      database.exec(sql((name) => `folkmoot_${name}`))
      database.close()
    },
  }
}

const server = await testPostgres()

function postgres(): Database {
  const { url } = server
  const schema = server.newSchema()
  return {
    migrate: (tables, dryRun = false) => migratePostgres({ url, schema, tables, dryRun }),
    open: async (tables, migrate = true) => closing<PostgresStorage>(await postgresStorage({ url, schema, tables, migrate })),
    run: async (sql) => void (await (await server.client()).query(sql((name) => `"${schema}"."${name}"`))),
  }
}

const first = table('notes', { title: text() }, { unique: [['title']] })
const second = table(
  'notes',
  {
    title: text(),
    pinned: defaultsTo(boolean(), true),
    stock: defaultsTo(integer(), 3),
    mood: defaultsTo(text(), "it's fine"),
    tags: defaultsTo(json<readonly string[]>(), ['a']),
    folder: nullable(text()),
  },
  { unique: [['title']], indexes: [['folder']] },
)
/** The table as version 1 of each engine made it, in the statements of its day. */
const versionOne: Readonly<Record<string, (name: (table: string) => string) => string>> = {
  sqlite: (name) => `
    CREATE TABLE ${name('meta')} ("name" TEXT PRIMARY KEY, "value" TEXT NOT NULL) STRICT;
    CREATE TABLE ${name('outbox')} ("seq" INTEGER PRIMARY KEY AUTOINCREMENT, "appended_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')), "records" TEXT NOT NULL) STRICT;
    CREATE TABLE ${name('notes')} ("id" INTEGER PRIMARY KEY, "network_id" INTEGER NOT NULL, "created_at" TEXT NOT NULL, "updated_at" TEXT NOT NULL, "title" TEXT NOT NULL, "pinned" INTEGER NOT NULL DEFAULT 1, "stock" INTEGER NOT NULL DEFAULT 3, "mood" TEXT NOT NULL DEFAULT 'fine', "tags" TEXT NOT NULL DEFAULT '["a"]', "folder" TEXT) STRICT;
    CREATE UNIQUE INDEX "folkmoot_notes_network_id_title_key" ON ${name('notes')} ("network_id", "title");
    CREATE INDEX "folkmoot_notes_network_id_id_index" ON ${name('notes')} ("network_id");
    CREATE INDEX "folkmoot_notes_network_id_folder_id_index" ON ${name('notes')} ("network_id", "folder");
    INSERT INTO ${name('meta')} ("name", "value") VALUES ('schema_version', '1');`,
  postgres: (name) => `
    CREATE SCHEMA ${name('').split('.')[0]};
    CREATE TABLE ${name('meta')} ("name" text PRIMARY KEY, "value" text NOT NULL);
    CREATE TABLE ${name('outbox')} ("seq" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "appended_at" timestamptz NOT NULL DEFAULT now(), "records" json NOT NULL);
    CREATE UNLOGGED TABLE ${name('rate_limits')} ("key" text COLLATE "C" PRIMARY KEY, "used" integer NOT NULL, "ends_at" timestamptz NOT NULL) WITH (fillfactor = 50);
    CREATE TABLE ${name('notes')} ("id" bigint PRIMARY KEY, "network_id" bigint NOT NULL, "created_at" text COLLATE "C" NOT NULL, "updated_at" text COLLATE "C" NOT NULL, "title" text COLLATE "C" NOT NULL, "pinned" boolean NOT NULL DEFAULT true, "stock" bigint NOT NULL DEFAULT 3, "mood" text COLLATE "C" NOT NULL DEFAULT 'fine', "tags" json NOT NULL DEFAULT '["a"]', "folder" text COLLATE "C");
    CREATE UNIQUE INDEX "notes_network_id_title_key" ON ${name('notes')} ("network_id", "title");
    CREATE INDEX "notes_network_id_id_index" ON ${name('notes')} ("network_id", "id");
    CREATE INDEX "notes_network_id_folder_id_index" ON ${name('notes')} ("network_id", "folder" NULLS FIRST, "id");
    INSERT INTO ${name('meta')} ("name", "value") VALUES ('schema_version', '1');`,
}
/** The first one with columns that follow from its own. */
const keyed = table(
  'notes',
  {
    title: text(),
    title_key: derived(['title'], ({ title }: { title: string }) => title.toUpperCase()),
    both: derived(['id', 'title'], (row: { id: string; title: string }) => `${row.id} ${row.title}`),
  },
  { unique: [['title']], indexes: [['title_key']] },
)
const other = table('others', { name: text() })
const at = '2026-11-20T10:00:00.000Z'
const note = { id: '1', network_id: '1', created_at: at, updated_at: at, title: 'First' }

describe.each([
  ['sqlite', sqlite],
  ['postgres', postgres],
])('%s', (engine, database) => {
  test('a database of version 1, as it was made then, opens as it is with its rows', async () => {
    const { migrate, open, run } = database()
    await run((name) => {
      const row = `INSERT INTO ${name('notes')} ("id", "network_id", "created_at", "updated_at", "title") VALUES (1, 1, '${at}', '${at}', 'First')`
      return `${versionOne[engine]?.(name)} ${row}`
    })
    expect(await migrate([second])).toEqual([])
    const storage = await open([second], false)
    const row = await storage.transaction((tx) => tx.get(second, '1'))
    expect(row).toEqual({ ...note, pinned: true, stock: 3, mood: 'fine', tags: ['a'], folder: null })
  })

  test('a new column that follows from others is filled in the rows that are there, once', async () => {
    const { migrate, open } = database()
    const before = await open([first])
    const titles = Array.from({ length: 450 }, (_, place) => `Tïtle '${place}' \\ é`)
    await before.transaction(async (tx) => {
      for (const [place, title] of titles.entries()) await tx.insert(first, { ...note, id: String(place * 3 + 1), title })
    })
    await before.close()

    expect(await migrate([keyed], true)).toHaveLength(3)
    await migrate([keyed])
    const after = await open([keyed], false)
    const rows = await after.transaction((tx) => tx.find(keyed, {}))
    expect(rows.map(({ title }) => title)).toEqual(titles)
    expect(rows.map(({ title_key }) => title_key)).toEqual(titles.map((title) => title.toUpperCase()))
    expect(rows.map(({ both }) => both)).toEqual(rows.map(({ id, title }) => `${id} ${title}`))
    const marked = { title_key: 'as it is' }
    await after.transaction((tx) => tx.update(keyed, '1', marked))
    await after.close()
    await migrate([keyed, other])
    const again = await open([keyed], false)
    expect(await again.transaction((tx) => tx.get(keyed, '1'))).toMatchObject(marked)
  })

  test('a new version adds tables, columns with their defaults, and indexes; rows stay', async () => {
    const { migrate, open } = database()
    const before = await open([first])
    await before.transaction((tx) => tx.insert(first, note))
    await before.close()

    const planned = await migrate([second, other], true)
    const applied = await migrate([second, other])
    expect(applied).toEqual(planned)
    expect(applied.filter((step) => step.startsWith('ALTER TABLE'))).toHaveLength(5)
    expect(applied.filter((step) => step.startsWith('CREATE TABLE'))).toHaveLength(1)
    expect(applied.join('\n')).not.toMatch(/DROP|DELETE/)

    const after = await open([second, other], false)
    const row = await after.transaction((tx) => tx.get(second, '1'))
    expect(row).toEqual({ ...note, pinned: true, stock: 3, mood: "it's fine", tags: ['a'], folder: null })
  })

  test('an index without the usual rows finds every row, beside the whole one of an older program', async () => {
    const { migrate, open } = database()
    const posts = (usual = {}) =>
      table('posts', { kind: text(), place: text() }, { indexes: [['place'], ['kind', 'place']], usual })
    const [older, newer] = [posts(), posts({ kind: 'post' })]
    const row = (id: string, kind: string) => ({ ...note, title: undefined, id, kind, place: 'here' })
    const before = await open([older])
    await before.transaction(async (tx) => {
      for (const [index, kind] of ['post', 'poll', 'post'].entries()) await tx.insert(older, row(String(index + 1), kind))
    })
    await before.close()
    const statements = await migrate([newer])
    expect(statements.map((each) => each.slice(0, 12))).toEqual(['CREATE INDEX'])
    expect(await migrate([newer])).toEqual([])
    expect(await migrate([older])).toEqual([])
    const after = await open([newer], false)
    const idsWhere = (where: object) => after.transaction(async (tx) => (await tx.find(newer, { where })).map(({ id }) => id))
    expect(await idsWhere({ kind: 'post', place: 'here' })).toEqual(['1', '3'])
    expect(await idsWhere({ kind: 'poll', place: 'here' })).toEqual(['2'])
    expect(await idsWhere({ kind: ['poll', 'post'] })).toEqual(['1', '2', '3'])
    expect(await idsWhere({ kind: 'other' })).toEqual([])
  })

  test('an index of the parts of texts is made where the database can, and has the rows that are there', async () => {
    const { migrate, open, run } = database()
    const searched = table('notes', { title: text() }, { unique: [['title']], searched: { column: 'title', holds: [] } })
    const before = await open([first])
    await before.transaction((tx) => tx.insert(first, note))
    await before.close()
    const made = await migrate([searched], true)
    // PostgreSQL needs an extension, which may come at any time, and into any schema.
    expect(made.map((each) => each.slice(0, 14)).includes('CREATE VIRTUAL')).toBe(engine === 'sqlite')
    const found = async (storage: Storage, part: string) =>
      (await storage.transaction((tx) => tx.find(searched, { contains: { title: [part] } }))).map(({ id }) => id)
    const without = await open([searched])
    expect(await found(without, 'irs')).toEqual(['1'])
    if (engine === 'postgres') await run(() => 'CREATE SCHEMA "More"; CREATE EXTENSION pg_trgm SCHEMA "More"')
    await (await open([searched], false)).close()
    expect(await migrate([searched])).toHaveLength(engine === 'sqlite' ? 0 : 1)
    expect(await migrate([searched])).toEqual([])
    const older = await open([first], false)
    await older.transaction((tx) => tx.insert(first, { ...note, id: '2', title: 'Thirsty' }))
    await older.transaction((tx) => tx.update(first, '1', { title: 'Second' }))
    const storage = await open([searched], false)
    expect(await found(storage, 'irs')).toEqual(['2'])
    expect(await found(storage, 'eco')).toEqual(['1'])
    expect(await found(storage, '%')).toEqual([])
  })

  test('a second run finds nothing to do, and so does a dry run that was not applied', async () => {
    const { migrate } = database()
    const planned = await migrate([first], true)
    expect(await migrate([first], true)).toEqual(planned)
    expect(await migrate([first])).toEqual(planned)
    expect(await migrate([first])).toEqual([])
    expect(await migrate([first], true)).toEqual([])
  })

  test('the whole data model goes in, and is complete', async () => {
    const { migrate, open } = database()
    expect((await migrate(allTables)).filter((step) => step.startsWith('CREATE TABLE'))).toHaveLength(allTables.length + 2)
    await open(allTables, false)
  })

  test('a database without an audit gets one, and its rows stay', async () => {
    const { migrate, open } = database()
    const earlier = allTables.filter(({ name }) => name !== 'audit')
    const before = await open(earlier)
    const row = { id: '1', network_id: '1', created_at: at, updated_at: at, subdomain: 'demo', title: 'Demo' }
    const texts = {
      subtitle: '',
      purpose: '',
      description: '',
      service_plan: 'standard',
      member_email_visibility: false,
      read_only: false,
    } as const
    await before.transaction((tx) => tx.insert(networks, { ...row, ...texts }))
    await before.close()
    const statements = await migrate(allTables)
    expect(statements.every((each) => /^CREATE (?:TABLE|INDEX) \S*audit/.test(each.replace('"', '')))).toBe(true)
    const storage = await open(allTables, false)
    const { networks: changing, audit } = createCommunity({ storage })
    await changing.update('demo', { title: 'Renamed' })
    expect((await audit.list({ network: 'demo' })).items).toMatchObject([
      { action: 'network.updated', details: { title: { from: 'Demo', to: 'Renamed' } } },
    ])
  })

  test('of many concurrent migrations one does it, and the others find it done', async () => {
    const { migrate } = database()
    const runs = await Promise.all(Array.from({ length: 5 }, () => migrate([first, other])))
    expect(runs.filter((steps) => steps.length > 0)).toHaveLength(1)
  })

  test('an older program works on a database that a newer one has migrated', async () => {
    const { migrate, open } = database()
    await migrate([second, other])
    const storage = await open([first])
    await storage.transaction((tx) => tx.insert(first, note))
    expect(await storage.transaction((tx) => tx.get(first, '1'))).toEqual(note)
  })

  test('a database of a newer version is refused with a sentence', async () => {
    const { migrate, open, run } = database()
    await migrate([first])
    await run((name) => `UPDATE ${name('meta')} SET value = '99'`)
    const newer = { code: 'newer', message: expect.stringMatching(/newer version of folkmoot.*version 99.*update folkmoot/) }
    await expect(migrate([first])).rejects.toMatchObject(newer)
    await expect(migrate([first], true)).rejects.toMatchObject(newer)
    await expect(open([first])).rejects.toMatchObject(newer)
    await expect(open([first], false)).rejects.toMatchObject(newer)
  })

  test('a storage that must not migrate names the missing parts', async () => {
    const { migrate, open } = database()
    await migrate([first])
    await expect(open([second], false)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/lacks 6 changes.*folkmoot migrate/),
    })
  })

  test('a new column without null or default is refused before anything is done', async () => {
    const { migrate } = database()
    await migrate([first])
    const third = table('notes', { title: text(), must: text() }, { unique: [['title']] })
    await expect(migrate([other, third])).rejects.toThrow('notes.must is new')
    expect((await migrate([other])).length).toBeGreaterThan(0)
  })

  test('a migration that fails half-way leaves nothing of itself', async () => {
    const { migrate, open, run } = database()
    const storage = await open([first])
    await storage.transaction((tx) => tx.insert(first, note))
    await storage.transaction((tx) => tx.insert(first, { ...note, id: '2', title: 'Second' }))
    await run((name) => `UPDATE ${name('notes')} SET updated_at = created_at`)
    const impossible = table('notes', { title: text() }, { unique: [['title'], ['updated_at' as 'title']] })
    await expect(migrate([other, impossible])).rejects.toThrow(/unique/i)
    expect((await migrate([other])).filter((step) => step.startsWith('CREATE TABLE'))).toHaveLength(1)
  })
})
