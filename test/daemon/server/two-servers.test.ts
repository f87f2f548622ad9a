/** Two servers on one database, as separate processes, and the facts on which they have to agree. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openStorage } from '../../../daemon/server/storage/open.ts'
import { createCommunity } from '../../../lib/index.ts'
import { type Command, run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'

const server = await testPostgres()

interface Database {
  readonly address: string
  /** The number of keys in the table of the rate limits. */
  counted(): Promise<number>
  /** Runs work while nobody can write to that table. */
  locked(work: () => Promise<void>): Promise<void>
}

async function sqlite(): Promise<Database> {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const open = () => new DatabaseSync(`${path}-rate-limits/counts.sqlite`, { timeout: 30_000 })
  return {
    address: `sqlite:${path}`,
    async counted() {
      const database = open()
      const row = database.prepare('SELECT count(*) AS number FROM rate_limits').get()
      database.close()
      return Number(row?.['number'])
    },
    async locked(work) {
      const database = open()
      database.exec('BEGIN IMMEDIATE')
      await work().finally(() => database.close())
    },
  }
}

async function postgres(): Promise<Database> {
  const schema = server.newSchema()
  const client = await server.client()
  return {
    address: `${server.url}?schema=${schema}`,
    counted: async () => Number((await client.query(`SELECT count(*) AS number FROM "${schema}".rate_limits`)).rows[0].number),
    async locked(work) {
      await client.query(`BEGIN; LOCK TABLE "${schema}".rate_limits`)
      await work().finally(() => client.query('COMMIT'))
    },
  }
}

/** Two servers over a network on a plan with 100 requests a minute, and one on a plan without a limit. */
async function twoServers({ address }: Database) {
  const { storage } = await openStorage(address, undefined, () => {})
  const community = createCommunity({ storage })
  const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Host' }
  const tokens = { standard: '', unlimited: '' }
  for (const service_plan of ['standard', 'unlimited'] as const) {
    const { network } = await community.networks.create({ subdomain: service_plan, title: 'Demo', service_plan, owner })
    tokens[service_plan] = (await community.keys.create({ network_id: network.id, name: 'test', scopes: ['*'] })).token
  }
  await community.close()

  const start = () => run('folkmoot', 'serve', '--storage', address, '--port', '0', '--json', '--allow-http')
  const servers = [start(), start()] as const
  const urls = await Promise.all(servers.map(async (each) => String(JSON.parse(await each.firstLine()).url)))

  /** The n-th request goes to the one or the other. */
  async function send(n: number, network: keyof typeof tokens, init: { key?: string; title?: string } = {}) {
    const answer = await fetch(`${urls[n % 2]}/admin/v1/networks/${network}/tags`, {
      headers: {
        authorization: `Bearer ${tokens[network]}`,
        ...(init.title === undefined ? {} : { 'content-type': 'application/json' }),
        ...(init.key === undefined ? {} : { 'idempotency-key': init.key }),
      },
      ...(init.title === undefined ? {} : { method: 'POST', body: JSON.stringify({ title: init.title }) }),
    })
    return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) }
  }
  return { servers, send }
}

const times = (number: number) => Array.from({ length: number }, (_, index) => index)
const errorsOf = (servers: readonly Command[]) => servers.map(({ out }) => out.stderr).join('')

describe.each([
  ['sqlite', sqlite],
  ['postgres', postgres],
])('%s', (_name, make) => {
  test('they share one count: of 130 requests at once 100 pass, and then neither lets one through', async () => {
    const { servers, send } = await twoServers(await make())
    const answers = await Promise.all(times(130).map((n) => send(n, 'standard')))
    const passed = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 429)
    expect(passed.map(({ headers }) => Number(headers.get('ratelimit-remaining'))).sort((a, b) => b - a)).toEqual(
      times(100).reverse(),
    )
    expect(refused).toHaveLength(30)
    for (const { headers } of [...refused, await send(0, 'standard'), await send(1, 'standard')]) {
      expect(headers.get('ratelimit-limit')).toBe('100')
      expect(headers.get('ratelimit-remaining')).toBe('0')
      expect(headers.get('ratelimit-reset')).toMatch(/^([1-9]|[1-5]\d|60)$/)
      expect(headers.get('retry-after')).toBe(headers.get('ratelimit-reset'))
    }
    expect(errorsOf(servers)).toBe('')
  })

  test('a server that is killed takes nothing of the count with it', async () => {
    const { servers, send } = await twoServers(await make())
    await Promise.all(times(40).map((n) => send(n, 'standard')))
    servers[0].child.kill('SIGKILL')
    await servers[0].ended
    expect((await send(1, 'standard')).headers.get('ratelimit-remaining')).toBe('59')
  })

  test('a network without a limit is not counted at all', async () => {
    const database = await make()
    const { send } = await twoServers(database)
    const answers = await Promise.all(times(20).map((n) => send(n, 'unlimited')))
    expect(new Set(answers.map(({ status, headers }) => `${status} ${headers.get('ratelimit-limit')}`))).toEqual(
      new Set(['200 null']),
    )
    expect(await database.counted()).toBe(0)
    await send(0, 'standard')
    expect(await database.counted()).toBe(1)
  })

  test('while the counts cannot be written, requests are answered, each server counts for itself, and reports it once', async () => {
    const database = await make()
    const { servers, send } = await twoServers(database)
    await database.locked(async () => {
      const answers = await Promise.all(times(120).map((n) => send(n, 'standard')))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    })
    for (const { out } of servers)
      expect(out.stderr.match(/"message":"rate limits: each process counts alone for now: /g)).toHaveLength(1)
    expect(errorsOf(servers)).not.toContain('postgres:postgres')
  })

  test('one Idempotency-Key, sent to both at once, makes one record, and everybody gets its answer', async () => {
    const { servers, send } = await twoServers(await make())
    const answers = await Promise.all(times(20).map((n) => send(n, 'unlimited', { key: 'once', title: 'Once' })))
    expect(new Set(answers.map(({ status, body }) => JSON.stringify({ status, body }))).size).toBe(1)
    expect(answers[0]).toMatchObject({ status: 201, body: { title: 'Once' } })
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
    const lists = await Promise.all(times(2).map((n) => send(n, 'unlimited')))
    for (const { body } of lists) expect(body.items).toEqual([answers[0]?.body])
    // Used for another request it is refused, whichever server is asked.
    const others = await Promise.all(times(2).map((n) => send(n, 'unlimited', { key: 'once', title: 'Other' })))
    expect(others.map(({ status }) => status)).toEqual([422, 422])
    expect(errorsOf(servers)).toBe('')
  })
})
