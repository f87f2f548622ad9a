/** A relay that is stopped for longer than its lease, and continues as if nothing had happened. */
import type { LookupAddress } from 'node:dns'
import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { attemptTimeout } from '../../../../daemon/relay/attempt-timeout.ts'
import { systemClock } from '../../../../daemon/relay/clock.ts'
import { createSender } from '../../../../daemon/relay/send/sender.ts'
import { defaultSettings } from '../../../../daemon/relay/settings.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { openEndpoint } from '../send/support.ts'
import { endpoint, event, events, until } from '../support.ts'
import { type Cluster, cluster, clusterServer, type RelayProcess, untilShared, watched } from './support.ts'

const postgres = await testPostgres()
const server = await clusterServer(postgres)

/** Stops a relay where it is; it continues when the test is over. */
function freeze({ child }: RelayProcess): void {
  child.kill('SIGSTOP')
  onTestFinished(() => void child.kill('SIGCONT'))
}

const lostItsLease = (relay: RelayProcess) =>
  until(() => relay.faults().some((fault) => /^the lease was lost/.test(fault)), 'it finds out that its lease is over')

/** It has a lease, and so has the one in the process of the test. */
const registered = (group: Cluster, { pid }: RelayProcess) =>
  until(async () => {
    const rows = await group.query(`SELECT (process->>'pid')::int AS pid FROM $relay.relays`)
    return [pid, process.pid].every((each) => rows.some((row) => row['pid'] === each))
  }, 'all relays have a lease')

/** Its lease is over soon, the other one's is not. */
const shortly = { lease: 4, timeout: 2, breakerThreshold: 2, breakerCooldown: 0.1 }
const steadily = { lease: 18, timeout: 9, breakerThreshold: 2, breakerCooldown: 0.1 }

test('what it had in flight, a probe too, is sent by another relay alone; it sends nothing of that, and works again', async () => {
  const held: ServerResponse[] = []
  let mode: 'fail' | 'hold' | 'accept' = 'fail'
  const hook = await watched(({ path }, response) => {
    if (mode === 'accept') response.writeHead(204).end()
    else if (mode === 'fail' && path === '/failing') response.writeHead(500).end()
    else held.push(response)
  })
  const group = await cluster(server)
  await group.append(
    endpoint(hook.at('/failing'), { id: '1' }),
    endpoint(hook.at('/fifo'), { id: '2', order: 'fifo' }),
    endpoint(hook.at('/none'), { id: '3' }),
  )
  const stopped = await group.start({ settings: shortly })
  await group.append(...events('e', 3))
  await until(() => stopped.log().some(({ kind }) => kind === 'endpoint.opened'), 'the circuit is open')
  await until(() => hook.open('/failing') === 0, 'no attempt is on its way')
  mode = 'hold'
  // Of the others, the attempts from before may have run out of time meanwhile: these are new ones.
  const open = () => ['/failing', '/fifo', '/none'].map((path) => hook.open(path))
  await until(() => open().join() === '1,1,1', 'a probe, the head of the queue and an event are in flight')
  freeze(stopped)
  const before = hook.received.length

  const other = await group.begin({ settings: steadily })
  await until(() => open().join() === '2,2,2', 'another relay sends them, a probe too')
  expect(await group.shares()).toEqual({ [process.pid]: 3 })
  stopped.child.kill('SIGCONT')
  await lostItsLease(stopped)
  await until(() => open().join() === '1,1,1', 'it has let go of what it was sending')
  await registered(group, stopped)
  expect(hook.received.length).toBe(before + 3)

  for (const path of ['/failing', '/fifo']) expect(hook.most(path)).toBe(2)
  for (const path of ['/failing', '/fifo']) expect(hook.most(path)).toBe(1)
  mode = 'accept'
  for (const response of held) response.writeHead(204).end()
  await untilShared(group, [stopped, other], [1, 2])
  await group.append(event('after'))
  await until(() => ['/failing', '/fifo', '/none'].every((path) => hook.ids(path).includes('after')), 'both are at work')
  await until(async () => (await group.pending()) === 0, 'everything is recorded')
  expect(hook.most('/fifo')).toBe(1)
  const rows = await group.query('SELECT DISTINCT state FROM $relay.deliveries')
  expect(rows).toEqual([{ state: 'delivered' }])
})

test('what it had only recorded to be sent it does not send any more', async () => {
  const hook = await watched((_, response) => void response.writeHead(204).end())
  const group = await cluster(server)
  await group.append(endpoint(hook.at('/'), { id: '1' }))
  const stopped = await group.start({ settings: shortly })
  await until(async () => (await group.holder('1')) === stopped.pid, 'it has the endpoint')

  // Its record before the sending takes long, and meanwhile it is stopped.
  const lock = await postgres.client()
  await lock.query('SELECT pg_advisory_lock(7)')
  await group.query(`CREATE FUNCTION $relay.wait() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END'`)
  await group.query(`CREATE TRIGGER wait BEFORE UPDATE ON $relay.relays FOR EACH ROW
    WHEN (NEW.in_flight <> '{}') EXECUTE FUNCTION $relay.wait()`)
  await group.append(event('a'))
  await until(async () => {
    // This lock alone: other tests wait for theirs on the same server.
    const waiting = await group.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
    return waiting.length > 0
  }, 'it records what it is about to send')
  freeze(stopped)
  await lock.query('SELECT pg_advisory_unlock(7)')

  await group.begin({ settings: steadily })
  await until(async () => (await group.pending()) === 0 && hook.received.length > 0, 'another relay has sent it')
  stopped.child.kill('SIGCONT')
  await lostItsLease(stopped)
  await registered(group, stopped)
  expect(hook.ids('/')).toEqual(['a'])
  await group.append(event('b'))
  await until(() => hook.ids('/').includes('b'), 'the next one is sent')
  expect(hook.ids('/')).toEqual(['a', 'b'])
})

test('of what it was about to send when the database took too long, nothing is forgotten', async () => {
  const hook = await watched((_, response) => void response.writeHead(204).end())
  const group = await cluster(server)
  await group.append(endpoint(hook.at('/'), { id: '1' }))
  await group.begin({ settings: shortly })
  await until(async () => (await group.holder('1')) === process.pid, 'it has the endpoint')
  // The first time takes so long that an attempt might last longer than what is left of the lease.
  await group.query('CREATE TABLE $relay.slow ()')
  await group.query(`CREATE FUNCTION $relay.wait() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN IF to_regclass(''$relay.slow'') IS NOT NULL THEN PERFORM pg_sleep(2); END IF; RETURN NEW; END'`)
  await group.query(`CREATE TRIGGER wait BEFORE UPDATE ON $relay.relays FOR EACH ROW
    WHEN (NEW.in_flight <> '{}') EXECUTE FUNCTION $relay.wait()`)
  await group.append(event('a'))
  await until(async () => {
    const rows = await group.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`)
    return rows.length > 0
  }, 'it records what it is about to send')
  await group.query('DROP TABLE $relay.slow')
  await until(() => hook.ids('/').includes('a'), 'it is sent all the same')
  expect(hook.ids('/')).toEqual(['a'])
})

test('an attempt that gets its connection only when the lease is over is not made', async () => {
  const hook = await watched((_, response) => void response.writeHead(204).end())
  const { promise: found, resolve: find } = Promise.withResolvers<readonly LookupAddress[]>()
  const settings = { ...defaultSettings, allowHttp: true, allowPrivate: true }
  const sender = createSender(
    () => settings,
    systemClock,
    () => found,
    'test',
  )
  onTestFinished(() => sender.close())
  let leased = true
  const send = (event_id: string) =>
    sender.send({
      endpoint: openEndpoint(`http://hook.example:${hook.port}/`),
      event_id,
      body: Buffer.from(JSON.stringify({ event_id })),
      isAllowed: () => leased,
      timeout: attemptTimeout(settings, { id: '1' }),
    })
  const late = send('late')
  leased = false
  find([{ address: '127.0.0.1', family: 4 }])
  expect(await late).toMatchObject({ result: 'aborted', reason: 'the lease is nearly over' })
  leased = true
  expect(await send('next')).toMatchObject({ result: 'delivered' })
  expect(hook.ids('/')).toEqual(['next'])
})
