/** A connection that breaks between COMMIT and its response: the outcome is unknown. */
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { createTestCommunity } from '../../../support/community.ts'
import { png, testPorts } from '../../../support/ports.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { proxyTo } from '../../../support/proxy.ts'

const server = await testPostgres()
const admin = await server.client()

async function behindProxy() {
  const schema = server.newSchema()
  const proxy = await proxyTo(server.url)
  const storage = await postgresStorage({ url: proxy.url, schema, poolSize: 3, connectTimeoutMs: 2_000, prepared: false })
  onTestFinished(() => storage.close())
  const { ports, files } = testPorts()
  const community = await createTestCommunity({ storage, ports })
  const { body: space } = await community.send('spaces.create', { body: { name: 'Garden' } })
  const rows = async (table: string) => (await admin.query(`SELECT * FROM "${schema}"."${table}" ORDER BY id`)).rows
  const events = async () => {
    const { rows } = await admin.query(`SELECT records FROM "${schema}".outbox ORDER BY seq`)
    return rows.flatMap(({ records }) => records).map(({ event_type }) => event_type)
  }
  const write = (key?: string) => {
    const body = { space_id: space.id, title: 'Roses', description: 'Red' }
    return community.send('posts.create', { body, ...(key ? { headers: { 'idempotency-key': key } } : {}) })
  }
  const upload = (key?: string) => {
    const asset = { asset_style: 'cover', source_url: 'https://files.example/flowers/rose.png' }
    return community.send('assets.create', { body: asset, ...(key ? { headers: { 'idempotency-key': key } } : {}) })
  }
  const insertInto = (table: string) => `INSERT INTO "${schema}"."${table}"`
  return { ...community, proxy, files, rows, events, write, upload, insertInto }
}

const unknown = {
  error:
    'The storage did not respond, so this may have been written. ' +
    'Repeat the request with the same Idempotency-Key. Without a key, first check whether it was written',
  request_id: expect.any(String),
}

test('a post without a key whose commit has no response is a 503: it may have been written', async () => {
  const { proxy, rows, events, write, faults, insertInto } = await behindProxy()
  proxy.loseCommits(insertInto('posts'), 'answer', 1)
  const { status, body, headers } = await write()
  expect({ status, body, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, body: unknown, retryAfter: '5' })
  expect(faults).toEqual([expect.objectContaining({ code: 'unknown' })])
  expect([(await rows('posts')).length, await events()]).toEqual([1, ['PostCreatedHook']])
})

test.each(['answer', 'request'] as const)(
  'a post with a key is carried out once when the %s of its commit is lost',
  async (what) => {
    const { proxy, rows, events, write, faults, insertInto } = await behindProxy()
    proxy.loseCommits(insertInto('posts'), what, 1)
    const first = await write('once')
    expect(first).toMatchObject({ status: 201, body: { title: 'Roses' } })
    const again = await write('once')
    expect({ status: again.status, body: again.body }).toEqual({ status: 201, body: first.body })
    expect([(await rows('posts')).map(({ id }) => id), await events()]).toEqual([[first.body.id], ['PostCreatedHook']])
    expect(faults).toEqual([])
  },
)

test.each(['answer', 'request'] as const)(
  'when every %s is lost, the repeat with the same key gives the one result',
  async (what) => {
    const { proxy, rows, events, write, insertInto } = await behindProxy()
    proxy.loseCommits(insertInto('posts'), what, 2)
    // The commit that came through is found by the second try; the one that did not is lost once more.
    const first = await write('once')
    expect(first).toMatchObject(what === 'answer' ? { status: 201 } : { status: 503, body: unknown })
    proxy.loseCommits('', what, 0)
    const again = await write('once')
    expect(again).toMatchObject({ status: 201, body: { title: 'Roses' } })
    expect([(await rows('posts')).map(({ id }) => id), await events()]).toEqual([[again.body.id], ['PostCreatedHook']])
  },
)

test('while the database stays away, the response is not that nothing was written', async () => {
  const { proxy, rows, write, insertInto } = await behindProxy()
  proxy.loseCommits(insertInto('posts'), 'answer', 1)
  proxy.onLost(() => proxy.cut())
  expect(await write('once')).toMatchObject({ status: 503, body: unknown })
  proxy.mend()
  const again = await write('once')
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
  expect((await rows('posts')).map(({ id }) => id)).toEqual([again.body.id])
})

test('an uploaded file stays when its commit may have come through', async () => {
  const { proxy, files, rows, upload, insertInto } = await behindProxy()
  proxy.loseCommits(insertInto('assets'), 'answer', 1)
  expect(await upload()).toMatchObject({ status: 503, body: unknown })
  const [row] = await rows('assets')
  expect([...files]).toEqual([[row?.url.replace('https://cdn.test/', ''), png]])
})

test.each(['answer', 'request'] as const)(
  'an upload with a key has its one file when the %s of its commit is lost',
  async (what) => {
    const { proxy, files, rows, upload, insertInto } = await behindProxy()
    proxy.loseCommits(insertInto('assets'), what, 1)
    const first = await upload('once')
    expect(first.status).toBe(201)
    expect((await upload('once')).body).toEqual(first.body)
    expect((await rows('assets')).map(({ url }) => url)).toEqual([first.body.url])
    expect([...files.keys()]).toEqual([first.body.url.replace('https://cdn.test/', '')])
  },
)
