/** An outbox in PostgreSQL, with the relay's store beside it, as relays that share one have them. */
import { rm } from 'node:fs/promises'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { postgresStorage } from '../../../adapters/storage/postgres.ts'
import { relayHome } from '../../../daemon/relay/ingest/outbox-address.ts'
import { openDatabase, relaySchemaOf } from '../../../daemon/relay/store/postgres/database.ts'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import { postgresAddress, uniqueName } from '../../support/postgres.ts'
import type { TestOutbox } from './support.ts'

interface Home {
  readonly address: string
  append(commit: readonly OutboxRecord[]): Promise<unknown>
  /** Leaves it as it was made: no rows but the first ones, and the first number next. */
  empty(): Promise<void>
}

/** Making the tables costs more than most tests: one test after the other may have them. */
const free: Home[] = []

async function newHome(): Promise<Home> {
  const url = await postgresAddress()
  const schema = uniqueName('relay')
  const address = `${url}?schema=${schema}`
  const storage = await postgresStorage({ url, schema, tables: [] })
  await (await openDatabase({ url, schema })).close()
  const client = new pg.Client({ connectionString: url, options: '-c lock_timeout=60s' })
  client.on('error', () => {})
  await client.connect()
  const statements: string[] = []
  for (const name of [schema, relaySchemaOf(schema)]) statements.push(...(await emptying(client, name)))
  return {
    address,
    append: (commit) => storage.transaction((tx) => tx.append(commit)),
    async empty() {
      await rm(relayHome(address), { recursive: true, force: true })
      await client.query(statements.join(';'))
    },
  }
}

/** The statements that leave a schema as it is now. Truncating makes a new file for each table and index: it is for large ones. */
async function emptying(client: pg.Client, schema: string): Promise<string[]> {
  const listed = await client.query<{ kind: string; name: string }>(
    `SELECT relkind AS kind, oid::regclass::text AS name FROM pg_class
     WHERE relnamespace = '"${schema}"'::regnamespace AND relkind IN ('r', 'S')`,
  )
  const names = (kind: string) => listed.rows.filter((row) => row.kind === kind).map(({ name }) => client.escapeLiteral(name))
  const kept = await client.query<{ rows: string }>(`SELECT coalesce(json_agg(m), '[]')::text AS rows FROM "${schema}".meta m`)
  return [
    `DO $$ DECLARE place text; BEGIN
      FOREACH place IN ARRAY ARRAY[${names('r')}] LOOP
        IF pg_relation_size(place) > 262144 THEN EXECUTE 'TRUNCATE ' || place;
        ELSIF pg_relation_size(place) > 0 THEN EXECUTE 'DELETE FROM ' || place;
        END IF;
      END LOOP;
    END $$`,
    ...names('S').map((name) => `SELECT setval(${name}, 1, false)`),
    ...kept.rows.map(
      ({ rows }) =>
        `INSERT INTO "${schema}".meta SELECT * FROM json_populate_recordset(NULL::"${schema}".meta, ${client.escapeLiteral(rows)})`,
    ),
  ]
}

export async function postgresOutbox(): Promise<TestOutbox> {
  const home = free.pop() ?? (await newHome())
  // The first that is registered ends last: the relay and its operators have let go by then.
  onTestFinished(async () => {
    await home.empty()
    free.push(home)
  })
  return {
    address: home.address,
    async append(commits) {
      for (const commit of commits) await home.append(commit)
    },
    close: async () => {},
  }
}
