/** The view of an operator on several relays, and the actions on them, by the command line and by any control port. */
import { expect, test } from 'vitest'
import { controlToken } from '../../../../daemon/relay/operate/control/control-token.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { ended } from '../../../support/program.ts'
import { endpoint, event, events, until } from '../support.ts'
import { type Cluster, cluster, clusterServer, type RelayProcess, times, untilShared, watched } from './support.ts'

const server = await clusterServer(await testPostgres())

async function command(group: Cluster, ...args: readonly string[]) {
  const { code, stdout, stderr } = await ended('folkmoot-relay', ...args, '--outbox', group.address, '--json')
  const lines = stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
  return { code, lines, errors: stderr }
}

/** Asks the control port of a relay. */
async function control(group: Cluster, relay: RelayProcess, method: string, path: string, body?: object) {
  const port = relay.log().find(({ message }) => message === 'relay.started')?.['control']
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${controlToken(group.address)}` },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: reply.status, body: await reply.json() }
}

/** Three relays, an endpoint for each, and a receiver that refuses everything at first. */
async function three() {
  const hook = await watched((_, response) => void response.writeHead(500).end())
  const group = await cluster(server)
  const settings = { retrySchedule: [0, 0.05], breakerThreshold: 1000 }
  const relays = await Promise.all(times(3).map(() => group.start({ settings, flags: ['--control-port', '0'] })))
  const paths = times(3).map((n) => `/${n}`)
  await group.append(...paths.map((path, n) => endpoint(hook.at(path), { id: `${n}` })))
  await untilShared(group, relays, [1, 1, 1])
  /** The relay that has an endpoint, and one that has not. */
  const around = async (id: string) => {
    const pid = await group.holder(id)
    const [holder, other] = [relays.find((relay) => relay.pid === pid), relays.find((relay) => relay.pid !== pid)]
    if (!holder || !other) throw new Error(`no relay has endpoint ${id}`)
    return { holder, other }
  }
  return { hook, group, relays, paths, around }
}

const untilDead = (group: Cluster, count: number) =>
  until(async () => {
    const [row] = await group.query(`SELECT count(*)::int AS n FROM $relay.deliveries WHERE state = 'dead'`)
    return Number(row?.['n']) === count
  }, `${count} deliveries are dead`)

type Three = Awaited<ReturnType<typeof three>>

/** Each event of four has died at all three endpoints. */
async function expectOneView({ group, relays }: Three): Promise<void> {
  const status = await command(group, 'status')
  expect(status.code).toBe(0)
  expect(status.lines[0].running).toBe(true)
  const pids = status.lines[0].relays.map(({ pid }: { pid: number }) => pid)
  expect(pids.sort()).toEqual(relays.map(({ pid }) => pid).sort())
  expect(status.lines[0].endpoints).toMatchObject(times(3).map((n) => ({ endpoint_id: `${n}`, pending: 0, dead: 4 })))

  const dead = await command(group, 'dead')
  expect(dead.lines).toHaveLength(12)
  for (const { state, history } of dead.lines) expect([state, history.length]).toEqual(['dead', 2])
  const deliveries = await command(group, 'deliveries', '--event-id', 'e2')
  expect(deliveries.lines.map(({ endpoint_id }) => endpoint_id).sort()).toEqual(['0', '1', '2'])
  expect(await command(group, 'check', '--allow-http', '--allow-private')).toEqual({
    code: 0,
    errors: '',
    lines: [{ ok: true, running: true, endpoints: 3, waiting_commits: 0, problems: [] }],
  })
}

/** From the command line, and from the control port of any relay. */
async function expectResends({ hook, group, paths, around }: Three): Promise<void> {
  hook.respond = (_, response) => void response.writeHead(204).end()
  for (const path of paths) expect(hook.ids(path)).toHaveLength(8)

  expect((await command(group, 'resend', '--event-id', 'e2')).lines).toEqual([{ resent: 3 }])
  await until(() => paths.every((path) => hook.ids(path).at(-1) === 'e2'), 'it is sent to all')
  for (const [n, path] of paths.entries()) {
    const { other } = await around(`${n}`)
    expect(await control(group, other, 'POST', '/resends', { endpoint_id: `${n}`, event_id: 'e1' })).toMatchObject({
      status: 200,
      body: { of: { count: 1 } },
    })
    await until(() => hook.ids(path).at(-1) === 'e1', 'it is sent to this one')
  }
  for (const path of paths) expect(hook.ids(path)).toHaveLength(10)
  await untilDead(group, 6)
}

/** By any relay; the one that has the endpoint sends what waited. */
async function expectEnabling({ hook, group, around }: Three): Promise<void> {
  const before = hook.ids('/1').length
  hook.respond = ({ path }, response) => void response.writeHead(path === '/1' ? 410 : 204).end()
  await group.append(event('gone'))
  const { holder, other } = await around('1')
  await until(() => holder.log().some(({ kind }) => kind === 'endpoint.disabled'), 'it is disabled')
  await group.append(event('waits'))
  await until(() => hook.ids('/0').includes('waits') && hook.ids('/2').includes('waits'), 'the others get the next one')
  expect((await command(group, 'status')).lines[0].endpoints[1]).toMatchObject({ state: 'disabled', pending: 2 })
  expect(hook.ids('/1').slice(before)).toEqual(['gone'])

  hook.respond = (_, response) => void response.writeHead(204).end()
  expect((await control(group, other, 'POST', '/networks/1/endpoints/1/enable')).status).toBe(200)
  await until(() => hook.ids('/1').length === before + 3, 'what waited is sent')
  expect(hook.ids('/1').slice(before).sort()).toEqual(['gone', 'gone', 'waits'])
  expect((await command(group, 'status')).lines[0].endpoints[1]).toMatchObject({ state: 'active' })
}

test('status, dead, deliveries and check speak of all relays; a resend and enabling reach the one that has the endpoint', async () => {
  const all = await three()
  const { group, relays } = all
  await group.append(...events('e', 4))
  await untilDead(group, 12)
  await expectOneView(all)
  await expectResends(all)
  await expectEnabling(all)

  await relays[0]?.stop()
  expect((await command(group, 'status')).lines[0].relays).toHaveLength(2)
  await Promise.all(relays.map((relay) => relay.stop()))
  expect((await command(group, 'status')).lines[0]).toMatchObject({ running: false, pid: null, relays: [] })
})
