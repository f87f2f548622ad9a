/** A network that moves to another database while it is written to, by processes that are killed at random, seen from outside. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { createCommunity } from '../../../../lib/index.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { scoped } from '../../../../lib/storage/scoped.ts'
import { idempotencyKeys } from '../../../../lib/storage/tables/administration.ts'
import { members } from '../../../../lib/storage/tables/members.ts'
import { begun, begunRelay } from '../../../support/begun.ts'
import { type Command, run } from '../../../support/command.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { ended } from '../../../support/program.ts'
import { rounds, soaking } from '../../../support/rounds.ts'

const server = await testPostgres()

interface Place {
  readonly address: string
  open(): Promise<Storage>
}

function sqlite(): Place {
  const path = join(temporaryDirectory(), 'db.sqlite')
  return { address: `sqlite:${path}`, open: () => sqliteStorage({ path }) }
}

function postgres(): Place {
  const schema = server.newSchema()
  return { address: `${server.url}?schema=${schema}`, open: () => postgresStorage({ url: server.url, schema }) }
}

/** Requests under way at a time. */
const writers = 6
/** Members, so that the copy has many transactions. */
const crowd = soaking ? 20_000 : 3_000
const [kills, before, after] = [rounds(3, 12), 40, 40]
const network = '1'
/** Long enough for a receiver that is down. */
const schedule = Array.from({ length: 100 }, () => '1').join()
/** The relay of the target sends from here, and the other one from 127.0.0.1. */
const targetAddress = '127.0.0.2'

/** A network in a storage: its key, and the space that is written to. */
async function prepared(place: Place, url: string) {
  const storage = await place.open()
  const community = createCommunity({ storage })
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: '' }
  await community.networks.create({ id: network, subdomain: 'demo', title: 'Demo', service_plan: 'unlimited', owner })
  const space = await community.call('spaces.create', { network, body: { name: 'Hall' } })
  const { token } = await community.keys.create({ network, name: 'test', scopes: ['*'] })
  await community.endpoints.upsert({ network, url, token: 'k', events: ['PostCreated'] })
  const at = new Date().toISOString()
  await storage.transaction(async (tx) => {
    const here = scoped(tx, network)
    for (let number = 1; number <= crowd; number++) {
      const email = `member${number}@example.org`
      const names = { first_name: `Member ${number}`, last_name: 'Of many', email, email_key: email }
      await here.insert(members, { id: String(10_000 + number), created_at: at, updated_at: at, ...names })
    }
  })
  await community.close()
  return { token, space: String(space.id) }
}

/** Counts the deliveries of each post, by the side that has sent them. While it is down, it refuses those of the source. */
async function receiver() {
  const seen = new Map<string, ('source' | 'target')[]>()
  const state = { isDown: false }
  const http = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (piece) => {
      text += piece
    })
    request.on('end', () => {
      const { title } = JSON.parse(text).payload
      const side = request.socket.remoteAddress?.endsWith(targetAddress) ? 'target' : 'source'
      if (side === 'source' && state.isDown) return void response.writeHead(503).end()
      seen.set(title, [...(seen.get(title) ?? []), side])
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void http.close())
  await new Promise((resolve) => http.once('listening', resolve))
  return { seen, state, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/` }
}

/** Kills a copy after some of its transactions. @returns whether it was killed in time */
async function killed({ child, ended }: Command, target: Storage, transactions: number): Promise<boolean> {
  let [isOver, places, last] = [false, 0, '']
  void ended.then(() => {
    isOver = true
  })
  while (!isOver) {
    const note = await target.transaction((tx) => tx.get(idempotencyKeys, network), { readOnly: true })
    const place = note?.body ?? ''
    if (place !== last && ++places === transactions) child.kill('SIGKILL')
    last = place
    await new Promise((resolve) => setImmediate(resolve))
  }
  return (await ended) === null
}

const moves = [
  ['SQLite', 'PostgreSQL', 'a receiver', sqlite, postgres],
  ['PostgreSQL', 'SQLite', 'a receiver that is down', postgres, sqlite],
  ['PostgreSQL', 'PostgreSQL', 'a receiver', postgres, postgres],
  ['SQLite', 'SQLite', 'a receiver that is down', sqlite, sqlite],
] as const

test.each(soaking ? moves : moves.slice(0, 2))(
  'from %s to %s, with %s, nothing that was acknowledged is lost, and no event is delivered by both sides',
  async (_f, _t, kind, from, to) => {
    const [source, target] = [from(), to()]
    const hook = await receiver()
    const { token, space } = await prepared(source, hook.url)
    const targetStorage = await target.open()
    onTestFinished(() => targetStorage.close())
    const flags = ['--allow-http', '--json', '--port', '0'] as const
    const servers = [1, 2].map(() => run('folkmoot', 'serve', '--storage', source.address, ...flags))
    const there = begun('serve', '--storage', target.address, ...flags)
    const relayFlags = ['--allow-http', '--allow-private', '--retry-schedule', schedule, '--breaker-cooldown', '1'] as const
    begunRelay('run', '--outbox', source.address, ...relayFlags)
    begunRelay('run', '--outbox', target.address, ...relayFlags, '--source-address', targetAddress)
    const urlOf = async ({ firstLine }: Pick<Command, 'firstLine'>): Promise<string> => JSON.parse(await firstLine()).url
    let routes = await Promise.all(servers.map(urlOf))
    const targetUrl = await urlOf(there)

    const acknowledged = { source: new Set<string>(), target: new Set<string>() }
    let isStopped = false
    /** Sends each post until it is acknowledged: elsewhere, if a server is gone or the network read-only. */
    async function write(name: string): Promise<void> {
      for (let count = 0; !isStopped; count++) {
        const title = `${name} ${count}`
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': title }
        const init = { method: 'POST', headers, body: JSON.stringify({ space_id: space, title }) }
        for (let attempt = 0; ; attempt++) {
          const url = routes[(count + attempt) % routes.length] ?? ''
          const response = await fetch(`${url}/admin/v1/networks/${network}/posts`, init).catch(() => undefined)
          await response?.text().catch(() => undefined)
          if (response?.status === 201) {
            acknowledged[url === targetUrl ? 'target' : 'source'].add(title)
            break
          }
          expect([undefined, 503]).toContain(response?.status)
          if (isStopped) return
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
    }
    const all = Promise.all(Array.from({ length: writers }, (_, number) => write(`writer ${number}`)))
    const folkmoot = async (...args: readonly string[]) => {
      const { code, stderr } = await ended('folkmoot', ...args)
      expect([args[0], code, stderr.includes('folkmoot:')]).toEqual([args[0], 0, false])
    }

    await expect.poll(() => acknowledged.source.size).toBeGreaterThan(before)
    servers[0]?.child.kill('SIGKILL')
    await expect.poll(() => acknowledged.source.size).toBeGreaterThan(2 * before)
    hook.state.isDown = kind === 'a receiver that is down'
    const late = acknowledged.source.size
    await expect.poll(() => acknowledged.source.size).toBeGreaterThan(late + before)
    const update = ['networks', 'update', network, '--storage'] as const
    await folkmoot(...update, source.address, '--read-only')
    const copy = ['copy', '--from', source.address, '--to', target.address, '--network', network] as const
    let killedTimes = 0
    for (let round = 0; round < kills; round++)
      if (await killed(run('folkmoot', ...copy), targetStorage, 1 + Math.floor(Math.random() * 5))) killedTimes++
    expect(killedTimes).toBeGreaterThan(0)
    await folkmoot(...copy)
    const sides = ['--a', routes[1] ?? '', '--b', targetUrl, '--a-token', token, '--b-token', token] as const
    await folkmoot('diff', ...sides, '--network', network, '--sample', '3')
    const pending = ['deliveries', '--outbox', source.address, '--network-id', network, '--state', 'pending', '--json'] as const
    const isPending = async () => (await ended('folkmoot-relay', ...pending)).stdout !== ''
    if (hook.state.isDown) expect(await isPending()).toBe(true)
    else await expect.poll(isPending).toBe(false)
    routes = [targetUrl]
    await folkmoot(...update, target.address, '--no-read-only')
    await expect.poll(() => acknowledged.target.size).toBeGreaterThan(after)
    isStopped = true
    await all
    hook.state.isDown = false

    const reached = createCommunity({ storage: targetStorage })
    const titles: string[] = []
    for await (const row of reached.export(network, { what: 'posts', fields: ['title'] }))
      titles.push(String(Object.values(row)[0]))
    const known = [...acknowledged.source, ...acknowledged.target]
    expect(known.filter((title) => !titles.includes(title))).toEqual([])
    expect(titles.length).toBe(new Set(titles).size)
    // Each event once, and from the side that has taken its post.
    await expect.poll(() => known.filter((title) => !hook.seen.has(title))).toEqual([])
    const both = [...hook.seen].filter(([, by]) => by.includes('source') && by.includes('target'))
    expect(both).toEqual([])
    const fromTarget = [...hook.seen].filter(([, by]) => by.includes('target')).map(([title]) => title)
    expect(fromTarget.filter((title) => acknowledged.source.has(title))).toEqual([])
    expect([...hook.seen.values()].filter(({ length }) => length > 1)).toEqual([])
  },
)
