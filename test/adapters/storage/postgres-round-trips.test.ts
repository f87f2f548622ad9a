/** How often a request goes to PostgreSQL, and with what: seen on the wire, where time does not matter. */
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../adapters/storage/postgres.ts'
import { spaces } from '../../../lib/storage/tables.ts'
import { createTestCommunity } from '../../support/community.ts'
import { testPostgres } from '../../support/postgres.ts'
import { proxyTo } from '../../support/proxy.ts'

const server = await testPostgres()

/** A community whose storage has one connection, and the statements of each way to the database. */
async function watched() {
  const proxy = await proxyTo(server.url)
  // Text is on the wire only if statements are not prepared.
  const storage = await postgresStorage({ url: proxy.url, schema: server.newSchema(), poolSize: 1, prepared: false })
  onTestFinished(() => storage.close())
  const community = await createTestCommunity({ storage })
  const { body: space } = await community.send('spaces.create', { body: { name: 'Garden' } })
  /** The statements that one request sends, by message. */
  async function ways(request: () => Promise<unknown>): Promise<(readonly string[])[]> {
    await request()
    proxy.sent()
    await request()
    return proxy.sent().map(statementsIn)
  }
  return { ...community, storage, space, ways }
}

/** Without the ends of snapshots, for which nobody waits: they travel with what comes next. */
const waited = (sent: readonly (readonly string[])[]) =>
  sent.map(([first, ...others]) => (first === 'COMMIT' ? others : [first, ...others])).filter(({ length }) => length > 0)

/** The statements in some messages, as verb and table. Hints to the relay are not part of a request. */
const statementsIn = (text: string): readonly string[] =>
  [...text.matchAll(/BEGIN|COMMIT|SAVEPOINT|(SELECT|INSERT|UPDATE|DELETE)\b[^\0]*?"\w+"\."(\w+)"[^\0]*/g)].map(
    ([all, verb, table]) => (verb ? `${verb} ${table}${/ FOR (SHARE|UPDATE)$/.exec(all)?.[0] ?? ''}` : all),
  )

test('a read by id waits once: for the record, the key and its network', async () => {
  const { ways, send, space } = await watched()
  expect(waited(await ways(() => send('spaces.show', { params: { id: space.id } })))).toEqual([
    ['BEGIN', 'SELECT api_keys', 'SELECT networks', 'SELECT spaces'],
  ])
})

test('reads by id of one turn share their ways, and those of one table are one statement', async () => {
  const { ways, send, space } = await watched()
  const { body: other } = await send('spaces.create', { body: { name: 'Library' } })
  const ids = [space.id, other.id, '999', space.id]
  const answers = () => Promise.all(ids.map((id) => send('spaces.show', { params: { id } })))
  expect((await answers()).map(({ body }) => body.name)).toEqual(['Garden', 'Library', undefined, 'Garden'])
  expect(waited(await ways(answers))).toEqual([['BEGIN', 'SELECT api_keys', 'SELECT networks', 'SELECT spaces']])
})

test('a post with its event waits three times, and the event travels with the COMMIT', async () => {
  const { ways, send, space } = await watched()
  expect(waited(await ways(() => send('posts.create', { body: { space_id: space.id, title: 'Roses' } })))).toEqual([
    ['BEGIN', 'SELECT api_keys', 'SELECT networks', 'SELECT spaces FOR SHARE', 'SELECT members'],
    ['INSERT posts'],
    ['INSERT outbox', 'COMMIT'],
  ])
})

test('a transaction that begins with a write waits for its BEGIN, without which the write would commit by itself', async () => {
  const { storage, ways } = await watched()
  expect(await ways(() => storage.transaction((tx) => tx.remove(spaces, '900')))).toEqual([
    ['BEGIN'],
    ['DELETE spaces'],
    ['COMMIT'],
  ])
})
