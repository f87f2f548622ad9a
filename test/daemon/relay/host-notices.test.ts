import { expect, test } from 'vitest'
import { bench, endpoint, event, events, type Receiver, receiver, status, until } from './support.ts'

interface Told {
  readonly event_id: string
  readonly event_timestamp: string
  readonly event_type: string
  readonly payload: Readonly<Record<string, unknown>>
}

const told = ({ received }: Receiver): Told[] => received.map(({ body }) => JSON.parse(body) as Told)
const typesOf = (hook: Receiver): string[] => told(hook).map(({ event_type }) => event_type)
const host = (url: string) => endpoint(url, { id: '99', audience: 'host', key: 'host-key' })

test('a circuit that opens and closes is told to the host, in the envelope of every event', async () => {
  const [bad, ears] = await Promise.all([receiver(status(500)), receiver()])
  const all = await bench({ breakerCooldown: 0.2, retrySchedule: Array.from({ length: 50 }, () => 0.01) })
  await all.append(host(ears.url), endpoint(bad.url), ...events('e', 10))
  await until(() => typesOf(ears).includes('EndpointCircuitOpenedHook'), 'it is told that it opened')
  bad.answer = status(204)
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

test('what the host could not be told while it was down is told after a restart of the relay', async () => {
  const [gone, ears] = await Promise.all([receiver(status(410)), receiver(status(503))])
  const all = await bench({ retrySchedule: [0, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3] })
  await all.append(host(ears.url), endpoint(gone.url), event('a'))
  await until(() => ears.received.length === 1, 'a first attempt fails')
  await all.restart()
  ears.answer = status(204)
  await until(() => all.attempts.some(({ state, endpoint_id }) => state === 'delivered' && endpoint_id === '99'), 'it is told')
  expect(new Set(typesOf(ears))).toEqual(new Set(['EndpointDisabledHook']))
  expect(new Set(told(ears).map(({ event_id }) => event_id)).size).toBe(1)
})

test('nothing is told about the host’s own endpoint, so it cannot feed itself', async () => {
  const ears = await receiver(status(500))
  const all = await bench({ retrySchedule: [0, 0.01, 0.01, 0.01, 0.01, 0.01], breakerCooldown: 0.01 })
  await all.append(host(ears.url), event('mail', { audience: 'host', event_type: 'WelcomeEmailRequestedHook' }))
  await until(() => all.notices.some(({ kind }) => kind === 'delivery.dead'), 'it is dead')
  expect(new Set(ears.received.map(({ id }) => id))).toEqual(new Set(['mail']))
  expect(await all.relay.store.counts()).toMatchObject({ pending: 0, dead: 1 })
})
