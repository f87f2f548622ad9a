/** A database that dies and comes back, while relays work on it. */

import pg from 'pg'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../../daemon/relay/clock.ts'
import { openPostgresStore } from '../../../../daemon/relay/store/postgres/store.ts'
import { type PostgresServer, startPostgres } from '../../../support/postgres-server.ts'
import { endpoint, event, events, until } from '../support.ts'
import { type ClusterServer, cluster, times, untilShared, watched } from './support.ts'

/** A server that can be killed, and that loses as much of what was not synced as PostgreSQL ever does. */
let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ flags: ['-c', 'wal_writer_delay=10s'] })
  return () => server.stop()
})

let schemas = 0
const here: ClusterServer = {
  get url() {
    return server.url
  },
  newSchema: () => `mortal_${++schemas}`,
  async query(sql, values = []) {
    const client = new pg.Client({ connectionString: server.url })
    client.on('error', () => {})
    await client.connect()
    return client.query(sql, [...values]).then(
      ({ rows }) => client.end().then(() => rows),
      (error: unknown) =>
        client.end().then(() => {
          throw error
        }),
    )
  },
}

test('relays continue by themselves after the database died, and the work that it forgot is delivered again', async () => {
  const hook = await watched((_, response) => void response.writeHead(204).end())
  const group = await cluster(here)
  const relays = await Promise.all(times(3).map(() => group.begin({ settings: { lease: 30, timeout: 5 } })))
  await group.append(...times(6).map((n) => endpoint(hook.at(`/${n}`), { id: `${n}` })))
  await untilShared(group, relays, [2, 2, 2])

  const sent: string[] = []
  for (const death of [1, 2, 3]) {
    const batch = events(`death${death}-`, 20)
    sent.push(...batch.map(({ event_id }) => event_id))
    await group.append(...batch)
    await until(() => hook.received.some(({ id }) => id === `death${death}-19`), 'the last one was delivered somewhere')
    await server.crash()
    await server.start()
  }
  await group.append(event('after'))
  await until(() => times(6).every((n) => hook.ids(`/${n}`).includes('after')), 'all relays are at work again')
  await until(async () => (await group.pending()) === 0, 'nothing waits')
  for (const n of times(6)) expect(new Set(hook.ids(`/${n}`))).toEqual(new Set([...sent, 'after']))
  expect(await group.query('SELECT seq FROM $outbox.outbox')).toEqual([])
  const distinct = new Set(hook.received.map(({ path, id }) => `${path} ${id}`)).size
  expect(hook.received.length, 'the database has forgotten something').toBeGreaterThan(distinct)
  for (const relay of relays) await relay.stop()
})

test('connections that break while no one uses them count: everything is looked at again', async () => {
  const group = await cluster(here)
  const { store } = await openPostgresStore({
    url: server.url,
    schema: group.schema,
    clock: systemClock,
    lease: () => 3_600_000,
  })
  onTestFinished(() => store.close())
  await store.recover(Date.now())
  expect(await store.poll()).toBeUndefined()
  await server.crash()
  await server.start()
  expect(await store.poll()).toMatchObject({ touched: 'all' })
})

test('a response from before the death of the database does not count for an event that got the same number after it', async () => {
  const held = new Map<string, (status: number) => void>()
  let over = false
  const hook = await watched(({ id, path }, response) => {
    const respond = (status: number) => void response.writeHead(status).end()
    if (id.startsWith('warm') || id === 'b' || over) respond(204)
    else held.set(path, respond)
  })
  const respond = async (path: string, status: number) => {
    await until(() => held.has(path), `a request to ${path} is in flight`)
    held.get(path)?.(status)
    held.delete(path)
  }
  const group = await cluster(here)
  await group.append(endpoint(hook.at('/ours'), { id: '1' }), endpoint(hook.at('/host'), { id: '2', audience: 'host' }))
  const relay = await group.begin({ settings: { lease: 60, timeout: 20, breakerThreshold: 1, breakerCooldown: 0.05 } })
  // PostgreSQL writes down 33 numbers of a sequence at once: the next one is the first that it can forget.
  await group.append(...events('warm', 33))
  await until(async () => hook.ids('/ours').length === 33 && (await group.pending()) === 0, 'these are delivered')

  // An event fails twice, and the host is told so by a second one, which no outbox has ever held.
  await group.append(event('a'))
  for (let failures = 0; failures < 2; failures++) await respond('/ours', 500)
  await until(() => held.has('/host'), 'the host is being told')
  await server.crash()
  await server.start()

  // Ingested once more, while the one to the host is still in flight; what comes now waits for the open circuit.
  await group.append(event('b'))
  await until(
    async () => (await group.query(`SELECT seq FROM $relay.events WHERE event_id = 'b'`)).length === 1,
    'both are ingested',
  )
  await until(() => held.has('/ours'), 'the probe is in flight')
  await respond('/host', 204)
  await until(() => hook.open('/host') === 0, 'the host has answered')
  await until(
    () => relay.attempts.some(({ endpoint_id, state }) => endpoint_id === '2' && state === 'delivered'),
    'it is recorded',
  )
  over = true
  await respond('/ours', 204)
  await until(async () => (await group.pending()) === 0, 'nothing waits')
  expect(hook.ids('/ours')).toContain('b')
  await relay.stop()
})
