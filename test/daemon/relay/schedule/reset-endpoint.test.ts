import { describe, expect, onTestFinished, test } from 'vitest'
import { relayAdmin } from '../../../../daemon/relay/admin/admin.ts'
import { openOperatorStore } from '../../../../daemon/relay/open-store.ts'
import { startControl } from '../../../../daemon/relay/operate/control/control.ts'
import { controlToken } from '../../../../daemon/relay/operate/control/control-token.ts'
import { createMetrics } from '../../../../daemon/relay/operate/metrics.ts'
import { ended } from '../../../support/program.ts'
import { type Bench, bench, endpoint, event, events, receiver, status, until } from '../support.ts'

/** Six events for a receiver that is down, and a circuit that stays open for an hour by itself. */
async function stuck() {
  const hook = await receiver(status(503))
  const all = await bench({ retrySchedule: Array.from({ length: 50 }, () => 0.01), breakerCooldown: 3600 })
  await all.append(endpoint(hook.url), ...events('e', 6))
  await until(() => all.notices.some(({ kind }) => kind === 'endpoint.opened'), 'it is open')
  await until(() => all.relay.scheduler.inFlight === 0, 'what was on its way is back')
  hook.respond = status(204)
  return { ...all, all, hook }
}

const arrives = (all: Pick<Bench, 'attempts' | 'notices'>) =>
  until(
    () =>
      all.attempts.filter(({ state }) => state === 'delivered').length === 6 &&
      all.notices.some(({ kind }) => kind === 'endpoint.recovered'),
    'everything is delivered and told',
  )

async function command(...args: string[]) {
  const { code, stdout, stderr } = await ended('folkmoot-relay', ...args, '--json')
  return { code, out: stdout, error: stderr }
}

async function control({ relay, directory }: Pick<Bench, 'relay' | 'directory'>) {
  const metrics = createMetrics(() => relay, '0.0.0')
  const { port, close } = await startControl({ relay, metrics, outbox: directory, port: 0 })
  onTestFinished(close)
  return (path: string, body?: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${controlToken(directory)}` },
      ...(body === undefined ? {} : { body }),
    })
}

describe('an open circuit closes', () => {
  test('when a test sent with the relay running is delivered', async () => {
    const { directory, hook, ...all } = await stuck()
    const flags = ['--outbox', directory, '--network-id', '1', '--endpoint-id', '7', '--allow-http', '--allow-private']
    hook.respond = status(503)
    expect((await command('endpoints', 'test', ...flags)).code).toBe(1)
    expect(all.relay.scheduler.endpoint(1)?.circuit).toBe('open')
    hook.respond = status(204)
    const tested = await command('endpoints', 'test', ...flags)
    expect(JSON.parse(tested.out)).toMatchObject({ outcome: 'delivered', closed_circuit: true })
    await arrives(all)
  })

  test.each(['test', 'enable', 'close-circuit'])('by %s on the control port', async (action) => {
    const all = await stuck()
    const post = await control(all)
    expect((await post(`/networks/1/endpoints/7/${action}`, '{"now":true}')).status).toBe(422)
    expect((await post(`/networks/1/endpoints/7/${action}`)).status).toBe(200)
    await arrives(all)
    expect(all.notices.find(({ kind }) => kind === 'endpoint.recovered')?.text).toBe(
      'sending resumes: a delivered test, an operator or a new registration closed the circuit',
    )
    expect((await post(`/networks/1/endpoints/8/${action}`)).status).toBe(404)
  })

  test('when the endpoint is registered again', async () => {
    const all = await stuck()
    await all.append(endpoint(all.hook.url))
    await arrives(all)
  })

  test('by a command, and the relay that starts later starts fresh; what was done is recorded', async () => {
    const { all, directory } = await stuck()
    await all.relay.close(0)
    const closed = await command('close-circuit', '--outbox', directory, '--endpoint-id', '7')
    expect(closed).toMatchObject({ code: 0, out: '{"endpoint_id":"7","network_id":"1","was":"open"}\n' })
    const store = await openOperatorStore(directory)
    onTestFinished(() => store.close())
    expect(await store.endpoints()).toMatchObject([{ circuit: 'closed' }])
    expect(await store.notices(1)).toMatchObject([{ kind: 'operator.closed_circuit', endpoint_id: '7' }])
    await all.restart()
    await arrives(all)
    // Once followed it is over: a circuit that opens later stays open over a restart.
    await all.restart()
    expect(all.notices.filter(({ kind }) => kind === 'endpoint.recovered')).toHaveLength(1)
  })

  test('through the store alone, with a relay running', async () => {
    const all = await stuck()
    const admin = relayAdmin(all.directory)
    onTestFinished(() => admin.close())
    await admin.closeCircuit({ network_id: '1', endpoint_id: '7' })
    await arrives(all)
    await all.append(event('later'))
    await until(() => all.attempts.some(({ event_id, state }) => event_id === 'later' && state === 'delivered'), 'it goes on')
  })
})

test('late failures of an earlier registration neither open the circuit nor say that they did', async () => {
  const hook = await receiver()
  const { append, attempts, notices, relay } = await bench({ retrySchedule: [0, 3600] })
  await append(endpoint(hook.url), ...events('warm', 8))
  await until(() => attempts.length === 8, 'eight may be in flight')
  const held: (() => void)[] = []
  hook.respond = (_, response) => void held.push(() => response.writeHead(500).end())
  await append(...events('late', 8))
  await until(() => held.length === 8, 'they are in flight')
  await append(endpoint(hook.url))
  await until(() => relay.scheduler.endpoint(1)?.endpoint.fresh_starts === 1, 'it is registered again')
  for (const release of held) release()
  await until(() => attempts.length === 16, 'their results are recorded')
  expect(relay.scheduler.endpoint(1)?.circuit).toBe('closed')
  expect(notices.map(({ kind }) => kind)).toEqual([])
})

test('close-circuit says whether the circuit was open', async () => {
  const { directory, relay } = await stuck()
  const close = () => ended('folkmoot-relay', 'close-circuit', '--outbox', directory, '--endpoint-id', '7')
  expect((await close()).stdout).toBe('the circuit is closed now; sending begins slowly\n')
  await until(() => relay.scheduler.endpoint(1)?.circuit === 'closed', 'it is closed')
  expect((await close()).stdout).toBe('the circuit was not open\n')
  const store = await openOperatorStore(directory)
  onTestFinished(() => store.close())
  const told = (await store.notices(10)).filter(({ kind }) => kind === 'operator.closed_circuit').map(({ text }) => text)
  expect(told).toEqual(['an operator closed the circuit, which was not open', 'an operator closed the circuit'])
})

test('close-circuit refuses an unknown endpoint', async () => {
  const { directory, append, relay } = await bench()
  await append(endpoint('http://127.0.0.1:1/'))
  await until(() => relay.scheduler.endpoint(1) !== undefined, 'it is there')
  expect(await command('close-circuit', '--outbox', directory, '--endpoint-id', '8')).toMatchObject({
    code: 1,
    error: expect.stringContaining('no endpoint 8'),
  })
  expect((await command('close-circuit', '--outbox', directory)).code).toBe(2)
})
