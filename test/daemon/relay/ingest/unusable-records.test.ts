/** Records that cannot be used, on each kind of outbox: they cost themselves, and everything else is delivered. */

import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { newWriterId, segmentName } from '../../../../adapters/outbox/segment-name.ts'
import { postgresDialect } from '../../../../adapters/sql/postgres/dialect.ts'
import { sqliteDialect } from '../../../../adapters/sql/sqlite/dialect.ts'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { relayHome } from '../../../../daemon/relay/ingest/outbox-address.ts'
import { storePath } from '../../../../daemon/relay/open-store.ts'
import { crc32 } from '../../../../lib/base/crc32.ts'
import type { OutboxRecord } from '../../../../lib/outbox/record.ts'
import { recordsText } from '../../../../lib/outbox/text.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { type Bench, bench, endpoint, event, events, receiver, type TestOutbox, until } from '../support.ts'

const server = await testPostgres()

// Writers of ours refuse to write most of what these tests need, so it is put where a faulty one would have put it. The table of
// SQLite gets the format of earlier versions.

/** The text of records, some of which are no objects. */
const textOf = (records: readonly OutboxRecord[]): string =>
  `[${records.map((record) => (isObject(record) ? recordsText([record]).slice(1, -1) : JSON.stringify(record))).join()}]`
const isObject = (record: unknown) => typeof record === 'object' && record !== null

function lineOf(records: readonly OutboxRecord[]): string {
  const rest = `"records":${textOf(records)}}`
  return `{"crc":"${crc32(Buffer.from(rest)).toString(16).padStart(8, '0')}",${rest}\n`
}

async function directory(): Promise<TestOutbox> {
  const address = temporaryDirectory()
  const writer = newWriterId(Date.now())
  let count = 0
  return {
    address,
    async append(commits) {
      const name = join(address, segmentName(writer, ++count))
      writeFileSync(`${name}.tmp`, commits.map(lineOf).join(''))
      renameSync(`${name}.tmp`, name)
    },
    close: async () => {},
  }
}

async function sqlite(): Promise<TestOutbox> {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const storage = await sqliteStorage({ path, tables: [] })
  const database = new DatabaseSync(path, { timeout: 60_000 })
  const insert = database.prepare(`INSERT INTO ${sqliteDialect.table('outbox')} (records) VALUES (?)`)
  return {
    address: `sqlite:${path}`,
    async append(commits) {
      for (const commit of commits) insert.run(JSON.stringify(commit))
    },
    async close() {
      database.close()
      await storage.close()
    },
  }
}

async function postgres(): Promise<TestOutbox> {
  const schema = server.newSchema()
  const address = `${server.url}?schema=${schema}`
  const storage = await postgresStorage({ url: server.url, schema, tables: [] })
  const client = await server.client()
  return {
    address,
    async append(commits) {
      for (const commit of commits)
        await client.query(`INSERT INTO ${postgresDialect(schema).table('outbox')} (records) VALUES ($1)`, [textOf(commit)])
    },
    async close() {
      await storage.close()
      await rm(relayHome(address), { recursive: true, force: true })
    },
  }
}

/** A database of the relay itself, as an operator sees it. */
async function query(all: Bench, sql: string): Promise<readonly Record<string, unknown>[]> {
  const schema = /schema=(\w+)/.exec(all.directory)?.[1]
  if (schema !== undefined) return (await (await server.client()).query(sql.replaceAll('$', `${schema}_relay.`))).rows
  const database = new DatabaseSync(storePath(all.directory), { timeout: 60_000 })
  try {
    return database.prepare(sql.replaceAll('$', '')).all()
  } finally {
    database.close()
  }
}

const unusable = (record: object) => record as OutboxRecord & { kind: 'event' }
const damaged = (all: Bench) => all.notices.filter(({ kind }) => kind === 'outbox.damaged')

describe.each([
  ['a directory', directory],
  ['a SQLite table', sqlite],
  ['a PostgreSQL table', postgres],
])('%s with records that cannot be used', (name, outbox) => {
  test('gives all the others to the endpoints, and names those that it left out', async () => {
    const hook = await receiver()
    const all = await bench({}, {}, outbox)
    await all.append(
      endpoint(hook.url),
      event('first'),
      unusable({ ...event('no-body'), body: null }),
      unusable({ kind: 'schedule', network_id: '1' }),
      event('last'),
    )
    await until(() => hook.received.length === 2 && damaged(all).length === 2, 'the others are delivered, and it is said')
    expect(hook.received.map(({ id }) => id).sort()).toEqual(['first', 'last'])
    expect(damaged(all)).toMatchObject([
      { network_id: '1', event_id: 'no-body', text: expect.stringContaining('`body` must be the JSON text of an object') },
      { network_id: '1', event_id: null, text: expect.stringContaining('its `kind` is unknown') },
    ])
    expect([all.faults, all.relay.ready]).toEqual([[], true])
  })

  test('keeps them for a person to look at', async () => {
    const hook = await receiver()
    const all = await bench({}, {}, outbox)
    await all.append(endpoint(hook.url), unusable({ ...event('odd'), audience: 'all' }), event('even'))
    await until(() => hook.received.length === 1 && damaged(all).length === 1, 'the other one is delivered')
    const kept =
      name === 'a directory'
        ? readdirSync(all.directory)
            .filter((each) => each.endsWith('.broken'))
            .map((each) => readFileSync(join(all.directory, each), 'utf8'))
        : (await query(all, 'SELECT content FROM $set_aside')).map(({ content }) => String(content))
    expect(kept).toHaveLength(1)
    expect(kept[0]).toContain('"audience":"all"')
  })

  test('leaves an endpoint as it was when its next version cannot be used', async () => {
    const hook = await receiver()
    const all = await bench({}, {}, outbox)
    await all.append(
      endpoint(hook.url),
      event('before'),
      unusable(endpoint(hook.url, { key: undefined as never })),
      event('after'),
    )
    await until(() => hook.received.length === 2, 'both are delivered')
    expect(hook.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer the-key', 'Bearer the-key'])
    expect(damaged(all)).toMatchObject([{ network_id: '1', endpoint_id: '7' }])
  })

  test('leaves an endpoint as it was when the secret of its next version cannot sign', async () => {
    const hook = await receiver()
    const all = await bench({}, {}, outbox)
    const good = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    await all.append(endpoint(hook.url, { secrets: [good] }), event('before'))
    const bad = ['whsk_AAAA', 'whsec_', '!!!not base64!!!', '']
    await all.append(...bad.map((secret) => unusable(endpoint(hook.url, { key: 'bad', secrets: [secret] }))), event('after'))
    await until(() => hook.received.length === 2 && damaged(all).length === 4, 'both are delivered, and it is said')
    expect(hook.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer the-key', 'Bearer the-key'])
    expect(hook.received.every(({ headers }) => /^v1,/.test(String(headers['webhook-signature'])))).toBe(true)
    for (const { text } of damaged(all)) expect(text).toContain('`secrets` must be a list of secrets')
    expect(all.notices.filter(({ kind }) => kind !== 'outbox.damaged')).toEqual([])
  })

  test('delivers the other records of the same commit', async () => {
    const hook = await receiver()
    const made = await outbox()
    const all = await bench({}, {}, async () => made)
    await made.append([[endpoint(hook.url), event('a'), unusable({ ...event('b'), event_id: 7 }), event('c')]])
    await until(() => hook.received.length === 2, 'the others are delivered')
    expect(damaged(all)).toHaveLength(1)
  })

  test('continues without a record that the store itself refuses, again after a restart', async () => {
    const hook = await receiver()
    const all = await bench({}, {}, outbox)
    await query(all, name === 'a PostgreSQL table' ? cursedInPostgres : cursedInSqlite)
    await all.append(endpoint(hook.url), ...events('e', 20), event('cursed'), ...events('f', 20))
    await until(() => hook.received.length === 40, 'all the others are delivered')
    expect(damaged(all)).toMatchObject([{ event_id: 'cursed', text: expect.stringContaining('the store refuses it') }])
    expect((await query(all, 'SELECT content FROM $set_aside')).map(({ content }) => String(content))).toEqual([
      JSON.stringify(event('cursed')),
    ])
    await all.restart()
    await all.append(event('later'))
    await until(() => hook.received.length === 41, 'the next one is delivered')
    expect([all.faults, all.relay.ready]).toEqual([[], true])
  })

  test('delivers every good record among hundreds that were changed at random', async () => {
    const hook = await receiver()
    const all = await bench({}, {}, outbox)
    const random = generator(20_261_121)
    await all.append(endpoint(hook.url))
    const bad = Array.from({ length: 300 }, () => unusable(mutated(random)))
    for (let from = 0; from < bad.length; from += 30)
      await all.append(...bad.slice(from, from + 30), event(`good-${from}`), unusable(mutated(random)))
    await all.append(event('end'))
    const good = () => new Set(hook.received.map(({ id }) => id).filter((id) => /^(good-|end)/.test(id)))
    await until(() => good().size === 11, 'every good one is delivered', 60)
    expect(damaged(all).length).toBeGreaterThan(100)
    expect([all.faults, all.relay.ready]).toEqual([[], true])
  })
})

describe.each([
  ['SQLite', directory],
  ['PostgreSQL', postgres],
])('a relay that remembers in %s', (name, outbox) => {
  test('sends no body that is not the one that it ingested: that delivery is dead, and everything else continues', async () => {
    const hook = await receiver()
    const all = await bench({}, {}, outbox)
    await all.append(endpoint(hook.url, { enabled: false }), event('a'), event('flipped'), event('c'))
    await until(async () => (await all.relay.store.counts()).pending === 3, 'they wait')
    const [before, after] = name === 'SQLite' ? ['CAST(body AS TEXT)', 'CAST($ AS BLOB)'] : ['body', '$']
    const flipped = after.replace('$', `replace(${before}, 'payload', 'paiload')`)
    await query(all, `UPDATE $events SET body = ${flipped} WHERE event_id = 'flipped'`)
    await all.append(endpoint(hook.url))
    await until(() => all.attempts.length === 3, 'each of them has come to an end')
    expect(hook.received.map(({ id }) => id).sort()).toEqual(['a', 'c'])
    expect(all.attempts.filter(({ state }) => state === 'dead')).toMatchObject([{ event_id: 'flipped', outcome: 'damaged' }])
    expect(all.notices).toMatchObject([{ kind: 'delivery.damaged', event_id: 'flipped', endpoint_id: '7' }])
    const [state] = await all.relay.store.endpoints()
    expect(state?.state?.failingSince ?? null).toBe(null)
  })

  test('records the response of a receiver whatever is in it', async () => {
    const hook = await receiver((_, response) => void response.writeHead(500).end('no\0 \ud800 \u202e'))
    const all = await bench({ retrySchedule: [0] }, {}, outbox)
    await all.append(endpoint(hook.url), event('a'))
    await until(() => all.attempts.length === 1, 'the answer is recorded')
    const [attempt] = await query(all, 'SELECT answer FROM $attempts')
    expect(attempt).toEqual({ answer: 'no\ufffd \ufffd \u202e' })
    expect([all.faults, all.relay.ready]).toEqual([[], true])
  })

  test('migrates a store of an earlier version, in place', async () => {
    const hook = await receiver()
    const all = await bench({}, {}, outbox)
    await all.append(endpoint(hook.url, { enabled: false }), event('old'))
    await until(async () => (await all.relay.store.counts()).pending === 1, 'it waits')
    await all.relay.close(0)
    const version =
      name === 'SQLite'
        ? `DELETE FROM $meta WHERE name = 'schema_version'`
        : `UPDATE $meta SET value = 1 WHERE name = 'schema_version'`
    const since = [
      'ALTER TABLE $events RENAME COLUMN received_at TO taken',
      'ALTER TABLE $deliveries RENAME COLUMN interruptions TO starts',
      'DROP INDEX $deliveries_subject',
      'DROP INDEX $deliveries_skipped',
      'DROP TABLE $set_aside',
    ]
    const columns = ['name', 'old', 'old_until', 'fresh_starts'].map((column) => `endpoints DROP COLUMN ${column}`)
    for (const column of [...columns, 'events DROP COLUMN crc', 'events DROP COLUMN subject', 'deliveries DROP COLUMN subject'])
      since.push(`ALTER TABLE $${column}`)
    for (const sql of [...since, version]) await query(all, sql)
    await all.restart()
    const old_keys = [{ value: 'k1', until: '2999-01-01T00:00:00.000Z' }]
    await all.append(endpoint(hook.url, { name: 'x', old_keys }), unusable({ ...event('odd'), body: '' }), event('new'))
    await until(() => hook.received.length === 2 && damaged(all).length === 1, 'both events are delivered')
    expect(hook.received.map(({ id }) => id).sort()).toEqual(['new', 'old'])
    expect(await all.relay.store.endpoints()).toMatchObject([{ endpoint: { name: 'x', old_keys } }])
  })
})

/** Makes the relay's store refuse one event, as it might a value that no one foresaw. */
const cursedInSqlite = `CREATE TRIGGER cursed BEFORE INSERT ON events WHEN NEW.event_id = 'cursed'
  BEGIN SELECT RAISE(ABORT, 'it is cursed'); END`
const cursedInPostgres = `ALTER TABLE $events ADD CONSTRAINT cursed CHECK (event_id <> 'cursed')`

/** The same numbers from 0 to 1 for the same seed. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const deep = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}`)
const oddities: readonly (() => unknown)[] = [
  () => null,
  () => undefined,
  () => 0,
  () => -1,
  () => 1e308,
  () => true,
  () => '',
  () => ' ',
  () => 'null',
  () => '[]',
  () => 'a\0b',
  () => '\ud800',
  () => '٣',
  () => 'x'.repeat(100_000),
  () => [],
  () => [[null]],
  () => ({}),
  () => deep(2000),
  () => ({ __proto__: null, toString: 1 }),
  () => '9'.repeat(30),
  () => 'https://',
  () => '-1',
]

/** A good record of another network with something in it that is not as it should be. */
function mutated(random: () => number): object {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const address = 'http://127.0.0.1:9/'
  const whole = pick<() => object>([
    () => event(`odd-${Math.floor(random() * 1e9)}`, { network_id: '2' }),
    () => endpoint(address, { network_id: '2', id: '8', enabled: false }),
    () => ({ kind: 'endpoint', action: 'remove', id: '8', network_id: '2' }),
  ])()
  const changes = Array.from({ length: 1 + Math.floor(random() * 2) }, () => [pick(Object.keys(whole)), pick(oddities)()])
  const record: Record<string, unknown> = { ...whole, ...Object.fromEntries(changes) }
  if (random() < 0.1) return pick([[], [record], 'text' as never, null as never])
  if (random() < 0.2) record[pick(['toString', 'extra', 'constructor'])] = pick(oddities)()
  return record
}
