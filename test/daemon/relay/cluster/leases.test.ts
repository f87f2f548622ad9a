/** Which of several relays sends to which endpoint, and which takes it from which. */
import { expect, test } from 'vitest'
import { testPostgres } from '../../../support/postgres.ts'
import { endpoint, event, until } from '../support.ts'
import { type Cluster, cluster, clusterServer, times, untilShared, type Watched, watched } from './support.ts'

const server = await clusterServer(await testPostgres())
const accept = watched.bind(undefined, (_, response) => void response.writeHead(204).end())

/** Lasts longer than the test, so that no lease expires in it. */
const long = { lease: 3600 }

/** Six endpoints, each with another path. */
const six = (hook: Watched) => times(6).map((n) => endpoint(hook.at(`/${n}`), { id: `${n}` }))

/** One event for every endpoint. */
async function reachesAll(group: Cluster, hook: Watched, id: string): Promise<void> {
  await group.append(event(id))
  await until(() => times(6).every((n) => hook.ids(`/${n}`).includes(id)), `event ${id} is delivered to all`)
}

test('endpoints are shared out evenly over the relays that come, and each is sent every event once', async () => {
  const hook = await accept()
  const group = await cluster(server)
  const settings = { lease: 3, timeout: 1 }
  const first = await group.begin({ settings })
  await group.append(...six(hook))
  await untilShared(group, [first], [6])
  await reachesAll(group, hook, 'one')
  const second = await group.begin({ settings })
  await untilShared(group, [first, second], [3, 3])
  await reachesAll(group, hook, 'two')
  const third = await group.begin({ settings })
  await untilShared(group, [first, second, third], [2, 2, 2])
  await reachesAll(group, hook, 'three')
  await until(async () => (await group.pending()) === 0, 'everything is recorded')
  for (const n of times(6)) expect(hook.ids(`/${n}`)).toEqual(['one', 'two', 'three'])
})

test('a relay that is asked to end hands its endpoints over immediately', async () => {
  const hook = await accept()
  const group = await cluster(server)
  const [first, second] = await Promise.all([group.start({ settings: long }), group.begin({ settings: long })])
  await group.append(...six(hook))
  await untilShared(group, [first, second], [3, 3])
  expect(await first.stop()).toBe(0)
  await untilShared(group, [second], [6])
  await reachesAll(group, hook, 'one')
  await second.stop()
  expect(await group.shares()).toEqual({ 0: 6 })
  expect(await group.query('SELECT * FROM $relay.relays')).toEqual([])
})

test('a relay that was killed and is started again on the same machine resumes its work immediately', async () => {
  const hook = await accept()
  const group = await cluster(server)
  const first = await group.start({ settings: long })
  await group.append(...six(hook))
  await untilShared(group, [first], [6])
  await first.kill()
  await group.begin({ settings: long })
  expect(await group.shares()).toEqual({ [process.pid]: 6 })
  await reachesAll(group, hook, 'one')
})

test('a relay that is killed is buried by another one on its machine, long before its lease is over', async () => {
  const hook = await accept()
  const group = await cluster(server)
  const settings = { lease: 45, timeout: 5 }
  const killed = await group.start({ settings })
  const living = await Promise.all(times(2).map(() => group.begin({ settings })))
  await group.append(...six(hook))
  await untilShared(group, [killed, ...living], [2, 2, 2])
  await killed.kill()
  // It was renewed at most eight seconds ago.
  await untilShared(group, living, [3, 3], 35)
  await reachesAll(group, hook, 'one')
})

test('a delivery that was in flight at three deaths is set aside, whichever relays died, and the others continue', async () => {
  const hook = await watched(
    ({ id, path }, response) => void ((id === 'poison' && path === '/poisoned') || response.writeHead(204).end()),
  )
  const group = await cluster(server)
  const settings = { lease: 20, timeout: 10 }
  const relays = await Promise.all(times(4).map(() => group.start({ settings })))
  await group.append(endpoint(hook.at('/poisoned'), { id: '1' }), endpoint(hook.at('/well'), { id: '2' }))
  await until(async () => (await group.holder('1')) !== undefined && (await group.holder('2')) !== undefined, 'both are held')
  await group.append(event('poison'))
  for (const death of [1, 2, 3]) {
    await until(() => hook.ids('/poisoned').length === death, `it is in flight for the ${death}. time`)
    const pid = await group.holder('1')
    await relays.find((relay) => relay.pid === pid)?.kill()
  }
  await until(async () => (await group.pending()) === 0 || hook.ids('/poisoned').length > 3, 'it is set aside')
  await group.append(event('good'))
  await until(() => hook.ids('/poisoned').includes('good') && hook.ids('/well').includes('good'), 'the others go on')
  await until(async () => (await group.pending()) === 0, 'everything is recorded')
  expect(hook.ids('/poisoned')).toEqual(['poison', 'poison', 'poison', 'good'])
  expect(
    await group.query(`SELECT e.event_id, d.state, d.outcome, d.interruptions FROM $relay.deliveries d
      JOIN $relay.events e ON e.seq = d.event JOIN $relay.endpoints p ON p.ref = d.endpoint WHERE p.id = '1' ORDER BY d.id`),
  ).toEqual([
    { event_id: 'poison', state: 'dead', outcome: 'poison', interruptions: 3 },
    { event_id: 'good', state: 'delivered', outcome: 'delivered', interruptions: 0 },
  ])
  const notices = relays.flatMap((relay) => relay.log().filter(({ kind }) => kind === 'delivery.poisoned'))
  expect(notices).toMatchObject([{ event_id: 'poison', endpoint_id: '1' }])
})
