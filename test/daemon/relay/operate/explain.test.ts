import { expect, test } from 'vitest'
import { explain } from '../../../../daemon/relay/operate/commands/inspect.ts'
import { bench, endpoint, event, receiver, status, until } from '../support.ts'

test('explain says why an event was delivered to an endpoint, or was not', async () => {
  const hook = await receiver()
  const broken = await receiver(status(500))
  const all = await bench({ retrySchedule: [0] })
  await all.append(
    endpoint(hook.url, { id: '1' }),
    endpoint(hook.url, { id: '2', events: ['MemberJoinedHook'] }),
    endpoint(hook.url, { id: '3', filter: { path: '/id', exists: true }, requires: ['filter'] }),
    endpoint(hook.url, { id: '4', enabled: false }),
    endpoint(broken.url, { id: '5' }),
    endpoint(hook.url, { id: '6', requires: ['later'] }),
    endpoint(hook.url, { id: '7', network_id: '2' }),
    endpoint(hook.url, { id: '9', filter: { changed: ['title'] }, requires: ['filter', 'filter-changed'] }),
    event('one', { changed: ['role'] }),
    endpoint(hook.url, { id: '8' }),
    endpoint(hook.url, { id: '10', filter: { changed: ['role'] }, requires: ['filter', 'filter-changed'] }),
  )
  const why = async (id: string, name = 'one') => {
    const text = await explain({ outbox: all.directory, endpointId: id, eventId: name, json: true })
    return JSON.parse(text) as { reason: string; delivery: { history: unknown[] } | null }
  }
  await until(() => all.attempts.length >= 2, 'something is tried')
  await until(async () => (await why('1')).reason === 'delivered' && (await why('5')).reason === 'dead', 'all are tried')
  await until(() => all.notices.some(({ kind }) => kind === 'endpoint.unreadable'), 'one is set aside')
  const reasons = ['2', '3', '4', '6', '7', '8', '9', '10'].map(async (id) => (await why(id)).reason)
  expect(await Promise.all(reasons)).toEqual([
    'type not chosen',
    'filter',
    'paused',
    'set aside',
    'other network',
    'not chosen then',
    'filter',
    'not chosen then',
  ])
  expect((await why('1', 'none')).reason).toBe('not known')
  expect((await why('5')).delivery?.history).toMatchObject([{ outcome: 'status', status: 500 }])
  expect(await explain({ outbox: all.directory, endpointId: '5', eventId: 'one' })).toMatch(
    /^dead: .*\n {2}attempt 1 at .*: status 500/,
  )
  await expect(explain({ outbox: all.directory, endpointId: '5' })).rejects.toThrow('explain needs --event-id and --endpoint-id')
})

test('explain says times as ISO 8601, that of the next probe too', async () => {
  const hook = await receiver(status(500))
  const all = await bench({ retrySchedule: [0, 0, 3600], breakerThreshold: 1, breakerCooldown: 600 })
  await all.append(endpoint(hook.url), event('one'))
  await until(() => all.notices.some(({ kind }) => kind === 'endpoint.opened'), 'the circuit opens')
  expect(await explain({ outbox: all.directory, endpointId: '7', eventId: 'one' })).toMatch(
    /^circuit open: it waits until the endpoint responds; next probe \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\n {2}attempt 1 at \d{4}-\S+Z: /,
  )
})
