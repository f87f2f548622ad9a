/** Faults between relays and their database: connections that are cut, and a network that swallows everything. */
import { expect, test } from 'vitest'
import { testPostgres } from '../../../support/postgres.ts'
import { proxyTo } from '../../../support/proxy.ts'
import { rounds } from '../../../support/rounds.ts'
import { endpoint, events, pass, until } from '../support.ts'
import { type Cluster, cluster, clusterServer, times, untilShared, type Watched, watched } from './support.ts'

const postgres = await testPostgres()
const server = await clusterServer(postgres)

const paths = times(6).map((n) => `/${n}`)
/** Four that are sent several events at once, and two that want them in their order. */
const six = (hook: Watched) => paths.map((path, n) => endpoint(hook.at(path), { id: `${n}`, order: n < 4 ? 'none' : 'fifo' }))
const fifo = paths.slice(4)

const deliveredTo = (hook: Watched, ids: readonly string[]) =>
  until(() => paths.every((path) => new Set(hook.ids(path)).size === ids.length), 'all events are delivered to all', 60)

/** Each event arrived in its order in the outbox, as far as its first arrival goes. */
function expectOrder(hook: Watched, ids: readonly string[]): void {
  for (const path of fifo) expect([...new Set(hook.ids(path))]).toEqual(ids)
}

async function expectNothingLeft(group: Cluster): Promise<void> {
  await until(async () => (await group.pending()) === 0, 'everything is recorded', 60)
  expect(await group.query('SELECT DISTINCT state FROM $relay.deliveries')).toEqual([{ state: 'delivered' }])
  expect(await group.query('SELECT seq FROM $outbox.outbox')).toEqual([])
}

test('connections that are cut at random lose nothing, and no event is sent by two relays concurrently', async () => {
  const hook = await watched((_, response) => void setTimeout(() => response.writeHead(204).end(), 5))
  const group = await cluster(server)
  await group.append(...six(hook))
  const proxies = await Promise.all(times(3).map(() => proxyTo(server.url)))
  const relays = await Promise.all(proxies.map((proxy) => group.begin({ proxy, settings: { lease: 30, timeout: 5 } })))
  await untilShared(group, relays, [2, 2, 2])

  let cutting = true
  let cuts = 0
  const breaking = Promise.all(
    proxies.map(async (proxy) => {
      while (cutting) {
        await pass(20 + Math.random() * 300)
        proxy.cut()
        cuts++
        await pass(Math.random() * 100)
        proxy.mend()
      }
    }),
  )
  const sent: string[] = []
  for (let batch = 0; cuts < rounds(15, 60); batch++) {
    const some = events(`b${batch}-`, 5)
    await group.append(...some)
    sent.push(...some.map(({ event_id }) => event_id))
    await pass(100)
  }
  cutting = false
  await breaking
  await deliveredTo(hook, sent)
  await expectNothingLeft(group)
  expectOrder(hook, sent)
  expect(hook.twice).toEqual([])
  for (const path of fifo) expect(hook.most(path)).toBe(1)
  await untilShared(group, relays, [2, 2, 2])
  for (const relay of relays) await relay.stop()
})

test('a relay whose network falls silent stops sending, others take its endpoints when its lease is over, and it comes back', async () => {
  const hook = await watched((_, response) => void setTimeout(() => response.writeHead(204).end(), 20))
  const group = await cluster(server)
  await group.append(...six(hook))
  const proxy = await proxyTo(server.url)
  const settings = { lease: 3, timeout: 1 }
  const cut = await group.begin({ proxy, settings })
  const other = await group.begin({ settings })
  await untilShared(group, [cut, other], [3, 3])

  const sent: string[] = []
  const send = async (prefix: string) => {
    const some = events(prefix, 60)
    await group.append(...some)
    sent.push(...some.map(({ event_id }) => event_id))
  }
  await send('before')
  await until(() => hook.received.length > 60, 'deliveries are on their way')
  proxy.silence()
  await send('during')
  await untilShared(group, [other], [6])
  await deliveredTo(hook, sent)
  proxy.mend()
  await untilShared(group, [cut, other], [3, 3], 60)
  expect(cut.faults().filter((fault) => /^the lease was lost/.test(fault))).toHaveLength(1)
  await send('after')
  await deliveredTo(hook, sent)
  await expectNothingLeft(group)
  expectOrder(hook, sent)
  expect(hook.twice).toEqual([])
  for (const path of fifo) expect(hook.most(path)).toBe(1)
})

test('without the database only deliveries in flight are sent, and the rest continues when it is back', async () => {
  const hook = await watched((_, response) => void setTimeout(() => response.writeHead(204).end(), 20))
  const group = await cluster(server)
  await group.append(...six(hook))
  const proxy = await proxyTo(server.url)
  const relay = await group.begin({ proxy, settings: { lease: 2, timeout: 1, maxInFlightPerEndpoint: 2 } })
  await untilShared(group, [relay], [6])
  const sent = events('e', 100).map(({ event_id }) => event_id)
  await group.append(...events('e', 100))
  await until(() => hook.received.length > 60, 'deliveries are on their way')
  proxy.cut()
  const before = hook.received.length
  await until(() => relay.faults().length > 0, 'it says so')
  await until(() => paths.every((path) => hook.open(path) === 0), 'what was in flight is back')
  // Four endpoints with two in flight, two with one; and as many that were recorded but not sent yet.
  expect(hook.received.length - before).toBeLessThanOrEqual(2 * (4 * 2 + 2))
  const then = hook.received.length
  // Longer than the lease.
  await pass(3000)
  expect(hook.received.length).toBe(then)
  proxy.mend()
  await deliveredTo(hook, sent)
  await expectNothingLeft(group)
  expectOrder(hook, sent)
  expect(hook.twice).toEqual([])
})
