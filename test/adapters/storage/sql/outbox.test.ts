/** Outboxes that are tables: read by what is there, never by number; deleted when it is settled. */
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { outboxReader, takeFromOutbox } from '../../../../adapters/storage/postgres/outbox.ts'
import { postgresOutbox, postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { sqliteOutbox, sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import type { OutboxRecord } from '../../../../lib/outbox/record.ts'
import type { OutboxSource, Positions, Reading } from '../../../../lib/outbox/source.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { storeAndTell, thing, things, wordOf } from '../things.ts'

const server = await testPostgres()
const much = 1024 * 1024

interface Subject {
  readonly storage: Storage
  source(): Promise<OutboxSource>
}

async function sqlite(): Promise<Subject> {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const storage = await sqliteStorage({ path, tables: [things] })
  onTestFinished(() => storage.close())
  return { storage, source: () => closing(sqliteOutbox(path)) }
}

async function postgres(schema = server.newSchema()): Promise<Subject> {
  const storage = await postgresStorage({ url: server.url, schema, tables: [things] })
  onTestFinished(() => storage.close())
  return { storage, source: () => closing(postgresOutbox({ url: server.url, schema })) }
}

async function closing(opening: Promise<OutboxSource>): Promise<OutboxSource> {
  const source = await opening
  onTestFinished(() => source.close())
  return source
}

const tell = (storage: Storage, ...ids: readonly (number | string)[]) =>
  storage.transaction((tx) => tx.append(ids.map((id) => wordOf(id))))

const idsOf = (records: readonly OutboxRecord[]) =>
  records.map((record) => ('event_id' in record ? record.event_id : 'id' in record ? record.id : record.ids.join()))
const idsIn = ({ commits }: Reading) => commits.map(idsOf)

describe.each([
  ['sqlite', sqlite],
  ['postgres', () => postgres()],
])('%s', (_name, open) => {
  test('the backlog is the part that was not ingested, whether it is still there or not', async () => {
    const { storage, source } = await open()
    await tell(storage, 'a', 'b')
    await tell(storage, 'c')
    const outbox = await source()
    expect(await outbox.backlog({})).toEqual({ unit: 'commits', count: 2 })
    const { positions } = await outbox.read({}, much)
    expect([await outbox.backlog({}), await outbox.backlog(positions)].map(({ count }) => count)).toEqual([2, 0])
    await tell(storage, 'd')
    await outbox.settle(positions)
    expect((await outbox.backlog(positions)).count).toBe(1)
  })

  test('commits come in their order, each as it was made, and once', async () => {
    const { storage, source } = await open()
    await tell(storage, 'a', 'b')
    await tell(storage, 'c')
    const outbox = await source()
    const first = await outbox.read({}, much)
    expect(idsIn(first)).toEqual([['a', 'b'], ['c']])
    expect(first).toMatchObject({ more: false, damage: [] })
    await tell(storage, 'd')
    expect(idsIn(await outbox.read(first.positions, much))).toEqual([['d']])
  })

  test('a reading that was not ingested comes again', async () => {
    const { storage, source } = await open()
    await tell(storage, 'a')
    const outbox = await source()
    const lost = await outbox.read({}, much)
    await tell(storage, 'b')
    const again = await outbox.read({}, much)
    expect([idsIn(lost), idsIn(again)]).toEqual([[['a']], [['a'], ['b']]])
    expect(idsIn(await outbox.read(again.positions, much))).toEqual([])
  })

  test('what is settled is gone for good; what was only read is there for the next process', async () => {
    const { storage, source } = await open()
    await tell(storage, 'a')
    const outbox = await source()
    const taken = await outbox.read({}, much)
    await tell(storage, 'b')
    const read = await outbox.read(taken.positions, much)
    expect(await outbox.settle(taken.positions)).toEqual([])
    await outbox.close()

    const next = await source()
    // Positions outlive the process that read; they hide nothing from the next one.
    expect(idsIn(await next.read(read.positions, much))).toEqual([['b']])
  })

  test('a limit of bytes cuts between commits, and one that is larger comes all the same', async () => {
    const { storage, source } = await open()
    for (const id of ['a', 'b', 'c']) await tell(storage, id)
    const outbox = await source()
    const pieces: string[][][] = []
    let positions: Positions = {}
    for (let more = true; more; ) {
      const reading = await outbox.read(positions, 10)
      pieces.push(idsIn(reading))
      positions = { ...positions, ...reading.positions }
      more = reading.more
    }
    expect(pieces).toEqual([[['a']], [['b']], [['c']]])
  })

  test('a commit is called out', async () => {
    const { storage, source } = await open()
    const outbox = await source()
    const { promise, resolve } = Promise.withResolvers<void>()
    onTestFinished(outbox.watch(resolve))
    await tell(storage, 'a')
    await promise
  })
})

test('an event of a long transaction with a low number is not skipped', async () => {
  const { storage, source } = await postgres()
  const outbox = await source()
  const [slow, quick] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const long = storage.transaction(async (tx) => {
    await tx.append([wordOf('slow')])
    slow.resolve()
    await quick.promise
  })
  await slow.promise
  await tell(storage, 'quick')
  const first = await outbox.read({}, much)
  expect(idsIn(first)).toEqual([['quick']])
  await outbox.settle(first.positions)
  quick.resolve()
  await long
  expect(idsIn(await outbox.read(first.positions, much))).toEqual([['slow']])
})

test('a second relay is kept away from the same outbox, and one that only looks is not', async () => {
  const schema = server.newSchema()
  const { storage, source } = await postgres(schema)
  await tell(storage, 'a')
  const outbox = await source()
  await expect(source()).rejects.toMatchObject({ code: 'locked', message: expect.stringContaining('another relay') })
  const looking = await closing(postgresOutbox({ url: server.url, schema, exclusive: false }))
  expect(idsIn(await looking.read({}, much))).toEqual([['a']])
  await outbox.close()
  await source()
})

test('an outbox whose connection broke continues with a new one', async () => {
  const { storage, source } = await postgres()
  const outbox = await source()
  const admin = await server.client()
  await admin.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'folkmoot-relay' AND datname = current_database() AND pid <> pg_backend_pid()`,
  )
  await tell(storage, 'a')
  // The break may be noticed by the first statement after it.
  const reading = await outbox.read({}, much).catch(() => outbox.read({}, much))
  expect(idsIn(reading)).toEqual([['a']])
})

type Client = Awaited<ReturnType<typeof server.client>>

/** Rows of a statement as relays get them: JSON is text. */
const asTexts =
  (client: Client) =>
  async (sql: string, values: readonly unknown[]): Promise<Record<string, unknown>[]> => {
    const { rows } = await client.query({ text: sql, values: [...values], types: { getTypeParser: () => String } })
    return rows
  }

/** What a relay reads that shares its store. */
const readerOf = (client: Client, schema: string, bytes = 2 ** 20) => outboxReader(asTexts(client), bytes, schema)

test('relays that share a store take different commits, and what was taken and undone is there again', async () => {
  const schema = server.newSchema()
  const { storage } = await postgres(schema)
  for (const id of ['a', 'b', 'c', 'd']) await tell(storage, id)
  await storage.transaction((tx) => tx.insert(things, thing(1)))
  const [one, two] = [await server.client(), await server.client()]
  const { commits } = await readerOf(one, schema)()
  expect(commits.map(({ records }) => idsOf(records))).toEqual([['a'], ['b'], ['c'], ['d']])
  const [a = 0, b = 0, c = 0, d = 0] = commits.map(({ seq }) => seq)
  await one.query('BEGIN')
  await two.query('BEGIN')
  expect(await takeFromOutbox(one, [a, b], schema)).toEqual(new Set([a, b]))
  expect(await takeFromOutbox(two, [a, b, c, d], schema)).toEqual(new Set([c, d]))
  await one.query('ROLLBACK')
  await two.query('COMMIT')
  await one.query('BEGIN')
  expect(await takeFromOutbox(one, [a, b, c, d], schema)).toEqual(new Set([a, b]))
  await one.query('COMMIT')
})

test('a relay that shares a store reads a bounded number of bytes per batch, but at least one commit', async () => {
  const schema = server.newSchema()
  const { storage } = await postgres(schema)
  for (const id of ['a', 'b', 'c', 'd']) await tell(storage, id)
  const client = await server.client()
  const { rows } = await client.query(`SELECT length(records::text) AS bytes FROM "${schema}".outbox LIMIT 1`)
  const { bytes } = rows[0]
  const read = async (limit?: number) => {
    const { commits, more } = await readerOf(client, schema, limit)()
    return [commits.length, more]
  }
  expect(await read()).toEqual([4, false])
  expect(await read(1)).toEqual([1, true])
  expect(await read(2 * bytes)).toEqual([2, true])
  expect(await read(4 * bytes)).toEqual([4, false])
})

test('a relay that shares a store requests fewer commits after large ones', async () => {
  const schema = server.newSchema()
  const { storage } = await postgres(schema)
  for (let index = 0; index < 60; index++) await tell(storage, `${index}`)
  const asked: unknown[] = []
  const client = await server.client()
  const read = outboxReader(
    async (sql, values) => {
      asked.push(...values)
      return asTexts(client)(sql, values)
    },
    1,
    schema,
  )
  expect([(await read()).commits.length, (await read()).more, asked]).toEqual([1, true, [50, 2]])
})

test('postgres: commits are read in the order of their numbers, in whatever order PostgreSQL finds them', async () => {
  const schema = server.newSchema()
  await postgres(schema)
  const client = await server.client()
  // By a bitmap it finds rows in the order of their places.
  await client.query('SET enable_indexscan = off; SET enable_seqscan = off')
  for (const [seq, id] of [
    [30, 'c'],
    [10, 'a'],
    [20, 'b'],
  ] as const)
    await client.query(`INSERT INTO "${schema}".outbox (seq, records) OVERRIDING SYSTEM VALUE VALUES ($1, $2)`, [
      seq,
      JSON.stringify([wordOf(id)]),
    ])
  const { commits } = await readerOf(client, schema)()
  expect(commits.map(({ records }) => idsOf(records))).toEqual([['a'], ['b'], ['c']])
})

test('a transaction that throws emits nothing, whatever it had appended', async () => {
  for (const { storage, source } of [await sqlite(), await postgres()]) {
    await expect(
      storage.transaction(async (tx) => {
        await storeAndTell(tx, 1)
        throw new RangeError('undone')
      }),
    ).rejects.toThrow('undone')
    expect(idsIn(await (await source()).read({}, much))).toEqual([])
  }
})

test('sqlite: a file that was moved away is not taken for an empty outbox', async () => {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const storage = await sqliteStorage({ path, tables: [things] })
  onTestFinished(() => storage.close())
  const outbox = await closing(sqliteOutbox(path))
  await tell(storage, 'a')
  renameSync(path, `${path}-away`)
  await expect(outbox.read({}, much)).rejects.toMatchObject({ code: 'unavailable' })
  renameSync(`${path}-away`, path)
  expect(idsIn(await outbox.read({}, much))).toEqual([['a']])
})
