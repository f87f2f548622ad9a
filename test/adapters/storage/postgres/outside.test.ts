/** A PostgreSQL in trouble, seen by those who call the API over HTTP: right responses or a 503, and no one waits for ever. */
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { toNodeListener } from '../../../../adapters/http/node.ts'
import { type PostgresOptions, postgresOutbox, postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { createCommunity } from '../../../../lib/index.ts'
import { posts } from '../../../../lib/storage/tables/content.ts'
import type { Json } from '../../../support/json.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { recordsOf } from '../records-of.ts'

const server = await testPostgres()
const client = await server.client()

async function portOf(listener: ReturnType<typeof createServer> | HttpServer): Promise<number> {
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return (listener.address() as AddressInfo).port
}

/** A network with a space, and ways to write in it over HTTP and to look into the database past the API. */
async function outside(options: PostgresOptions) {
  const schema = server.newSchema()
  const direct = await postgresStorage({ url: server.url, schema })
  const settings = { allowHttp: true, hooks: { onError: () => {} } }
  const quiet = createCommunity({ storage: direct, ...settings })
  onTestFinished(() => quiet.close())
  const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Host' }
  const { network } = await quiet.networks.create({ subdomain: 'demo', title: 'Demo', service_plan: 'unlimited', owner })
  const { token } = await quiet.keys.create({ network: network.id, name: 'test', scopes: ['*'] })
  const space = await quiet.call('spaces.create', { network: network.id, body: { name: 'Garden' } })

  const storage = await postgresStorage({ url: server.url, schema, ...options })
  const community = createCommunity({ storage, ...settings })
  const http = createHttpServer(toNodeListener(community))
  const origin = `http://127.0.0.1:${await portOf(http)}`
  onTestFinished(async () => {
    await new Promise((resolve) => http.close(resolve))
    await community.close()
  })

  async function send(method: string, below: string, body?: object, key?: string) {
    const response = await fetch(`${origin}/admin/v1/networks/demo${below}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        connection: 'close',
        ...(key ? { 'idempotency-key': key } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      // A request that waits longer than this waits for ever.
      signal: AbortSignal.timeout(60_000),
    })
    return { status: response.status, after: response.headers.get('retry-after'), body: (await response.json()) as Json }
  }
  return {
    schema,
    space,
    get: (below: string) => send('GET', below),
    write: (title: string, key?: string) => send('POST', '/posts', { space_id: space.id, title }, key),
    /** The titles of all posts, and of all posts that events tell of. */
    async titles() {
      const rows = await direct.transaction((tx) => tx.find(posts, {}), { readOnly: true })
      const records = await recordsOf(await postgresOutbox({ url: server.url, schema }))
      const told = records.flatMap((record) =>
        record.kind === 'event' && record.event_type === 'PostCreatedHook' ? [JSON.parse(record.body).payload.title] : [],
      )
      return { stored: rows.map(({ title }) => title).sort(), told: told.sort() }
    },
  }
}

type Sent = Awaited<ReturnType<Awaited<ReturnType<typeof outside>>['get']>>

const seen = (responses: readonly Sent[]) =>
  [...new Set(responses.map(({ status, after }) => `${status} ${after ?? '-'}`))].sort()

test('while a lock holds all connections, requests get 503 with Retry-After in time; afterwards all is as before', async () => {
  const { schema, space, get, write, titles } = await outside({ poolSize: 4, connectTimeoutMs: 300, statementTimeoutMs: 2_000 })
  await client.query('BEGIN')
  await client.query(`SELECT 1 FROM "${schema}"."spaces" WHERE id = $1 FOR UPDATE`, [space.id])
  const many = Array.from({ length: 60 }, (_, n) => n)
  const blocked = await Promise.all([...many.map((n) => write(`blocked ${n}`)), ...many.slice(0, 20).map(() => get('/spaces'))])
  await client.query('ROLLBACK')
  const writes = blocked.slice(0, many.length)
  expect(seen(writes)).toEqual(['503 5'])
  expect(seen(blocked.slice(many.length)).filter((response) => !['200 -', '503 5'].includes(response))).toEqual([])

  const freed: Sent[] = []
  for (const n of many.slice(0, 20)) freed.push(await write(`freed ${n}`))
  expect(seen(freed)).toEqual(['201 -'])
  const free = await Promise.all(many.slice(0, 4).map(() => get('/spaces')))
  expect(seen(free)).toEqual(['200 -'])
  const { stored, told } = await titles()
  expect(stored).toEqual(freed.map(({ body }) => body.title).sort())
  expect(told).toEqual(stored)
})

/**
 * A way to PostgreSQL of which every connection is cut after so many bytes of responses, one number after the other. It also
 * cuts before some responses to COMMIT, so that their outcome is unknown.
 */
async function cutting(bytes: readonly number[]) {
  const { hostname, port } = new URL(server.url)
  const open = new Set<Socket>()
  let connections = 0
  let commits = 0
  const cut = { off: false, count: 0 }
  const proxy = createServer((near) => {
    const far = connect(Number(port), hostname)
    let left = bytes[connections++ % bytes.length] ?? 0
    const end = () => {
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', end).on('close', () => {
        open.delete(socket)
        end()
      })
    }
    near.on('data', (chunk) => far.write(chunk))
    far.on('data', (chunk) => {
      left -= chunk.length
      const isCommit = chunk.includes('COMMIT') && ++commits % 13 === 0
      if (cut.off || (left >= 0 && !isCommit)) return void near.write(chunk)
      cut.count++
      if (isCommit) return end()
      // In the middle of a response.
      near.write(chunk.subarray(0, chunk.length >> 1), end)
    })
  })
  const url = new URL(server.url)
  url.port = String(await portOf(proxy))
  onTestFinished(async () => {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => proxy.close(resolve))
  })
  return { url: url.href, cut }
}

test('while connections are cut in the middle, every response is right or a 503, and nothing is half done', async () => {
  const { url, cut } = await cutting([60_000, 20_000, 26_000, 33_000, 21_000, 41_000, 24_000, 29_000])
  const { space, get, write, titles } = await outside({ url, poolSize: 4, connectTimeoutMs: 2_000, statementTimeoutMs: 5_000 })
  const responses: Sent[] = []
  const looks: Sent[] = []
  const written: string[] = []
  const unsure: string[] = []
  await Promise.all(
    Array.from({ length: 6 }, async (_, one) => {
      for (let n = 0; n < 40; n++) {
        const title = `${one} ${n}`
        // With a key it is sent until it has a response, as by a client that wants it done once; without one it is sent once.
        const key = one % 2 === 0 ? title : undefined
        let response: Sent
        do {
          response = await write(title, key)
          responses.push(response)
        } while (key && response.status !== 201)
        if (response.status === 201) expect(response.body.title).toBe(title)
        ;(response.status === 201 ? written : unsure).push(title)
        const look = await get(`/spaces/${space.id}`)
        looks.push(look)
        if (look.status === 200) expect(look.body).toEqual({ ...space })
      }
    }),
  )
  expect(cut.count).toBeGreaterThan(20)
  expect(unsure.length).toBeGreaterThan(0)
  expect(seen([...responses, ...looks]).filter((response) => !['200 -', '201 -', '503 5'].includes(response))).toEqual([])
  cut.off = true
  const { stored, told } = await titles()
  expect(new Set(stored).size).toBe(stored.length)
  expect(stored.filter((title) => !unsure.includes(title))).toEqual(written.sort())
  expect(told).toEqual(stored)
})

test('a password that is refused is an error that names its proper place', async () => {
  const url = Object.assign(new URL(server.url), { password: 'wrong' }).href
  await expect(postgresStorage({ url })).rejects.toThrow(/; the password belongs in the address or in PGPASSWORD$/)
})
