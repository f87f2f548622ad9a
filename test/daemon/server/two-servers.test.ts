/** Two servers on one database, as separate processes, and the facts on which they have to agree. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openStorage } from '../../../daemon/server/storage/open.ts'
import { createCommunity } from '../../../lib/index.ts'
import { end, run, runForAll } from '../../support/command.ts'
import { testPostgres } from '../../support/postgres.ts'

const server = await testPostgres()

interface Database {
  readonly address: string
  remove(): void
}

function sqlite(): Database {
  const directory = mkdtempSync(join(tmpdir(), 'folkmoot-'))
  return {
    address: `sqlite:${join(directory, 'db.sqlite')}`,
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

const schema = server.newSchema()
const client = await server.client()

// Its database goes with the last test.
const postgres = (): Database => ({ address: `${server.url}?schema=${schema}`, remove: () => {} })

/** The number of keys in the table of the rate limits. */
const counted = async (): Promise<number> =>
  Number((await client.query(`SELECT count(*) AS number FROM "${schema}".rate_limits`)).rows[0].number)

/** Runs work while no one can write to that table. */
async function locked(work: () => Promise<void>): Promise<void> {
  await client.query(`BEGIN; LOCK TABLE "${schema}".rate_limits`)
  await work().finally(() => client.query('COMMIT'))
}

const serving = ['serve', '--port', '0', '--json', '--allow-http', '--storage'] as const

/** Two servers for the tests of an engine. Each test has networks that no other one asks. */
async function twoServers({ address, remove }: Database) {
  const { storage } = await openStorage(address, undefined, () => {})
  // The tables are there before two servers make them at once.
  await storage.close()
  const start = () => runForAll('folkmoot', ...serving, address)
  const servers = [start(), start()] as const
  const urls = await Promise.all(servers.map(async (each) => String(JSON.parse(await each.firstLine()).url)))
  return {
    address,
    servers,
    urls,
    /** Everything that they have written on standard error. */
    errors: () => servers.map(({ out }) => out.stderr).join(''),
    async close() {
      for (const server of servers) await end(server)
      remove()
    },
  }
}

const plans = ['standard', 'unlimited'] as const
type Plan = (typeof plans)[number]
let made = 0

/** A network on a plan with 100 requests a minute, and one on a plan without a limit. */
async function twoNetworks({ address, urls }: Awaited<ReturnType<typeof twoServers>>) {
  const { storage } = await openStorage(address, undefined, () => {})
  const community = createCommunity({ storage })
  const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Host' }
  const number = ++made
  const tokens = { standard: '', unlimited: '' }
  for (const service_plan of plans) {
    const subdomain = `${service_plan}-${number}`
    const { network } = await community.networks.create({ subdomain, title: 'Demo', service_plan, owner })
    tokens[service_plan] = (await community.keys.create({ network: network.id, name: 'test', scopes: ['*'] })).token
  }
  await community.close()

  /** The n-th request goes to the one or the other server. */
  return async function send(n: number, plan: Plan, init: { key?: string; title?: string } = {}) {
    const response = await fetch(`${urls[n % 2]}/admin/v1/networks/${plan}-${number}/tags`, {
      headers: {
        authorization: `Bearer ${tokens[plan]}`,
        ...(init.title === undefined ? {} : { 'content-type': 'application/json' }),
        ...(init.key === undefined ? {} : { 'idempotency-key': init.key }),
      },
      ...(init.title === undefined ? {} : { method: 'POST', body: JSON.stringify({ title: init.title }) }),
    })
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
  }
}

const times = (number: number) => Array.from({ length: number }, (_, index) => index)

test('on SQLite each server counts for itself: of 220 concurrent requests 200 pass', async () => {
  const both = await twoServers(sqlite())
  onTestFinished(() => both.close())
  const send = await twoNetworks(both)
  const responses = await Promise.all(times(220).map((n) => send(n, 'standard')))
  const passed = responses.filter(({ status }) => status === 200)
  expect(passed.map(({ headers }) => Number(headers.get('ratelimit-remaining'))).sort((a, b) => b - a)).toEqual(
    times(100)
      .reverse()
      .flatMap((left) => [left, left]),
  )
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(20)
})

describe.each([
  ['sqlite', sqlite],
  ['postgres', postgres],
])('%s', (name, make) => {
  const whereShared = (title: string, work: () => Promise<void>): void => {
    if (name === 'postgres') test(title, work)
  }
  let both: Awaited<ReturnType<typeof twoServers>>
  beforeAll(async () => {
    both = await twoServers(make())
    return () => both.close()
  })

  // The first one: nothing is counted yet.
  whereShared('a network without a limit is not counted at all', async () => {
    const send = await twoNetworks(both)
    const responses = await Promise.all(times(20).map((n) => send(n, 'unlimited')))
    expect(new Set(responses.map(({ status, headers }) => `${status} ${headers.get('ratelimit-limit')}`))).toEqual(
      new Set(['200 null']),
    )
    expect(await counted()).toBe(0)
    await send(0, 'standard')
    expect(await counted()).toBe(1)
  })

  whereShared('they share one count: of 130 concurrent requests 100 pass, and then neither lets one through', async () => {
    const before = both.errors()
    const send = await twoNetworks(both)
    const responses = await Promise.all(times(130).map((n) => send(n, 'standard')))
    const passed = responses.filter(({ status }) => status === 200)
    const refused = responses.filter(({ status }) => status === 429)
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
    expect(both.errors()).toBe(before)
  })

  test('one Idempotency-Key, sent to both concurrently, creates one record, and both get its response', async () => {
    const before = both.errors()
    const send = await twoNetworks(both)
    const responses = await Promise.all(times(20).map((n) => send(n, 'unlimited', { key: 'once', title: 'Once' })))
    expect(new Set(responses.map(({ status, body }) => JSON.stringify({ status, body }))).size).toBe(1)
    expect(responses[0]).toMatchObject({ status: 201, body: { title: 'Once' } })
    expect(responses.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
    const lists = await Promise.all(times(2).map((n) => send(n, 'unlimited')))
    for (const { body } of lists) expect(body.items).toEqual([responses[0]?.body])
    // Used for another request it is refused, whichever server is asked.
    const others = await Promise.all(times(2).map((n) => send(n, 'unlimited', { key: 'once', title: 'Other' })))
    expect(others.map(({ status }) => status)).toEqual([422, 422])
    expect(both.errors()).toBe(before)
  })

  whereShared('a server that is killed takes nothing of the count with it', async () => {
    const third = run('folkmoot', ...serving, both.address)
    const { url } = JSON.parse(await third.firstLine())
    const send = await twoNetworks({ ...both, urls: [url, both.urls[1] ?? ''] })
    await Promise.all(times(40).map((n) => send(n, 'standard')))
    third.child.kill('SIGKILL')
    await third.ended
    expect((await send(1, 'standard')).headers.get('ratelimit-remaining')).toBe('59')
  })

  // The last one: afterwards the servers count alone for a while.
  whereShared(
    'while the counts cannot be written, requests are answered, each server counts for itself, and reports it once',
    async () => {
      const send = await twoNetworks(both)
      await locked(async () => {
        const responses = await Promise.all(times(120).map((n) => send(n, 'standard')))
        expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
      })
      for (const { out } of both.servers)
        expect(out.stderr.match(/"message":"rate limits: each process counts alone for now: /g)).toHaveLength(1)
      expect(both.errors()).not.toContain('postgres:postgres')
    },
  )
})
