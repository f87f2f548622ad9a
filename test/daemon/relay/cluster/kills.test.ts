/** Relays and API servers on one database that are killed at random, while requests continue. */
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { createCommunity } from '../../../../lib/index.ts'
import { begun } from '../../../support/begun.ts'
import { type Command, run } from '../../../support/command.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { rounds as roundsOf, soaking } from '../../../support/rounds.ts'
import { endpoint, event, pass, until } from '../support.ts'
import { type Cluster, cluster, clusterServer, type RelayProcess, times, untilShared, type Watched, watched } from './support.ts'

const server = await clusterServer(await testPostgres())

const rounds = roundsOf(2, 6)
const deaths = Math.max(2, Math.ceil(rounds / 2))
const maxInFlightPerEndpoint = 8
/** In the soak any of them dies. Otherwise one relay and one server live in the process of the test, where starting costs little. */
const living = soaking ? 0 : 1

const below = (limit: number): number => Math.floor(Math.random() * limit)

/** A delivery that is in flight at a third death would rightly be set aside: those of two are let through first. */
const untilNoneIsSuspect = (group: Cluster) =>
  until(async () => {
    const rows = await group.query(`SELECT 1 FROM $relay.deliveries WHERE state = 'pending' AND interruptions > 1`)
    return rows.length === 0
  }, 'what was in flight at two deaths is delivered')

/** The promise that holds however often relays die. Nothing was sent twice at once, and no more often than it was in flight. */
function expectFewRepeats(hook: Watched, path: string, most: number): void {
  const ids = hook.ids(path)
  expect(ids.length - new Set(ids).size, `events that came to ${path} again`).toBeLessThanOrEqual(most)
}

/** The events of the outbox in the order in which they were ingested, those of these types. */
async function taken(group: Cluster): Promise<readonly string[]> {
  return (await group.query('SELECT event_id FROM $relay.events ORDER BY seq')).map(({ event_id }) => String(event_id))
}

test(`three relays and two servers, killed in ${rounds} rounds, deliver every event of an acknowledged request, and none besides`, {
  timeout: 120_000 + rounds * 15_000,
}, async () => {
  const group = await cluster(server)
  const hook = await watched((_, response) => void setTimeout(() => response.writeHead(204).end(), 2))
  const storage = await postgresStorage({ url: server.url, schema: group.schema })
  const community = createCommunity({ storage, allowHttp: true })
  onTestFinished(() => community.close())
  const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Host' }
  const { network } = await community.networks.create({ subdomain: 'kills', title: 'Demo', service_plan: 'unlimited', owner })
  const { token } = await community.keys.create({ network: network.id, name: 'test', scopes: ['*'] })
  const paths = { all: ['/1', '/2', '/fifo'], posts: '/posts' }
  for (const path of [...paths.all, paths.posts])
    await community.endpoints.upsert({
      network: network.id,
      url: hook.at(path),
      token: 'key',
      order: path === '/fifo' ? 'fifo' : 'none',
      ...(path === paths.posts ? { events: ['PostCreated'] } : {}),
    })

  const serving = ['serve', '--storage', group.address, '--port', '0', '--json', '--allow-http']
  const serve = () => run('folkmoot', ...serving)
  const urlOf = async (server: Pick<Command, 'firstLine'>) => String(JSON.parse(await server.firstLine()).url)
  const servers = times(2 - living).map(serve)
  const urls = await Promise.all([...servers, ...times(living).map(() => begun(...serving))].map(urlOf))
  const relays: RelayProcess[] = await Promise.all(times(3 - living).map(() => group.start()))
  for (const _ of times(living)) await group.begin()

  async function send(path: string, body: object): Promise<string | undefined> {
    try {
      const reply = await fetch(`${urls[below(urls.length)]}/admin/v1/networks/${network.id}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return reply.status === 201 ? String(JSON.parse(await reply.text()).id) : undefined
    } catch {
      return undefined
    }
  }
  const space_id = await send('/spaces', { name: 'Garden' })
  expect(space_id).toBeDefined()
  const acknowledged = { posts: [] as string[], members: [] as string[] }
  let asked = 0
  let going = true
  const writing = Promise.all(
    times(3).map(async () => {
      while (going) {
        const n = ++asked
        const member = n % 3 === 0
        const id = member
          ? await send('/members', { email: `m${n}@example.org`, first_name: 'M', last_name: `${n}` })
          : await send('/posts', { space_id, title: `Post ${n}` })
        if (id !== undefined) acknowledged[member ? 'members' : 'posts'].push(id)
        await pass(200)
      }
    }),
  )

  let kills = 0
  for (const _ of times(rounds)) {
    await untilNoneIsSuspect(group)
    const before = hook.received.length
    await until(() => hook.received.length >= before + 12, 'some are delivered')
    const dying = below(relays.length)
    await relays[dying]?.kill()
    kills++
    const other = below(servers.length)
    if (below(2) === 0) {
      servers[other]?.child.kill('SIGKILL')
      await servers[other]?.ended
      servers[other] = serve()
      urls[other] = await urlOf(servers[other])
    }
    relays[dying] = await group.start()
  }
  going = false
  await writing

  const received = (path: string, type: string): readonly string[] =>
    hook.received
      .filter((each) => each.path === path)
      .map(({ body }) => JSON.parse(body))
      .filter(({ event_type }) => event_type === type)
      .map(({ payload }) => String(payload.member?.id ?? payload.id))
  const missing = () => [
    ...[...paths.all, paths.posts].flatMap((path) => {
      const ids = new Set(received(path, 'PostCreatedHook'))
      return acknowledged.posts.filter((id) => !ids.has(id)).map((id) => `${path} post ${id}`)
    }),
    ...paths.all.flatMap((path) => {
      const ids = new Set(received(path, 'MemberJoinedHook'))
      return acknowledged.members.filter((id) => !ids.has(id)).map((id) => `${path} member ${id}`)
    }),
  ]
  await until(async () => (await group.pending()) === 0, 'everything is recorded', 90)
  expect(missing()).toEqual([])
  expect(acknowledged.posts.length).toBeGreaterThan(5 * rounds)

  const rowsOf = async (table: string, ids: readonly string[]) =>
    (await group.query(`SELECT id::text FROM $outbox.${table} WHERE id = ANY($1::bigint[])`, [ids])).length
  for (const path of paths.all) {
    const posts = [...new Set(received(path, 'PostCreatedHook'))]
    const members = [...new Set(received(path, 'MemberJoinedHook'))]
    expect([await rowsOf('posts', posts), await rowsOf('members', members)]).toEqual([posts.length, members.length])
  }
  expect(await group.query('SELECT DISTINCT state FROM $relay.deliveries')).toEqual([{ state: 'delivered' }])
  expect(hook.twice).toEqual([])
  for (const path of ['/1', '/2', '/posts']) expectFewRepeats(hook, path, kills * maxInFlightPerEndpoint)
  expectFewRepeats(hook, '/fifo', kills)
  expect([...new Set(hook.ids('/fifo'))]).toEqual(await taken(group))
  for (const relay of relays) expect(await relay.stop()).toBe(0)
})

/** A receiver that refuses a quarter of what it is sent, and keeps what it took, by path and subject. */
async function fickle() {
  const open = new Set<string>()
  const overlaps: string[] = []
  const taken = new Map<string, string[]>()
  const hook = await watched(({ path, id }, response) => {
    const [subject = ''] = id.split('-')
    const key = path.startsWith('/fifo') ? path : `${path} ${subject}`
    if (open.has(key)) overlaps.push(`${path} ${id}`)
    open.add(key)
    response.on('close', () => open.delete(key))
    setTimeout(() => {
      // A dead process learns nothing.
      if (response.destroyed) return
      const takes = below(4) > 0
      if (takes) taken.set(key, [...(taken.get(key) ?? []), id])
      open.delete(key)
      response.writeHead(takes ? 204 : 500).end()
    }, 2)
  })
  return { hook, overlaps, taken }
}

test(`endpoints that want order get it from three relays that are killed ${deaths} times, however often they refuse`, {
  timeout: 120_000 + deaths * 15_000,
}, async () => {
  const group = await cluster(server)
  const { hook, overlaps, taken } = await fickle()
  const paths = times(6).map((n) => (n < 3 ? `/fifo/${n}` : `/subject/${n}`))
  await group.append(
    ...paths.map((path, n) => endpoint(hook.at(path), { id: `${n}`, order: n < 3 ? ('fifo' as const) : ('subject' as const) })),
  )
  const settings = { retrySchedule: [0, ...times(99).map(() => 0.02)], breakerCooldown: 0.05 }
  const start = () => group.start({ settings })
  const relays = await Promise.all(times(3 - living).map(start))
  const others = await Promise.all(times(living).map(() => group.begin({ settings })))
  await untilShared(group, [...relays, ...others], [2, 2, 2])

  const sent: string[] = []
  for (const round of times(deaths)) {
    await untilNoneIsSuspect(group)
    const batch = times(24).map((n) => {
      const subject = `s${below(5)}`
      return event(`${subject}-${round}-${n}`, { subject })
    })
    await group.append(...batch)
    sent.push(...batch.map(({ event_id }) => event_id))
    const some = below(paths.length * batch.length)
    const before = hook.received.length
    await until(async () => hook.received.length >= before + some || (await group.pending()) === 0, 'some are sent')
    const dying = below(relays.length)
    await relays[dying]?.kill()
    relays[dying] = await start()
  }
  await until(async () => (await group.pending()) === 0, 'everything is recorded', 60)
  expect(await group.query('SELECT DISTINCT state FROM $relay.deliveries')).toEqual([{ state: 'delivered' }])
  for (const [key, ids] of taken) {
    const [, subject] = key.split(' ')
    // A delivery in flight at a death may come again, directly after the first time.
    const once = ids.filter((id, place) => id !== ids[place - 1])
    expect([key, once]).toEqual([key, sent.filter((id) => subject === undefined || id.startsWith(`${subject}-`))])
  }
  expect([...taken.keys()].filter((key) => key.startsWith('/fifo'))).toHaveLength(3)
  const subjects = new Set(sent.map((id) => id.split('-')[0]))
  expect(taken.size).toBe(3 + 3 * subjects.size)
  expect(overlaps).toEqual([])
  expect(hook.twice).toEqual([])
})
