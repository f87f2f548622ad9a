/** A relay that gets late responses from PostgreSQL, beside one that is near: its endpoints are served nevertheless. */
import { expect, test } from 'vitest'
import { testPostgres } from '../../../support/postgres.ts'
import { proxyTo } from '../../../support/proxy.ts'
import { rounds } from '../../../support/rounds.ts'
import { endpoint, event, events, pass, until } from '../support.ts'
import { cluster, clusterServer, type RelayHere, times, untilShared, watched } from './support.ts'

const postgres = await testPostgres()
const server = await clusterServer(postgres)

/** A busy machine lets attempts run out of time: no circuit opens for that. */
const settings = { lease: 4, timeout: 1.5, breakerThreshold: 1000 }
/** Seconds. What is promised, and more for a machine with other work. */
const soon = 6 + 24
const paths = times(4).map((n) => `/${n}`)
const count = ({ relay }: RelayHere) => [...relay.scheduler.endpoints].length

test.each([600, 1500].slice(0, rounds(1, 2)))(
  'endpoints of a relay %i ms away go to one that is near, and come back when it is near',
  async (far) => {
    const hook = await watched((_, response) => void response.writeHead(204).end())
    const group = await cluster(server)
    await group.append(...paths.map((path, n) => endpoint(hook.at(path), { id: `${n}`, order: n === 0 ? 'fifo' : 'none' })))
    const proxy = await proxyTo(server.url)
    const slow = await group.begin({ proxy, settings })
    const near = await group.begin({ settings })
    await untilShared(group, [slow, near], [2, 2])
    const arrived = (id: string) => paths.every((path) => hook.ids(path).includes(id))
    await group.append(...events('before', 20))
    await until(() => arrived('before19'), 'events are on their way')

    proxy.delayResponses(far)
    const posted: string[] = []
    for (const begin = performance.now(); count(slow) > 0 || posted.length === 0; ) {
      const id = `e${posted.length}`
      await group.append(event(id, { subject: `s${posted.length % 5}` }))
      posted.push(id)
      await pass(20)
      if (performance.now() - begin > soon * 1000) throw new Error('it has not given its endpoints away')
    }
    await until(() => arrived(posted.at(-1) ?? ''), 'every endpoint is served', soon)
    await untilShared(group, [slow, near], [0, 4])
    await group.append(event('during'))
    await until(() => arrived('during'), 'every endpoint is served by the one that is near')

    proxy.mend()
    await untilShared(group, [slow, near], [2, 2])
    await group.append(event('after'))
    await until(() => arrived('after'), 'both send')
    await until(async () => (await group.pending()) === 0, 'everything is recorded')
    for (const path of paths) expect(new Set(hook.ids(path)).size).toBe(20 + posted.length + 2)
    expect(hook.twice).toEqual([])
    // What it had in flight it has recorded, so nothing came twice; and its lease lasted.
    for (const path of paths) expect(hook.ids(path)).toHaveLength(20 + posted.length + 2)
    expect(slow.faults().filter((fault) => fault.startsWith('the lease was lost'))).toEqual([])
  },
)

test('relays that are equally far share the endpoints, and a relay alone serves all of them', async () => {
  const hook = await watched((_, response) => void response.writeHead(204).end())
  const group = await cluster(server)
  await group.append(...paths.map((path, n) => endpoint(hook.at(path), { id: `${n}` })))
  const proxies = await Promise.all(times(2).map(() => proxyTo(server.url)))
  const relays = await Promise.all(proxies.map((proxy) => group.begin({ proxy, settings })))
  await untilShared(group, relays, [2, 2])
  for (const proxy of proxies) proxy.delayResponses(600)
  await until(async () => (await group.query('SELECT 1 FROM $relay.relays WHERE far')).length === 2, 'both are far')
  await group.append(...events('e', 10))
  await until(() => paths.every((path) => new Set(hook.ids(path)).size === 10), 'both send')
  await untilShared(group, relays, [2, 2])
  await relays[0]?.stop()
  await until(() => relays[1] !== undefined && count(relays[1]) === 4, 'the other one has all')
  await group.append(event('last'))
  await until(() => paths.every((path) => hook.ids(path).includes('last')), 'it sends to all')
})
