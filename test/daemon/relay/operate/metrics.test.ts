import { expect, test } from 'vitest'
import type { AttemptReport } from '../../../../daemon/relay/events.ts'
import { createMetrics } from '../../../../daemon/relay/operate/metrics.ts'
import { bench, endpoint, event, receiver, until } from '../support.ts'
import { controlled } from './controlled.ts'

/** The series of endpoints; the sum of durations without its value. */
const others = (body: unknown): string[] =>
  String(body)
    .replace(/(_sum\{.*\}) .*/g, '$1')
    .match(/^relay_\w+\{endpoint="[^"]+".*$/gm) ?? []

test('the labels of removed endpoints go, and those that come after them get their own', async () => {
  const { append, remove, ask, hook, notices } = await controlled()
  const ids = Array.from({ length: 1000 }, (_, place) => String(place + 1))
  await append(...ids.map((id) => endpoint(hook.url, { id })), event('first'))
  const metric = async (text: string) => String((await ask('GET', '/metrics')).body).includes(text)
  await until(() => metric('relay_attempts_total{endpoint="1000",outcome="delivered"} 1'), 'each was sent the event')
  await Promise.all(ids.map((id) => remove(id)))
  await until(() => notices.filter((kind) => kind === 'endpoint.removed').length === 1000, 'all are removed')
  await append(endpoint(hook.url, { id: '2001' }), endpoint(hook.url, { id: '2002' }), event('second'))
  await until(() => hook.received.filter(({ id }) => id === 'second').length === 2, 'the new ones are sent an event')
  await until(() => metric('relay_attempts_total{endpoint="2002"'), 'it is counted')
  const { body } = await ask('GET', '/metrics')
  expect(String(body).match(/^relay_attempt_duration_seconds_bucket\{le="\+Inf",endpoint=.*$/gm)).toEqual([
    'relay_attempt_duration_seconds_bucket{le="+Inf",endpoint="2001"} 1',
    'relay_attempt_duration_seconds_bucket{le="+Inf",endpoint="2002"} 1',
  ])
  expect(others(body).toSorted()).toEqual([
    'relay_attempt_duration_seconds_count{endpoint="2001"} 1',
    'relay_attempt_duration_seconds_count{endpoint="2002"} 1',
    'relay_attempt_duration_seconds_sum{endpoint="2001"}',
    'relay_attempt_duration_seconds_sum{endpoint="2002"}',
    'relay_attempts_total{endpoint="2001",outcome="delivered"} 1',
    'relay_attempts_total{endpoint="2002",outcome="delivered"} 1',
    'relay_breaker_state{endpoint="2001"} 0',
    'relay_breaker_state{endpoint="2002"} 0',
  ])
})

test('an attempt that ends after its endpoint was removed leaves no series behind', async () => {
  const hook = await receiver()
  const metrics = createMetrics(() => all.relay, '1.2.3')
  const reports: AttemptReport[] = []
  const all = await bench({}, { onAttempt: (report) => reports.push(report) })
  await all.append(endpoint(hook.url), event('a'))
  await until(() => reports.length === 1, 'it is delivered')
  await all.remove('7')
  await until(() => all.notices.some(({ kind }) => kind === 'endpoint.removed'), 'it is removed')
  for (const report of reports) metrics.onAttempt?.(report)
  expect(others(await metrics.text())).toEqual([])
})

test('an event above 256 KiB is delivered, and counted by its type', async () => {
  const { append, ask, hook } = await controlled()
  const text = (id: string, length: number) => event(id, { body: JSON.stringify({ payload: { text: 'x'.repeat(length) } }) })
  const odd = { ...text('odd', 400_000), event_type: 'OddHook' }
  await append(endpoint(hook.url), text('small', 1000), text('large', 300_000), text('larger', 3_000_000), odd)
  const large = async () =>
    String((await ask('GET', '/metrics')).body)
      .match(/^relay_large_deliveries_total\{.*$/gm)
      ?.toSorted()
  await expect
    .poll(large)
    .toEqual(
      [
        'relay_large_deliveries_total{event_type="PostCreatedHook"} 2',
        'relay_large_deliveries_total{event_type="other"} 1',
      ].toSorted(),
    )
  expect(hook.received.map(({ body }) => body.length)).toContain(3_000_000 + '{"payload":{"text":""}}'.length)
})

test('durations of more than a thousand endpoints share one series', async () => {
  const metrics = createMetrics(() => undefined, '1.2.3')
  const report = {
    network_id: '1',
    event_id: 'a',
    event_type: 'PostCreatedHook',
    bytes: 2,
    attempt: 1,
    outcome: 'status',
  } as const
  const rest = { status: 500, reason: '500', state: 'pending', next_at: null, breaker: 'closed', age: 1 } as const
  for (let id = 1; id <= 1003; id++) metrics.onAttempt?.({ ...report, ...rest, endpoint_id: String(id), milliseconds: 30 })
  const text = await metrics.text()
  expect(text.match(/^relay_attempt_duration_seconds_count\{/gm)).toHaveLength(1001)
  expect(text).toContain('relay_attempt_duration_seconds_bucket{le="0.05",endpoint="other"} 3')
  expect(text).toContain('relay_attempt_duration_seconds_bucket{le="0.025",endpoint="other"} 0')
})
