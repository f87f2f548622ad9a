/** How often a request goes to PostgreSQL, and with what: seen on the wire, where time does not matter. */
import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import type { Tx } from '../../../../lib/storage/contract.ts'
import { posts } from '../../../../lib/storage/tables/content.ts'
import { spaces } from '../../../../lib/storage/tables/members.ts'
import { createTestCommunity } from '../../../support/community.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { proxyTo } from '../../../support/proxy.ts'
import { wordOf } from '../things.ts'

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

/** Without the ends of snapshots, for which no one waits: they travel with what comes next. And without hints to the relay. */
const waited = (sent: readonly (readonly string[])[]) =>
  sent.map((texts) => (texts[0] === 'COMMIT' ? texts.slice(1) : texts)).filter(({ length }) => length > 0)

/** The statements in some messages, as verb and table. Hints to the relay are not part of a request. */
const statementsIn = (text: string): readonly string[] =>
  [...text.matchAll(/BEGIN|COMMIT\b|SAVEPOINT|(SELECT|INSERT|UPDATE|DELETE)\b[^\0]*?"\w+"\."(\w+)"[^\0]*/g)].map(
    ([all, verb, table]) => (verb ? `${verb} ${table}` : all),
  )

test('a read by id waits once: for the record, the key and its network', async () => {
  const { ways, send, space } = await watched()
  expect(waited(await ways(() => send('spaces.show', { params: { id: space.id } })))).toEqual([
    ['BEGIN', 'SELECT api_keys', 'SELECT networks', 'SELECT spaces'],
  ])
})

test('reads by id of one turn share their ways, and each row is read once', async () => {
  const { ways, send, space } = await watched()
  const { body: other } = await send('spaces.create', { body: { name: 'Library' } })
  const ids = [space.id, other.id, '999', space.id]
  const responses = () => Promise.all(ids.map((id) => send('spaces.show', { params: { id } })))
  expect((await responses()).map(({ body }) => body.name)).toEqual(['Garden', 'Library', undefined, 'Garden'])
  expect(waited(await ways(responses))).toEqual([
    ['BEGIN', 'SELECT api_keys', 'SELECT networks', 'SELECT spaces', 'SELECT spaces', 'SELECT spaces'],
  ])
})

test('a post with its event waits three times: what it reads travels with the BEGIN, and the event with the COMMIT', async () => {
  const { ways, send, space } = await watched()
  expect(waited(await ways(() => send('posts.create', { body: { space_id: space.id, title: 'Roses' } })))).toEqual([
    ['BEGIN', 'SELECT networks', 'SELECT api_keys', 'SELECT spaces', 'SELECT members'],
    ['INSERT posts'],
    ['INSERT outbox', 'COMMIT'],
  ])
})

test('posts of one turn have a commit each, with which the next one begins, and each is kept as it was sent', async () => {
  const { ways, send, space } = await watched()
  const titles = ['Roses', 'Tulips', 'Asters']
  const sent = () =>
    Promise.all(titles.map((title) => send('posts.create', { body: { space_id: space.id, title, description: '"{a},\\b"' } })))
  const begun = ['BEGIN', 'SELECT networks', 'SELECT api_keys', 'SELECT spaces', 'SELECT members']
  const ended = ['INSERT outbox', 'COMMIT']
  expect(waited(await ways(sent))).toEqual([
    ...[begun, ['INSERT posts'], [...ended, ...begun], ['INSERT posts'], [...ended, ...begun], ['INSERT posts'], ended],
  ])
  const responses = await sent()
  expect(responses.map(({ status, body }) => [status, body.title])).toEqual(titles.map((title) => [201, title]))
  const kept = await Promise.all(responses.map(({ body }) => send('posts.show', { params: { id: body.id } })))
  expect(kept.map(({ body }) => body)).toEqual(responses.map(({ body }) => body))
})

test('where another one waits for the connection, its BEGIN travels with the COMMIT, and each has its own response', async () => {
  const { ways, storage } = await watched()
  const write = (id: string) =>
    storage.transaction(async (tx) => {
      await tx.remove(spaces, id)
      await tx.append([wordOf(id)])
    })
  const begun = ['BEGIN', 'DELETE spaces']
  const ended = ['INSERT outbox', 'COMMIT']
  expect(waited(await ways(() => Promise.all([write('900'), write('901')])))).toEqual([begun, [...ended, ...begun], ended])
})

test('a post to a space that is missing is not stored', async () => {
  const { send, storage } = await watched()
  const post = (space_id: string) => send('posts.create', { body: { space_id, title: 'Roses' } })
  expect(await post('900')).toMatchObject({ status: 404 })
  expect(await post('18446744073709551615')).toMatchObject({ status: 404 })
  expect(await storage.transaction((tx) => tx.count(posts, {}), { readOnly: true })).toBe(0)
})

test('a first statement that writes travels with the BEGIN, and a later one waits for its response', async () => {
  const { storage, ways } = await watched()
  const remove = (tx: Tx) => tx.remove(spaces, '900')
  expect(await ways(() => storage.transaction(remove))).toEqual([['BEGIN', 'DELETE spaces'], ['COMMIT']])
  const later = async (tx: Tx) => {
    await new Promise((resolve) => setImmediate(resolve))
    await remove(tx)
  }
  expect(await ways(() => storage.transaction(later))).toEqual([['BEGIN'], ['DELETE spaces'], ['COMMIT']])
})

test("a host's own statement goes out behind the BEGIN", async () => {
  const { storage, ways } = await watched()
  const own = (tx: Tx) => (tx.native as pg.Client).query('SELECT 1 /* "folkmoot"."own" */')
  const [first] = await ways(() => storage.transaction(own))
  expect(first).toEqual(['BEGIN', 'SELECT own'])
})
