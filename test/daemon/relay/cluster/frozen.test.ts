/**
 * A relay that stands still, or its connection, whatever it holds in the database: the others serve every endpoint when its lease is
 * over, and two seconds later at most.
 */
import { kill } from 'node:process'
import pg from 'pg'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { run } from '../../../support/command.ts'
import { startPostgres } from '../../../support/postgres-server.ts'
import { type Proxy as Network, proxyTo } from '../../../support/proxy.ts'
import { rounds } from '../../../support/rounds.ts'
import { endpoint, event, pass, until } from '../support.ts'
import {
  type Cluster,
  type ClusterServer,
  cluster,
  type RelayHere,
  type RelayProcess,
  times,
  untilShared,
  type Watched,
  watched,
} from './support.ts'

/** A server of this file's own: a stopped session holds up whoever removes a database. */
let server: ClusterServer
beforeAll(async () => {
  const { url, stop } = await startPostgres()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  let schemas = 0
  server = {
    url,
    newSchema: () => `frozen_${++schemas}`,
    query: async (sql, values = []) => (await client.query(sql, [...values])).rows,
  }
  return async () => {
    await client.end()
    await stop()
  }
})

/** A busy machine lets attempts run out of time: no circuit opens for that. */
const settings = { lease: 4, timeout: 1.5, breakerThreshold: 1000 }
/** Seconds. What is promised, and more for a machine with other work. Without an end of what was held it would be a minute. */
const soon = 6 + 24

const paths = times(4).map((n) => `/${n}`)

/** Four endpoints, some of which want the events of each subject in their order: their results are recorded in transactions. */
const four = (hook: Watched, ordered: number) =>
  paths.map((path, n) => endpoint(hook.at(path), { id: `${n}`, order: n < ordered ? 'subject' : 'none' }))

interface Stage {
  readonly hook: Watched
  readonly group: Cluster
  readonly proxy: Network
  /** Stands still later. Its connections go through the proxy. */
  readonly frozen: RelayProcess
  readonly other: RelayHere
  /** Ids of everything that was posted. */
  readonly posted: string[]
  /** Waits until something that is posted now has come to every endpoint. */
  servesAll(what: string): Promise<void>
  /** Posts nothing until everything has come that waited: a slow machine sends less than is posted. */
  catchesUp(): Promise<void>
  /** Ends the posting. Everything has come then, and nothing twice but what was in flight, or what failed before. */
  settles(flying: readonly string[]): Promise<void>
}

/** Two relays with two endpoints each, and about a hundred posts per second. */
async function stage(ordered = 0): Promise<Stage> {
  const hook = await watched((_, response) => void setTimeout(() => response.writeHead(204).end(), 5))
  const group = await cluster(server)
  const proxy = await proxyTo(server.url)
  const frozen = await group.start({ proxy, settings })
  onTestFinished(() => void frozen.child.kill('SIGCONT'))
  const other = await group.begin({ settings })
  await group.append(...four(hook, ordered))
  await untilShared(group, [frozen, other], [2, 2])

  const posted: string[] = []
  const post = async (id: string) => {
    await group.append(event(id, { subject: `s${posted.length % 50}` }))
    posted.push(id)
  }
  const posting = { on: true, pauses: false }
  const running = (async () => {
    while (posting.on) {
      if (!posting.pauses) await post(`e${posted.length}`)
      await pass(8)
    }
  })()
  const end = async () => {
    posting.on = false
    await running
  }
  onTestFinished(end)
  const comes = (id: string) => paths.every((path) => hook.ids(path).includes(id))
  await until(() => comes('e20'), 'events are on their way')
  return {
    ...{ hook, group, proxy, frozen, other, posted },
    async servesAll(what) {
      await post(what)
      await until(() => comes(what), `all endpoints are sent ${what}`, soon)
    },
    async catchesUp() {
      posting.pauses = true
      await until(async () => (await group.pending()) < 20, 'what has waited is sent')
      posting.pauses = false
    },
    async settles(flying) {
      await end()
      await until(() => paths.every((path) => new Set(hook.ids(path)).size === posted.length), 'everything has come')
      await until(async () => (await group.pending()) === 0, 'everything is recorded')
      for (const path of paths) expect(new Set(hook.ids(path))).toEqual(new Set(posted))
      const failed = await group.query(
        `SELECT '/' || p.id || ' ' || e.event_id AS name FROM $relay.deliveries d JOIN $relay.events e ON e.seq = d.event
         JOIN $relay.endpoints p ON p.ref = d.endpoint WHERE d.attempts > 1`,
      )
      const allowed = new Set([...flying, ...failed.map(({ name }) => name)])
      expect(repeated(hook).filter((each) => !allowed.has(each))).toEqual([])
    },
  }
}

/** The sessions of a relay in PostgreSQL. */
const sessions = (group: Cluster, proxy: Network) =>
  group.query('SELECT pid, state, backend_xid IS NOT NULL AS writes FROM pg_stat_activity WHERE client_port = ANY($1)', [
    proxy.ports(),
  ])

/** Stops a relay where it is. @returns what may be sent twice: it is read before another relay reaps it */
function freeze({ group, frozen }: Stage): Promise<readonly string[]> {
  frozen.child.kill('SIGSTOP')
  return inFlight(group, frozen)
}

/** Those that have come to a rest: what was sent before the relay was stopped has been done. */
async function atRest(group: Cluster, proxy: Network) {
  let found = await sessions(group, proxy)
  await until(async () => {
    found = await sessions(group, proxy)
    return found.every(({ state }) => state !== 'active')
  }, 'its sessions have nothing more to do')
  return found
}

/** Deliveries that a relay has recorded as in flight, by path and event: those alone may be sent twice. */
async function inFlight(group: Cluster, { pid }: RelayProcess): Promise<readonly string[]> {
  const rows = await group.query(
    `SELECT '/' || p.id || ' ' || e.event_id AS name FROM $relay.relays r CROSS JOIN unnest(r.in_flight) AS flying
     JOIN $relay.deliveries d ON d.id = flying JOIN $relay.events e ON e.seq = d.event JOIN $relay.endpoints p ON p.ref = d.endpoint
     WHERE (r.process->>'pid')::int = $1`,
    [pid],
  )
  return rows.map(({ name }) => String(name))
}

const repeated = (hook: Watched): readonly string[] =>
  paths.flatMap((path) => hook.ids(path).flatMap((id, place, all) => (all.indexOf(id) < place ? [`${path} ${id}`] : [])))

/** It continues, finds that others have its endpoints, and gets some again. */
async function thaw({ frozen, group, other, catchesUp }: Stage): Promise<void> {
  const lost = frozen.faults().filter(isLoss).length
  frozen.child.kill('SIGCONT')
  await until(() => frozen.faults().filter(isLoss).length > lost, 'it finds out that its lease is over')
  await untilShared(group, [frozen, other], [2, 2])
  await catchesUp()
}

const isLoss = (fault: string): boolean => /^the lease was lost/.test(fault)

test('a relay that is stopped inside a transaction holds up no one for longer than its lease', async () => {
  const all = await stage(4)
  const { group, proxy, frozen } = all
  const flying: string[] = []
  for (const round of times(rounds(1, 5))) {
    for (;;) {
      const recorded = await freeze(all)
      const found = await atRest(group, proxy)
      flying.push(...recorded)
      if (found.some(({ state, writes }) => state === 'idle in transaction' && writes)) break
      frozen.child.kill('SIGCONT')
      await pass(Math.random() * 50)
    }
    await all.servesAll(`frozen${round}`)
    await thaw(all)
  }
  await all.settles(flying)
})

test('a relay has no transaction open between events and results, so that even its sessions may be stopped', async () => {
  const all = await stage()
  const { group, proxy, frozen } = all
  const flying: string[] = []
  for (const round of times(rounds(2, 10))) {
    let found: Awaited<ReturnType<typeof atRest>> = []
    // Notices are recorded in a transaction, but they are few.
    for (const _ of times(3)) {
      await pass(Math.random() * 200)
      flying.push(...(await freeze(all)))
      found = await atRest(group, proxy)
      if (!found.some(({ writes }) => writes)) break
      frozen.child.kill('SIGCONT')
    }
    expect(found.filter(({ writes }) => writes)).toEqual([])
    const pids = found.map(({ pid }) => Number(pid))
    for (const pid of pids) kill(pid, 'SIGSTOP')
    try {
      await all.servesAll(`frozen${round}`)
    } finally {
      for (const pid of pids) kill(pid, 'SIGCONT')
    }
    await thaw(all)
  }
  await all.settles(flying)
})

/** The claim of a piece that holds more than events. */
const claim = 'FOR UPDATE SKIP LOCKED)) RETURNING "seq"'

/** Posts such pieces until the relay behind the proxy is the one that ingests one, and stops it in the middle. */
async function stopWithTheVersion(all: Stage): Promise<readonly string[]> {
  const { group, proxy } = all
  let isHeld = false
  proxy.holdResponses(claim).then(() => {
    isHeld = true
  })
  await until(async () => {
    await group.append({ kind: 'endpoint', action: 'remove', id: 'none', network_id: '2' })
    return isHeld
  }, 'the relay that will be frozen ingests')
  return freeze(all)
}

test('a relay that is stopped while it alone may ingest holds up no one for longer than its lease', async () => {
  const all = await stage()
  const { group, proxy } = all
  const flying = await stopWithTheVersion(all)
  const found = await atRest(group, proxy)
  expect(found.some(({ state, writes }) => state === 'idle in transaction' && writes)).toBe(true)
  await all.servesAll('frozen')
  proxy.mend()
  await thaw(all)
  await all.settles(flying)
})

test('nor does a session that holds what all need and is stuck in sending what was requested', async () => {
  const all = await stage()
  const { group, proxy } = all
  const client = new pg.Client({ connectionString: proxy.url, application_name: 'folkmoot-relay' })
  client.on('error', () => {})
  await client.connect()
  await client.query('BEGIN')
  await client.query(`SELECT value FROM "${group.schema}_relay".meta WHERE name = 'version' FOR UPDATE`)
  const held = proxy.holdResponses('SELECT repeat')
  const result = client.query("SELECT repeat('x', 20000000)").catch(() => 'ended')
  await held
  await until(async () => {
    const stuck = await group.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event = 'ClientWrite' AND client_port = ANY($1)`, [
      proxy.ports(),
    ])
    return stuck.length > 0
  }, 'PostgreSQL cannot send more')
  await all.servesAll('held')
  proxy.mend()
  expect(await result).toBe('ended')
  await all.settles([])
})

test('a relay that reads many large events takes neither itself nor others for dead', async () => {
  const all = await stage()
  const { group, other } = all
  const large = JSON.stringify({ payload: 'x'.repeat(2 ** 20) })
  // Of a network without endpoints: no one is sent them. With something else among them they are ingested in a transaction.
  for (const piece of times(2))
    await group.appendTogether([
      ...times(20).map((n) => event(`large${piece}.${n}`, { network_id: '2', body: large })),
      { kind: 'endpoint', action: 'remove', id: 'none', network_id: '2' },
    ])
  await all.settles([])
  expect(other.faults().filter((fault) => /terminated/.test(fault))).toEqual([])
})

test("an operator's command that is stopped holds up no one for longer than a lease", async () => {
  const all = await stage(4)
  const { group, proxy, hook } = all
  const reached = proxy.holdResponses('ORDER BY id FOR UPDATE')
  hook.respond = (_, response) => void response.writeHead(503).end()
  await until(async () => {
    const waiting = `SELECT 1 FROM $relay.deliveries d JOIN $relay.endpoints p ON p.ref = d.endpoint
      WHERE d.state = 'pending' AND d.attempts > 0 AND p.id = '0'`
    return (await group.query(waiting)).length > 0
  }, 'something waits for it')
  const address = `${proxy.url}?schema=${group.schema}`
  const skip = run('folkmoot-relay', 'skip', '--outbox', address, '--endpoint-id', '0', '--limit', '100')
  onTestFinished(() => void skip.child.kill('SIGKILL'))
  await reached
  skip.child.kill('SIGSTOP')
  hook.respond = (_, response) => void response.writeHead(204).end()
  await all.servesAll('frozen')
  skip.child.kill('SIGCONT')
  proxy.mend()
  await skip.ended
})

test('a relay whose responses from PostgreSQL are late leaves its endpoints to others, until they are in time', async () => {
  const all = await stage(2)
  const { group, proxy, frozen, other } = all
  proxy.delayResponses(3000)
  const flying = await inFlight(group, frozen)
  await untilShared(group, [other], [4], soon)
  await all.servesAll('delayed')
  await until(() => frozen.faults().some((fault) => /PostgreSQL responded after/.test(fault)), 'it says so', soon)
  expect(await group.shares()).toEqual({ [process.pid]: 4 })
  proxy.mend()
  await untilShared(group, [frozen, other], [2, 2])
  await all.settles(flying)
})
