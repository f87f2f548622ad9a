import { expect, test } from 'vitest'
import { bench, endpoint, event, events, pass, type Receiver, receiver, status, until } from './support.ts'
import { virtualClock } from './virtual-clock.ts'

interface Told {
  readonly event_id: string
  readonly event_timestamp: string
  readonly event_type: string
  readonly payload: Readonly<Record<string, unknown>>
}

const told = ({ received }: Receiver): Told[] => received.map(({ body }) => JSON.parse(body) as Told)
const typesOf = (hook: Receiver): string[] => told(hook).map(({ event_type }) => event_type)
const host = (url: string) => endpoint(url, { id: '99', audience: 'host', key: 'host-key' })

test('the host is notified when a circuit opens and closes, in the envelope of every event', async () => {
  const [bad, ears] = await Promise.all([receiver(status(500)), receiver()])
  const all = await bench({ breakerCooldown: 0.2, retrySchedule: Array.from({ length: 50 }, () => 0.01) })
  await all.append(host(ears.url), endpoint(bad.url), ...events('e', 10))
  await until(() => typesOf(ears).includes('EndpointCircuitOpenedHook'), 'it is told that it opened')
  bad.respond = status(204)
  await until(() => typesOf(ears).includes('EndpointRecoveredHook'), 'it is told that it closed')
  const [opened] = told(ears).filter(({ event_type }) => event_type === 'EndpointCircuitOpenedHook')
  expect(Object.keys(opened ?? {})).toEqual(['event_id', 'event_timestamp', 'event_type', 'payload'])
  expect(opened?.payload).toMatchObject({ network_id: '1', endpoint_id: '7', message: 'sending is paused: 500' })
  expect(ears.received[0]?.headers.authorization).toBe('Bearer host-key')
})

test('an endpoint that is disabled, and a delivery without attempts left, are told to the host of that network alone', async () => {
  const [gone, bad, ears, others] = await Promise.all([receiver(status(410)), receiver(status(500)), receiver(), receiver()])
  const all = await bench({ retrySchedule: [0, 0.01] })
  await all.append(
    host(ears.url),
    { ...host(others.url), network_id: '2' },
    endpoint(gone.url, { id: '1' }),
    endpoint(bad.url, { id: '2' }),
    event('a'),
  )
  await until(() => ears.received.length === 2, 'both are told')
  const byType = Object.fromEntries(told(ears).map((each) => [each.event_type, each.payload]))
  expect(byType['EndpointDisabledHook']).toMatchObject({ endpoint_id: '1', event_id: null })
  expect(byType['DeliveryExhaustedHook']).toMatchObject({ endpoint_id: '2', event_id: 'a' })
  expect(others.received).toEqual([])
})

test('notices that the host missed while it was down are sent after a restart of the relay', async () => {
  const [gone, ears] = await Promise.all([receiver(status(410)), receiver(status(503))])
  const all = await bench({ retrySchedule: [0, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3] })
  await all.append(host(ears.url), endpoint(gone.url), event('a'))
  await until(() => ears.received.length === 1, 'a first attempt fails')
  await all.restart()
  ears.respond = status(204)
  await until(() => all.attempts.some(({ state, endpoint_id }) => state === 'delivered' && endpoint_id === '99'), 'it is told')
  expect(new Set(typesOf(ears))).toEqual(new Set(['EndpointDisabledHook']))
  expect(new Set(told(ears).map(({ event_id }) => event_id)).size).toBe(1)
})

test('there are no notices about the host’s own endpoint, so it cannot feed itself', async () => {
  const ears = await receiver(status(500))
  const all = await bench({ retrySchedule: [0, 0.01, 0.01, 0.01, 0.01, 0.01], breakerCooldown: 0.01 })
  await all.append(host(ears.url), event('mail', { audience: 'host', event_type: 'WelcomeEmailRequestedHook' }))
  await until(() => all.notices.some(({ kind }) => kind === 'delivery.dead'), 'it is dead')
  expect(new Set(ears.received.map(({ id }) => id))).toEqual(new Set(['mail']))
  expect(await all.relay.store.counts()).toMatchObject({ pending: 0, dead: 1 })
})

test('a flapping endpoint is announced once, while its cooldown grows over restarts', async () => {
  const [flapping, ears] = await Promise.all([receiver(), receiver()])
  // It takes each probe, and refuses the five requests that follow.
  let requests = 0
  flapping.respond = (_, response) => void response.writeHead(requests++ % 6 === 5 ? 204 : 500).end()
  const all = await bench({
    breakerCooldown: 0.05,
    maxInFlightPerEndpoint: 1,
    retrySchedule: Array.from({ length: 100 }, () => 0.01),
  })
  await all.append(host(ears.url), endpoint(flapping.url), ...events('e', 60))
  const openings = () => all.notices.filter(({ kind }) => kind === 'endpoint.opened')
  await until(() => openings().length === 3, 'it opened three times')
  await all.restart()
  await until(() => openings().length === 5, 'it opened five times')
  flapping.respond = status(204)
  await until(async () => (await all.relay.store.counts()).pending === 0, 'everything is delivered')
  expect(typesOf(ears).filter((type) => /Circuit|Recovered/.test(type))).toEqual([
    'EndpointCircuitOpenedHook',
    'EndpointRecoveredHook',
  ])
  expect(openings().map(({ announced }) => announced)).toEqual([undefined, false, false, false, false])
  const [{ endpoint: found, state } = { endpoint: undefined, state: undefined }] = (await all.relay.store.endpoints()).filter(
    ({ endpoint: { id } }) => id === '7',
  )
  expect(state?.breaker.trips).toBeGreaterThanOrEqual(5)
  expect([found?.id, state?.breaker.open, state?.news]).toEqual([
    '7',
    false,
    expect.objectContaining({ open: false, omitted: 4 }),
  ])
})

test('notices about dead deliveries say how many were left out', async () => {
  const bad = await receiver(status(500))
  const clock = virtualClock()
  const all = await bench({ retrySchedule: [0], breakerThreshold: 1000 }, { clock })
  const dead = () => all.attempts.filter(({ state }) => state === 'dead').length
  const texts = () => all.notices.filter(({ kind }) => kind === 'delivery.dead').map(({ text }) => text)
  /** The clock stands still but for the polls. */
  const passing = async (count: number): Promise<void> =>
    until(() => {
      clock.advance(100)
      return dead() === count
    }, `${count} are dead`)
  await all.append(endpoint(bad.url), ...events('e', 3))
  await passing(3)
  clock.advance(3_600_000)
  await all.append(event('later'))
  await passing(4)
  await until(() => texts().length === 2, 'people hear of it again')
  expect(texts()).toEqual(['no attempts are left: 500', 'no attempts are left: 500; 2 more since the last such notice'])
})

test('a day before an endpoint is disabled the host is reminded once, if it requested that', async () => {
  const [bad, ears, silent] = await Promise.all([receiver(status(500)), receiver(), receiver()])
  const schedule = {
    retrySchedule: Array.from({ length: 90 }, () => 0.05),
    breakerThreshold: 1000,
    disableAfter: 1 + 0.3 / 86_400,
  }
  const all = await bench({ ...schedule, hostEvents: ['disabling'] })
  const quiet = await bench(schedule)
  await all.append(host(ears.url), endpoint(bad.url), event('a'))
  await quiet.append(host(silent.url), endpoint(bad.url), event('a'))
  await until(() => typesOf(ears).includes('EndpointDisablingHook'), 'it is reminded')
  await all.restart()
  const before = all.attempts.length
  await until(() => all.attempts.length > before + 3 && quiet.attempts.length > 12, 'it fails again')
  expect(typesOf(ears).filter((type) => type === 'EndpointDisablingHook')).toHaveLength(1)
  expect(typesOf(silent)).not.toContain('EndpointDisablingHook')
})

test('each exhausted delivery is an event for a host that requested that', async () => {
  const [bad, ears] = await Promise.all([receiver(status(500)), receiver()])
  const all = await bench({ retrySchedule: [0], breakerThreshold: 1000, hostEvents: ['exhausted'] })
  await all.append(host(ears.url), endpoint(bad.url), ...events('e', 5))
  await until(() => ears.received.length === 5, 'all are told')
  expect(
    told(ears)
      .map(({ payload }) => payload['event_id'])
      .toSorted(),
  ).toEqual(['e0', 'e1', 'e2', 'e3', 'e4'])
})

test('a sum of the day is reported for each endpoint that was sent to, if the host requested that', async () => {
  const [bad, good, ears] = await Promise.all([receiver(status(500)), receiver(), receiver()])
  const all = await bench({ retrySchedule: [0], breakerThreshold: 1000, hostEvents: ['daily'] })
  const ids = {
    bad: endpoint(bad.url, { id: '1' }),
    good: endpoint(good.url, { id: '2' }),
    idle: endpoint(good.url, { id: '3', events: [] }),
  }
  await all.append(host(ears.url), ...Object.values(ids), ...events('e', 3))
  await until(() => all.attempts.filter(({ endpoint_id }) => endpoint_id !== '99').length === 6, 'all are tried')
  await all.relay.maintenance.sumDay()
  const days = () => told(ears).filter(({ event_type }) => event_type === 'EndpointDayHook')
  await until(() => days().length === 2, 'both are told')
  const sums = days().map(({ payload }) => [payload['endpoint_id'], payload['message']])
  expect(sums.toSorted()).toEqual([
    ['1', 'in the last 24 hours 0 deliveries arrived, and 3 failed at their latest attempt'],
    ['2', 'in the last 24 hours 3 deliveries arrived, and 0 failed at their latest attempt'],
  ])
  all.relay.reconfigure({ ...all.relay.settings, hostEvents: [] })
  await all.relay.maintenance.sumDay()
  await pass(200)
  expect(days()).toHaveLength(2)
})

test('a channel that names notices gets them as messages, about others and not about one that names them too', async () => {
  const [gone, ears, quiet, owner] = await Promise.all([receiver(status(410)), receiver(status(410)), receiver(), receiver()])
  const all = await bench()
  const channel = { format: 'slack', key: '', requires: ['format', 'no-key'] } as const
  const events = ['EndpointDisabledHook', 'EndpointFailingHook']
  await all.append(
    host(owner.url),
    endpoint(gone.url, { id: '1', events: ['PostCreatedHook'] }),
    endpoint(ears.url, { id: '2', ...channel, events: [...events, 'PostCreatedHook'] }),
    endpoint(quiet.url, { id: '3', ...channel, events }),
    endpoint(quiet.url, { id: '4', network_id: '2', ...channel, events }),
    endpoint(quiet.url, { id: '5', ...channel, events: ['MemberJoinedHook'] }),
    event('a'),
  )
  await until(() => told(owner).length === 2 && quiet.received.length > 0, 'the host is told of both')
  expect(new Set(told(owner).map(({ payload }) => payload['endpoint_id']))).toEqual(new Set(['1', '2']))
  await pass(300)
  expect(quiet.received.map(({ body }) => JSON.parse(body).text)).toEqual([
    'Endpoint 1: the endpoint is disabled: the receiver responded with 410 Gone; its events are kept',
  ])
})

test('the filter of an endpoint that names notices chooses among them', async () => {
  const [gone, ears, quiet] = await Promise.all([receiver(status(410)), receiver(), receiver()])
  const all = await bench()
  const events = ['EndpointDisabledHook']
  await all.append(
    endpoint(gone.url, { id: '1', events: ['PostCreatedHook'] }),
    endpoint(ears.url, { id: '2', events, filter: { path: '/endpoint_id', equals: '1' }, requires: ['filter'] }),
    endpoint(quiet.url, { id: '3', events, filter: { path: '/endpoint_id', equals: '9' }, requires: ['filter'] }),
    event('a'),
  )
  await until(() => ears.received.length > 0, 'the endpoint with the fitting filter is told')
  await pass(300)
  expect(quiet.received).toEqual([])
})
