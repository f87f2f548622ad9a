/** The same requests get the same bytes from every storage, and cause the same events. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { lowdbStorage } from '../../adapters/storage/lowdb.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { seededChance } from '../../lib/base/chance.ts'
import { communityOf } from '../../lib/community.ts'
import type { OutboxRecord } from '../../lib/outbox/record.ts'
import type { OutboxWriter, Storage } from '../../lib/storage/contract.ts'
import { scoped } from '../../lib/storage/scoped.ts'
import { manualClock } from '../support/clock.ts'
import { demoNetwork } from '../support/community.ts'
import { telling } from '../support/engines.ts'
import { type Example, examplesOf } from '../support/examples.ts'
import { testPorts } from '../support/ports.ts'
import { testPostgres } from '../support/postgres.ts'
import { rounds } from '../support/rounds.ts'
import { seed } from '../support/seed.ts'

const postgres = await testPostgres()

type Open = (outbox: OutboxWriter, directory: string) => Promise<Storage>
const engines: Readonly<Record<string, Open>> = {
  memory: async (outbox) => memoryStorage({ outbox }),
  lowdb: (outbox, directory) => lowdbStorage({ path: join(directory, 'db.json'), outbox }),
  sqlite: async (outbox, directory) => telling(await sqliteStorage({ path: join(directory, 'db.sqlite') }), outbox),
  postgres: async (outbox) => telling(await postgresStorage({ url: postgres.url, schema: postgres.newSchema() }), outbox),
}

/** A request that every side gets. */
interface SentRequest {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
  readonly after: number
}

/** A community on a storage. Its clock and its ids are those of every other one. */
async function sideOn(open: Open, seedText: string) {
  const directory = await mkdtemp(join(inject('directory') ?? tmpdir(), 'folkmoot-alike-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const records: OutboxRecord[] = []
  const outbox = {
    append: async (commits: readonly (readonly OutboxRecord[])[]) => void records.push(...commits.flat()),
    close: async () => {},
  }
  const storage = await open(outbox, directory)
  const clock = manualClock()
  const faults: unknown[] = []
  const options = { storage, clock, ports: testPorts().ports, hooks: { onError: (error: unknown) => void faults.push(error) } }
  const community = communityOf(options, seededChance(seedText))
  onTestFinished(() => community.close())
  const { network, owner } = await community.networks.create(demoNetwork)
  await storage.transaction((tx) => seed(scoped(tx, network.id), owner.id, clock.now()))
  const { token } = await community.keys.create({ network: network.id, name: 'test', scopes: ['*'], member_id: owner.id })
  return {
    community,
    faults,
    async ask({ method, path, body, after }: SentRequest) {
      clock.advance(after)
      const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
      const response = await community.fetch(
        new Request(`https://api.test/admin/v1/networks/1${path}`, { method, headers, ...(body === undefined ? {} : { body }) }),
      )
      const text = await response.text()
      return { status: response.status, text, headers: [...response.headers], records: records.splice(0) }
    },
  }
}

const texts = [
  'Oil',
  'oil',
  ' OIL ',
  'É',
  'E\u0301',
  'ß',
  'İ',
  '日本',
  '👩‍👩‍👧',
  '"\\/',
  '\u007f',
  'a\tb',
  '',
  '%_',
  "O'Brien",
  '\u2028',
]

/** Draws requests: the examples of all operations, about records that were made meanwhile, with other values. */
function requestsFrom(examples: readonly Example[], seedText: string) {
  const { below } = seededChance(seedText)
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const known = new Map<string, string[]>()
  const oneIn = (count: number): boolean => below(count) === 0
  const kindOf = (path: string, name: string): string => path.split('/').at(path.split('/').indexOf(`:${name}`) - 1) ?? ''

  const varied = (value: unknown): unknown => (typeof value === 'string' && oneIn(3) ? pick(texts) : value)
  const bodyOf = (body: Example['body']): string | undefined =>
    body &&
    JSON.stringify(
      Object.fromEntries(Object.entries(body).flatMap(([name, value]) => (oneIn(12) ? [] : [[name, varied(value)]]))),
    )

  return {
    next(): SentRequest {
      const { route, params, query, body } = pick(examples)
      const path = route.operation.path.replace(/:(\w+)/g, (_, name: string) => {
        const ids = known.get(kindOf(route.operation.path, name)) ?? []
        return oneIn(2) && ids.length > 0 ? pick(ids) : (params[name] ?? '0')
      })
      const search = new URLSearchParams({ ...query, ...(oneIn(3) ? { per_page: String(1 + below(4)) } : {}) })
      return { method: route.method, path: `${path}?${search}`, body: bodyOf(body), after: below(4) * 20 * 60_000 }
    },
    /** Notes the ids of a response, by the last word of its path. */
    learn(path: string, text: string): void {
      const kind =
        path
          .replace(/\/?\?.*$/, '')
          .split('/')
          .findLast((word) => !/^\d*$/.test(word)) ?? ''
      for (const [, id = ''] of text.matchAll(/"id":"(\d+)","created_at"/g))
        known.set(kind, [...(known.get(kind) ?? []).slice(-20), id])
    },
  }
}

test.each(['one', 'two'])(
  'requests in any order get the same bytes and cause the same events on every storage: %s',
  async (seedText) => {
    const sides = new Map<string, Awaited<ReturnType<typeof sideOn>>>()
    for (const [name, open] of Object.entries(engines)) sides.set(name, await sideOn(open, seedText))
    const [memory, ...others] = sides.entries()
    if (!memory) throw new Error('there is a storage in memory')
    const requests = requestsFrom(examplesOf(memory[1].community), seedText)
    let successes = 0
    for (let count = rounds(250, 2500); count > 0; count--) {
      const asked = requests.next()
      const expected = await memory[1].ask(asked)
      for (const [name, side] of others) expect({ name, asked, ...(await side.ask(asked)) }).toEqual({ name, asked, ...expected })
      if (expected.status < 300) {
        successes++
        requests.learn(asked.path, expected.text)
      }
    }
    expect([...sides.values()].flatMap(({ faults }) => faults)).toEqual([])
    // Requests that are all refused would compare nothing.
    expect(successes).toBeGreaterThan(50)
  },
)
