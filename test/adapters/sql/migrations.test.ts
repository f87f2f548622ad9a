/** Schemas of any store, on both engines: what is added, what numbered steps do, and what is refused. */
import { describe, expect, test } from 'vitest'
import type { Schema } from '../../../adapters/sql/migrations.ts'
import type { SqlTable } from '../../../adapters/sql/schema.ts'
import { engines, type TestDatabase } from './engines.ts'

const events: SqlTable = {
  name: 'events',
  columns: { seq: { type: 'identity' }, taken: { type: 'integer' }, state: { type: 'text', default: 'new' } },
}
const first: Schema = { version: 1, tables: [events] }

const moreEvents: SqlTable = {
  name: 'events',
  columns: { ...events.columns, subject: { type: 'text', nullable: true }, note: "text NOT NULL DEFAULT 'none'" },
  indexes: [{ name: 'events_subject', on: 'subject, taken', where: 'subject IS NOT NULL' }],
}
const attempts: SqlTable = {
  name: 'attempts',
  columns: { event: { type: 'integer' }, number: { type: 'integer' }, at: { type: 'integer', nullable: true } },
  key: ['event', 'number'],
  constraints: ['CHECK (number > 0)'],
  options: { sqlite: 'WITHOUT ROWID', postgres: 'WITH (fillfactor = 50)' },
}
/** Additions alone: the version stays. */
const added: Schema = { version: 1, tables: [moreEvents, attempts] }

/** A column has another name from version 3 on; version 2 has put a value right. */
const renamed: Schema = {
  version: 3,
  tables: [
    {
      ...moreEvents,
      columns: {
        seq: { type: 'identity' },
        received_at: { type: 'integer' },
        state: { type: 'text', default: 'new' },
        subject: { type: 'text', nullable: true },
        note: "text NOT NULL DEFAULT 'none'",
      },
      indexes: [{ name: 'events_received', on: 'received_at' }],
    },
    attempts,
  ],
  steps: {
    2: (_existing, { table }) => [`UPDATE ${table('events')} SET state = 'fresh' WHERE state = 'new'`],
    3: ({ tables }, { table }) =>
      tables.get('events')?.has('taken') ? [`ALTER TABLE ${table('events')} RENAME COLUMN taken TO received_at`] : [],
  },
}

const version = async ({ rows, dialect }: TestDatabase) =>
  (await rows(`SELECT value FROM ${dialect.table('meta')} WHERE name = 'schema_version'`))[0]?.[0]
const insert = ({ rows, dialect }: TestDatabase, taken: number) =>
  rows(`INSERT INTO ${dialect.table('events')} (taken) VALUES (${taken})`)

describe.each(engines)('%s', (_name, open) => {
  test('additions leave rows and the version as they are, and an older program works with them', async () => {
    const database = await open()
    await database.migrate(first)
    await insert(database, 10)
    const statements = await database.migrate(added)
    expect(statements.map((each) => each.split(' ').slice(0, 2).join(' '))).toEqual([
      'ALTER TABLE',
      'ALTER TABLE',
      'CREATE INDEX',
      'CREATE TABLE',
    ])
    expect(await database.migrate(first)).toEqual([])
    await insert(database, 11)
    expect(await database.rows(`SELECT taken, state, subject, note FROM ${database.dialect.table('events')} ORDER BY 1`)).toEqual(
      [
        ['10', 'new', null, 'none'],
        ['11', 'new', null, 'none'],
      ],
    )
    expect(await version(database)).toBe('1')
  })

  test('numbered steps run in their order from the version that the database has, before additions', async () => {
    const database = await open()
    await database.migrate(added)
    await insert(database, 10)
    const statements = await database.migrate(renamed)
    expect(statements.map((each) => each.split(' ')[0])).toEqual(['UPDATE', 'ALTER', 'CREATE', 'INSERT'])
    expect(await database.rows(`SELECT received_at, state FROM ${database.dialect.table('events')}`)).toEqual([['10', 'fresh']])
    expect(await version(database)).toBe('3')
    expect(await database.migrate(renamed)).toEqual([])
  })

  test('a new database runs no step, and numbers its rows', async () => {
    const database = await open()
    const failing: Schema = {
      ...first,
      version: 2,
      steps: {
        2: () => {
          throw new Error('there is nothing to change')
        },
      },
    }
    await database.migrate(failing)
    await insert(database, 1)
    await insert(database, 2)
    expect(await database.rows(`SELECT seq FROM ${database.dialect.table('events')} ORDER BY seq`)).toEqual([['1'], ['2']])
    expect(await version(database)).toBe('2')
  })

  test('tables without a version are older than any step', async () => {
    const database = await open()
    await database.migrate(added)
    await insert(database, 10)
    await database.rows(`DELETE FROM ${database.dialect.table('meta')}`)
    await database.migrate(renamed)
    expect(await database.rows(`SELECT received_at FROM ${database.dialect.table('events')}`)).toEqual([['10']])
    expect(await version(database)).toBe('3')
  })

  test('a newer database is refused with both versions, and left alone', async () => {
    const database = await open()
    await database.migrate(renamed)
    const newer = { code: 'newer', message: expect.stringMatching(/has version 3, this one supports 1\): update folkmoot/) }
    await expect(database.migrate(first)).rejects.toMatchObject(newer)
    await expect(database.migrate(first, true)).rejects.toMatchObject(newer)
    await expect(database.requireMigrated(first)).rejects.toMatchObject(newer)
    expect(await version(database)).toBe('3')
  })

  test('a dry run shows the steps of a run, and leaves everything as it was', async () => {
    const database = await open()
    expect(await database.migrate(first, true)).toEqual(await database.migrate(first))
    await insert(database, 10)
    const planned = await database.migrate(renamed, true)
    expect(await version(database)).toBe('1')
    expect(await database.rows(`SELECT taken, state FROM ${database.dialect.table('events')}`)).toEqual([['10', 'new']])
    expect(await database.migrate(renamed)).toEqual(planned)
  })

  test('of many concurrent migrations one does it', async () => {
    const database = await open()
    await database.migrate(added)
    const runs = await Promise.all(Array.from({ length: 5 }, () => database.migrate(renamed)))
    expect(runs.filter((statements) => statements.length > 0)).toHaveLength(1)
  })

  test('a step that fails leaves nothing of those before it', async () => {
    const database = await open()
    await database.migrate(added)
    await insert(database, 10)
    const broken: Schema = { ...renamed, steps: { ...renamed.steps, 3: () => ['ALTER TABLE nowhere RENAME TO elsewhere'] } }
    await expect(database.migrate(broken)).rejects.toThrow(/nowhere/)
    expect(await database.rows(`SELECT taken, state FROM ${database.dialect.table('events')}`)).toEqual([['10', 'new']])
    expect(await version(database)).toBe('1')
    await database.migrate(renamed)
  })

  test('a program that must not migrate names the number of missing steps', async () => {
    const database = await open()
    await database.migrate(first)
    await database.requireMigrated(first)
    await expect(database.requireMigrated(added)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/lacks 4 changes of its tables: run/),
    })
    await expect(database.requireMigrated(renamed)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/has version 1, not 3, of its tables: run/),
    })
  })

  test('a table has its key, its constraints and its condition', async () => {
    const database = await open()
    await database.migrate(added)
    const table = database.dialect.table('attempts')
    await database.rows(`INSERT INTO ${table} VALUES (1, 1, NULL)`)
    await expect(database.rows(`INSERT INTO ${table} VALUES (1, 1, NULL)`)).rejects.toThrow()
    await expect(database.rows(`INSERT INTO ${table} VALUES (1, 0, NULL)`)).rejects.toThrow()
  })

  test('lists of any length are one parameter, and the clock is in milliseconds', async () => {
    const { dialect, migrate, rows } = await open()
    await migrate(first)
    const list = dialect.list([1, 3])
    const text = Array.isArray(list) ? `'{${list.join(',')}}'` : `'${String(list)}'`
    const numbers = 'SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3'
    expect(await rows(`SELECT n FROM (${numbers}) AS all_of WHERE ${dialect.among('n', 'integer', text)} ORDER BY n`)).toEqual([
      ['1'],
      ['3'],
    ])
    const [[now] = []] = await rows(`SELECT ${dialect.now}`)
    expect(Math.abs(Number(now) - Date.now())).toBeLessThan(60 * 60 * 1000)
  })
})
