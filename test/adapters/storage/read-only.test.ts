/** Once a network is read-only, no write of any process that shares its database commits, and every earlier one is there. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { type Community, createCommunity, type Options } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { posts } from '../../../lib/storage/tables/content.ts'
import { segments } from '../../../lib/storage/tables/custom-fields.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import type { Json } from '../../support/json.ts'
import { testPostgres } from '../../support/postgres.ts'

const server = await testPostgres()

/** Opens one database as several processes do. */
const engines = {
  postgres() {
    const schema = server.newSchema()
    return () => postgresStorage({ url: server.url, schema })
  },
  sqlite() {
    const path = join(temporaryDirectory(), 'db.sqlite')
    return () => sqliteStorage({ path })
  },
} as const

async function opened(open: () => Promise<Storage>, options: Partial<Options> = {}) {
  const storage = await open()
  const community = createCommunity({ storage, allowHttp: true, ...options })
  onTestFinished(() => community.close())
  return { storage, community }
}

async function prepared({ networks, keys, call }: Community) {
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: '' }
  await networks.create({ id: 1, subdomain: 'demo', title: 'Demo', service_plan: 'unlimited', owner })
  const space = await call('spaces.create', { network: 1, body: { name: 'Hall' } })
  const { token } = await keys.create({ network: 1, name: 'test', scopes: ['*'] })
  /** Creates a post over HTTP. */
  return async ({ fetch }: Pick<Community, 'fetch'>, title: string) => {
    const response = await fetch(
      new Request('http://api.test/admin/v1/networks/1/posts', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ space_id: space.id, title }),
      }),
    )
    return { status: response.status, body: (await response.json()) as Json }
  }
}

const idsIn = (storage: Storage) =>
  storage.transaction(async (tx) => (await tx.find(posts, {})).map(({ id }) => id), { readOnly: true })

test.each(Object.entries(engines))(
  'on %s none of many concurrent writers of two processes comes after it',
  async (_name, engine) => {
    const open = engine()
    const here = await opened(open)
    const post = await prepared(here.community)
    const there = await opened(open)
    for (let round = 0; round < 5; round++) {
      let [isOver, isStopped] = [false, false]
      const created: string[] = []
      const late: unknown[] = []
      const refused: unknown[] = []
      const writer = async ({ community }: typeof here, name: string) => {
        for (let count = 0; !isStopped; count++) {
          const isLate = isOver
          const { status, body } = await post(community, `${name} ${count}`)
          if (status === 201) (isLate ? late : created).push(String(body.id))
          else refused.push([status, body.error])
          // A refusal may wait for nothing, and timers would never run.
          await new Promise((resolve) => setImmediate(resolve))
        }
      }
      const writers = ['a', 'b', 'c', 'd'].flatMap((name) => [writer(here, `${name}1`), writer(there, `${name}2`)])
      await expect.poll(() => created.length).toBeGreaterThan(20)
      await here.community.networks.update(1, { read_only: true })
      isOver = true
      const then = await idsIn(there.storage)
      const before = refused.length
      await expect.poll(() => refused.length).toBeGreaterThan(before + 20)
      isStopped = true
      await Promise.all(writers)
      expect(late).toEqual([])
      expect(await idsIn(here.storage)).toEqual(then)
      expect(created.filter((id) => !then.includes(id))).toEqual([])
      expect([...new Set(refused.map((each) => JSON.stringify(each)))]).toEqual(['[503,"read_only"]'])
      await there.community.networks.update(1, { read_only: false })
      expect((await post(here.community, 'after')).status).toBe(201)
    }
  },
)

test.each(Object.entries(engines))('on %s it waits for a write that is under way in another process', async (_name, engine) => {
  const open = engine()
  const { community, storage } = await opened(open)
  const post = await prepared(community)
  const [entered, leave] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  onTestFinished(() => leave.resolve())
  const other = await opened(open, {
    hooks: {
      async before() {
        entered.resolve()
        await leave.promise
      },
    },
  })
  const written = post(other.community, 'under way')
  await entered.promise
  let isDone = false
  const update = community.networks.update(1, { read_only: true }).then(() => {
    isDone = true
  })
  // Time enough to come to the database, where it waits.
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
  expect(isDone).toBe(false)
  const later = post(community, 'later')
  leave.resolve()
  await update
  const ids = await idsIn(storage)
  const { status, body } = await written
  expect([status, ids]).toEqual([201, [String(body.id)]])
  expect((await later).status).toBe(503)
})

test('a transaction of a host with an old snapshot does not write either', async () => {
  const open = engines.postgres()
  const { community, storage } = await opened(open)
  await prepared(community)
  const client = await server.client()
  for (const level of ['REPEATABLE READ', 'SERIALIZABLE']) {
    await client.query(`BEGIN ISOLATION LEVEL ${level}`)
    const joined = community.using(client)
    const create = (title: string) => joined.call('tags.create', { network: 1, body: { title } })
    await joined.networks.show(1)
    await community.networks.update(1, { read_only: true })
    await expect(create(`${level} late`)).rejects.toMatchObject({ status: 503 })
    await client.query('ROLLBACK')
    await community.networks.update(1, { read_only: false })
    await client.query(`BEGIN ISOLATION LEVEL ${level}`)
    await create(level)
    await client.query('COMMIT')
  }
  const titles = await storage.transaction((tx) => tx.find(segments, { where: { kind: 'tag' } }), { readOnly: true })
  expect(titles.map(({ title }) => title)).toEqual(['REPEATABLE READ', 'SERIALIZABLE'])
})
