/** Transactions of one connection, where each begins before the COMMIT of the last one gets a response. */
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { proxyTo } from '../../../support/proxy.ts'
import { insertAndTell, thingIds, things } from '../things.ts'

const server = await testPostgres()
const admin = await server.client()

/** A storage with one connection, for which everybody waits. */
async function open() {
  const proxy = await proxyTo(server.url)
  const schema = server.newSchema()
  const storage = await postgresStorage({ url: proxy.url, schema, tables: [things], poolSize: 1, prepared: false })
  onTestFinished(() => storage.close())
  /** Five transactions at once. Gives the codes of their errors, by the id of their thing. */
  async function writeFive(): Promise<readonly (string | undefined)[]> {
    const written = await Promise.allSettled([1, 2, 3, 4, 5].map((id) => insertAndTell(storage, id)))
    return written.map((each) => (each.status === 'fulfilled' ? undefined : String(each.reason.code)))
  }
  async function kept() {
    const { rows } = await admin.query(`SELECT records->0->>'event_id' AS id FROM ${schema}.outbox ORDER BY 1`)
    return { things: (await thingIds(storage)).toSorted(), events: rows.map(({ id }) => id) }
  }
  return { proxy, schema, writeFive, kept }
}

const without3 = { things: ['1', '2', '4', '5'], events: ['1', '2', '4', '5'] }
const all = { things: ['1', '2', '3', '4', '5'], events: ['1', '2', '3', '4', '5'] }

test('an event that the outbox refuses undoes its own transaction only', async () => {
  const { schema, writeFive, kept } = await open()
  await admin.query(`ALTER TABLE ${schema}.outbox ADD CHECK (records->0->>'event_id' <> '3')`)
  expect(await writeFive()).toEqual([undefined, undefined, expect.any(String), undefined, undefined])
  expect(await kept()).toEqual(without3)
})

test('a COMMIT that is refused undoes its own transaction only', async () => {
  const { schema, writeFive, kept } = await open()
  await admin.query(
    `CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
     CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON ${schema}.things DEFERRABLE INITIALLY DEFERRED
     FOR EACH ROW WHEN (NEW.id = 3) EXECUTE FUNCTION ${schema}.refuse()`,
  )
  expect(await writeFive()).toEqual([undefined, undefined, expect.any(String), undefined, undefined])
  expect(await kept()).toEqual(without3)
})

test('a COMMIT whose response is lost is unknown, and the transaction behind it happens once', async () => {
  const { proxy, writeFive, kept } = await open()
  proxy.loseCommits('"event_id":"3"', 'answer', 1)
  expect(await writeFive()).toEqual([undefined, undefined, 'unknown', undefined, undefined])
  expect(await kept()).toEqual(all)
})

test('a COMMIT that is lost on its way is unknown, and the transaction behind it happens once', async () => {
  const { proxy, writeFive, kept } = await open()
  proxy.loseCommits('"event_id":"3"', 'request', 1)
  expect(await writeFive()).toEqual([undefined, undefined, 'unknown', undefined, undefined])
  expect(await kept()).toEqual(without3)
})
