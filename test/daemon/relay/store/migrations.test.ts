/** Stores that earlier versions made are migrated in place, with everything that they hold. */
import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../../daemon/relay/clock.ts'
import { relayHome } from '../../../../daemon/relay/ingest/outbox-address.ts'
import { openOperatorStore, openStore, storePath } from '../../../../daemon/relay/open-store.ts'
import { checkSettings } from '../../../../daemon/relay/settings.ts'
import type { SeparateStore } from '../../../../daemon/relay/store/separate-store.ts'
import type { RelayStore } from '../../../../daemon/relay/store/store.ts'
import { attributes } from '../../../../lib/outbox/endpoint-attributes.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { endpoint, event } from '../support.ts'
import { postgresRows, postgresVersion4, sqliteRows, sqliteVersion5 } from './earlier-schemas.ts'

const postgres = await testPostgres()
const client = await postgres.client()

/** An outbox beside which statements are run as an earlier version would have run them. */
interface Place {
  readonly outbox: string
  run(sql: string): Promise<void>
  /** Tables, columns and indexes of the store, as the engine describes them. */
  described(): Promise<unknown>
}

function sqlitePlace(): Place {
  const outbox = temporaryDirectory()
  mkdirSync(dirname(storePath(outbox)), { recursive: true })
  const within = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(storePath(outbox))
    try {
      return work(database)
    } finally {
      database.close()
    }
  }
  return {
    outbox,
    run: async (sql) => within((database) => database.exec(sql)),
    described: async () =>
      within((database) => ({
        columns: database
          .prepare(
            `SELECT t.name AS "table", t.wr, t.strict, c.name, c.type, c."notnull", c.dflt_value, c.pk
             FROM pragma_table_list t, pragma_table_info(t.name) c WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%' ORDER BY 1, 4`,
          )
          .all(),
        indexes: database
          .prepare(
            `SELECT m.tbl_name, i."unique", i.origin, i.partial, group_concat(c.name) AS columns,
               substr(m.sql, instr(m.sql, 'WHERE')) AS condition
             FROM sqlite_schema m, pragma_index_list(m.tbl_name) i, pragma_index_info(i.name) c
             WHERE m.type = 'index' AND i.name = m.name GROUP BY m.name ORDER BY 1, 5`,
          )
          .all()
          .map((row) => ({ ...row, condition: String(row['condition']).replaceAll(/^CREATE.*$|"/gs, '') })),
        version: [
          database.prepare('PRAGMA user_version').get(),
          database.prepare(`SELECT value FROM meta WHERE name = 'schema_version'`).get(),
        ],
      })),
  }
}

function postgresPlace(): Place {
  const schema = postgres.newSchema()
  const own = `${schema}_relay`
  const outbox = `${postgres.url}?schema=${schema}`
  onTestFinished(async () => {
    await postgres.drop(own)
    await postgres.drop(schema)
    await rm(relayHome(outbox), { recursive: true, force: true })
  })
  return {
    outbox,
    run: async (sql) => void (await client.query(sql.replaceAll('$schema', `"${own}"`))),
    described: async () => ({
      columns: (
        await client.query(
          `SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity
           FROM information_schema.columns WHERE table_schema = $1 ORDER BY 1, 2`,
          [own],
        )
      ).rows,
      indexes: (await client.query('SELECT indexdef FROM pg_indexes WHERE schemaname = $1', [own])).rows
        .map(({ indexdef }) =>
          String(indexdef)
            .replace(/^.*? ON /, '')
            .replaceAll(own, ''),
        )
        .sort(),
      tables: (
        await client.query(
          `SELECT relname, reloptions FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind = 'r' ORDER BY 1`,
          [own],
        )
      ).rows,
      version: (await client.query(`SELECT value FROM "${own}".meta WHERE name = 'schema_version'`)).rows,
    }),
  }
}

const engines = [
  {
    name: 'SQLite, version 5',
    place: sqlitePlace,
    schema: sqliteVersion5,
    rows: sqliteRows,
    newer: `INSERT INTO meta VALUES ('schema_version', 99)`,
  },
  {
    name: 'PostgreSQL, version 4',
    place: postgresPlace,
    schema: postgresVersion4,
    rows: postgresRows,
    newer: `UPDATE $schema.meta SET value = 99 WHERE name = 'schema_version'`,
  },
] as const

/** The data behind a relay on an outbox. */
async function backing(outbox: string) {
  const opened = await openStore({ outbox, clock: systemClock, settings: () => checkSettings({}) })
  let closing: Promise<void> | undefined
  const close = () => (closing ??= opened.close())
  onTestFinished(close)
  return { store: opened.store, close }
}

const isSeparate = (store: RelayStore): store is SeparateStore => 'ingest' in store
/** Attributes that earlier versions didn't have. */
const unset = Object.fromEntries(Object.keys(attributes).map((name) => [name, null]))
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('utf8')

describe.each(engines)('a store of $name', ({ place, schema, rows, newer }) => {
  test('keeps its endpoints, what waits, and what it learned', async () => {
    const { outbox, run } = place()
    await run(`${schema}${rows}`)
    const { store, close } = await backing(outbox)
    const recovered = await store.recover(Date.now())
    expect(recovered.interrupted).toBe(1)
    const endpoints = [...recovered.endpoints].sort((a, b) => a.endpoint.ref - b.endpoint.ref)
    expect(endpoints.map(({ endpoint: each }) => each)).toEqual([
      {
        ...unset,
        ref: 1,
        id: '7',
        network_id: '1',
        name: 'CRM',
        url: 'http://127.0.0.1:1/crm',
        key: 'the-key',
        secrets: ['whsec_c2VjcmV0'],
        old_keys: [{ value: 'old-key', until: '2100-01-01T00:00:00.000Z' }],
        old_secrets: [],
        events: ['PostCreatedHook'],
        audience: 'integration',
        enabled: true,
        order: 'none',
        rate_per_second: 2.5,
        disabled: null,
        requires: [],
        set_aside: null,
        fresh_starts: 3,
      },
      expect.objectContaining({ ref: 2, id: '8', enabled: true, order: 'subject', rate_per_second: null, disabled: null }),
      expect.objectContaining({ ref: 3, id: '9', enabled: false, audience: 'host', order: 'fifo', disabled: 'gone' }),
    ])
    expect(endpoints.map(({ state }) => state?.lastSuccess)).toEqual([1500, undefined, undefined])

    expect(await store.counts()).toEqual({ pending: 3, dead: 1, oldestPending: 1000 })
    const [retry] = (await store.peek([1], 'retry', 10)).get(1) ?? []
    expect(retry).toEqual({ delivery: 1, event: 1, lane: 'retry', due: 1100, attempts: 2, interruptions: 2 })
    const [first, ...others] = (await store.peek([2], 'first', 10)).get(2) ?? []
    expect([first?.delivery, others]).toEqual([2, []])
    const outgoing = await store.outgoing(retry && first ? [retry, first, { ...first, delivery: 3, event: 2 }] : [])
    const sent = [...outgoing].map(([delivery, each]) => [
      delivery,
      each.event_id,
      each.received_at,
      each.intact,
      text(each.body),
    ])
    expect(sent.sort()).toEqual([
      [1, 'a', 1000, true, '{"event_id":"a"}'],
      [2, 'a', 1000, true, '{"event_id":"a"}'],
      // Its checksum is not that of its body.
      [3, 'b', 2000, false, '{"event_id":"b"}'],
    ])
    await close()
  })

  test('gives an operator everything that was recorded', async () => {
    const { outbox, run } = place()
    await run(`${schema}${rows}`)
    await (await backing(outbox)).close()
    const operator = await openOperatorStore(outbox)
    onTestFinished(() => operator.close())
    const deliveries = await operator.deliveries({ limit: 10 })
    expect(deliveries.map(({ id, state, event_id, attempts }) => [Number(id), state, event_id, attempts])).toEqual([
      [6, 'skipped', 'c', 0],
      [5, 'delivered', 'c', 1],
      [4, 'dead', 'b', 10],
      [3, 'pending', 'b', 0],
      [2, 'pending', 'a', 0],
      [1, 'pending', 'a', 2],
    ])
    const within = { since: new Date(1500).toISOString(), until: new Date(2500).toISOString() }
    expect(await operator.deliveries({ ...within, limit: 10 })).toHaveLength(2)
    expect(await operator.attempts(4)).toMatchObject([{ number: 10, outcome: 'http', status: 500, answer: 'no', reason: null }])
    expect(await operator.notices(10)).toContainEqual(
      expect.objectContaining({ kind: 'delivery.dead', event_id: 'b', text: 'given up' }),
    )
    expect(await operator.endpoints()).toMatchObject([
      { endpoint_id: '7', name: 'CRM', pending: 1, dead: 1, oldest_pending_at: '1970-01-01T00:00:01.000Z' },
      { endpoint_id: '8', pending: 2 },
      { endpoint_id: '9', state: 'disabled' },
    ])
  })

  test('continues where it was: an event that it has is a duplicate, a new one follows the others', async () => {
    const { outbox, run } = place()
    await run(`${schema}${rows}`)
    const { store, close } = await backing(outbox)
    if (isSeparate(store)) {
      expect(await store.positions()).toEqual({ stream: 42 })
      const commits = [[event('a'), event('new'), endpoint('http://127.0.0.1:1/more', { id: '10' })]]
      const ingested = await store.ingest({ commits, positions: { stream: 50 }, damage: [], more: false }, Date.now(), 0)
      expect(ingested).toMatchObject({
        events: 2,
        duplicates: 1,
        deliveries: new Map([
          [1, 1],
          [2, 1],
        ]),
        changed: [{ ref: 5 }],
      })
      expect(await store.positions()).toEqual({ stream: 50 })
    }
    const operator = await openOperatorStore(outbox)
    onTestFinished(() => operator.close())
    await operator.enable(3)
    const enabled = (await store.endpoints()).find(({ endpoint }) => endpoint.ref === 3)
    expect(enabled?.endpoint).toMatchObject({ disabled: null, fresh_starts: 1 })
    await close()
  })

  test('has the schema of a new one afterwards', async () => {
    const [earlier, fresh] = [place(), place()]
    await earlier.run(`${schema}${rows}`)
    for (const { outbox } of [earlier, fresh]) await (await backing(outbox)).close()
    expect(await earlier.described()).toEqual(await fresh.described())
    // And is left as it is from then on.
    const described = await earlier.described()
    await (await backing(earlier.outbox)).close()
    expect(await earlier.described()).toEqual(described)
  })

  test('of today, without the indexes of pages, gets them from a relay, and a look names the relay as the remedy', async () => {
    const { outbox, run, described } = place()
    await (await backing(outbox)).close()
    const fresh = await described()
    const within = place === sqlitePlace ? 'main' : '$schema'
    await run(`DROP INDEX ${within}.deliveries_endpoint; DROP INDEX ${within}.deliveries_failed`)
    await expect(openOperatorStore(outbox, true)).rejects.toThrow('lacks 2 changes of its tables: start the relay first')
    await (await backing(outbox)).close()
    expect(await described()).toEqual(fresh)
  })

  test('is not migrated by a look at it, which names the command that migrates it', async () => {
    const { outbox, run, described } = place()
    await run(`${schema}${rows}`)
    const before = await described()
    await expect(openOperatorStore(outbox, true)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('start the relay first, which migrates them'),
    })
    expect(await described()).toEqual(before)
  })

  test('is refused, and left as it is, when a newer version has made it', async () => {
    const { outbox, run, described } = place()
    await run(`${schema}${rows}${newer}`)
    const before = await described()
    await expect(backing(outbox)).rejects.toMatchObject({ code: 'newer' })
    await expect(openOperatorStore(outbox)).rejects.toMatchObject({ code: 'newer' })
    expect(await described()).toEqual(before)
  })
})
