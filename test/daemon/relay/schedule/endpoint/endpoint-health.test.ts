import { expect, test } from 'vitest'
import { EndpointHealth } from '../../../../../daemon/relay/schedule/endpoint/endpoint-health.ts'
import type { Outcome } from '../../../../../daemon/relay/send/outcome.ts'
import { defaultSettings } from '../../../../../daemon/relay/settings.ts'
import type { StoredEndpoint } from '../../../../../daemon/relay/store/endpoint/relay-endpoint.ts'
import { chatRates } from '../../../../../lib/outbox/chat.ts'

const outcome = (result: Outcome['result']): Outcome => ({
  result,
  status: null,
  reason: '',
  retryAfter: undefined,
  milliseconds: 1,
})

/** An endpoint whose circuit has opened, and whose cooldown of ten seconds is over. */
async function afterCooldown() {
  let now = 0
  const settings = { ...defaultSettings, breakerThreshold: 1, breakerCooldown: 10 }
  const endpoint = { order: 'none', rate_per_second: null, fresh_starts: 0, disabled: null } as StoredEndpoint['endpoint']
  const health = new EndpointHealth({ endpoint, state: undefined }, { settings: () => settings, timeline: () => now })
  const attempt = (event: number, result: Outcome['result']) => health.circuit.begin(event).run(async () => outcome(result))
  for (const event of [1, 2]) await attempt(event, 'timeout')
  now = 10_000
  expect(health.circuit.permit().kind).toBe('ready')
  return { health, attempt }
}

test.each(['blocked', 'damaged', 'aborted'] as const)(
  'a probe that was %s leaves the circuit open, and the cooldown begins anew',
  async (result) => {
    const { health, attempt } = await afterCooldown()
    expect((await attempt(2, result)).circuit).toBeUndefined()
    expect(health.circuit.permit()).toEqual({ kind: 'open', readyAt: 20_000 })
  },
)

test('nothing starts while a probe is in flight, or while attempts from before the opening are', async () => {
  const { health } = await afterCooldown()
  // As before the failures: eight at once.
  for (let count = 0; count < 8; count++) health.recordOutcome({ probe: false }, outcome('delivered'), undefined, 0)
  expect(health.limit).toBe(8)
  expect(health.blockedUntil(10_000, 0, 1)).toBe(Number.POSITIVE_INFINITY)
  expect(health.blockedUntil(10_000, 0, 0)).toBeUndefined()
  const probe = Promise.withResolvers<Outcome>()
  const attempted = health.circuit.begin(2).run(() => probe.promise)
  expect(health.blockedUntil(10_000, 0, 1)).toBe(Number.POSITIVE_INFINITY)
  probe.resolve(outcome('delivered'))
  expect((await attempted).circuit).toBe('closed')
})

/** An endpoint that is healthy so far, and the results of its attempts. */
function healthOf(endpoint: { order?: 'none' | 'fifo'; rate_per_second?: number } = {}) {
  const made = {
    order: 'none',
    rate_per_second: null,
    fresh_starts: 0,
    disabled: null,
    ...endpoint,
  } as StoredEndpoint['endpoint']
  const health = new EndpointHealth({ endpoint: made, state: undefined }, { settings: () => defaultSettings, timeline: () => 0 })
  const finish = (result: Outcome['result'], milliseconds = 5) => {
    const ended = { ...outcome(result), milliseconds }
    health.ended(ended)
    health.recordOutcome({ probe: false }, ended, undefined, 0)
    return health.limit
  }
  return { health, finish }
}

test('attempts in parallel begin with one, double with rounds of successes and halve with failures', () => {
  const { health, finish } = healthOf()
  expect(health.limit).toBe(1)
  const succeeded = Array.from({ length: 8 }, () => finish('delivered'))
  const failed = Array.from({ length: 4 }, () => finish('status'))
  expect([succeeded, failed]).toEqual([
    [2, 2, 4, 4, 4, 4, 8, 8],
    [4, 2, 1, 1],
  ])
})

test('attempts in parallel start over with one after a slow failure, and are one for a fifo endpoint', () => {
  const { finish } = healthOf()
  for (let count = 0; count < 7; count++) finish('delivered')
  expect([finish('delivered'), finish('timeout', 10_000)]).toEqual([8, 1])
  const fifo = healthOf({ order: 'fifo' })
  expect([1, 2, 3].map(() => fifo.finish('delivered'))).toEqual([1, 1, 1])
})

test('starts are spaced evenly by the rate of the endpoint', () => {
  const { health } = healthOf({ rate_per_second: 4 })
  health.started(1000)
  expect([health.blockedUntil(50_000, 1000, 0), health.blockedUntil(50_250, 1250, 0)]).toEqual([50_250, undefined])
})

/** How many messages each chat takes in a window of so many milliseconds. */
const limits = [
  ['slack', 1, 1000],
  ['teams', 4, 1000],
  ['discord', 5, 2000],
  ['discord', 30, 60_000],
] as const

test.each(limits)('%s gets at most %d messages in any %d ms, however many wait', (format, most, window) => {
  const { health } = healthOf({ rate_per_second: chatRates[format] })
  const starts: number[] = []
  for (let now = 0; starts.length < 300; now = health.blockedUntil(now, now, 0) ?? now) {
    health.started(now)
    starts.push(now)
  }
  for (const start of starts)
    expect(starts.filter((each) => each >= start && each < start + window).length).toBeLessThanOrEqual(most)
  expect(starts.filter((each) => each < 60_000).length).toBe(60 * chatRates[format])
})

test('an endpoint that the proxy hangs for gives its slots to others, though nothing counts; the next quick one is quick again', () => {
  const { health, finish } = healthOf()
  const finished = (result: Outcome['result'], milliseconds: number) => [
    finish(result, milliseconds),
    health.standing,
    health.current.failingSince,
  ]
  for (let count = 0; count < 3; count++) finish('delivered')
  expect(finished('proxy_failed', 5)).toEqual([4, 'quick', null])
  expect(finished('proxy_failed', 10_000)).toEqual([1, 'doubtful', null])
  expect(finished('delivered', 5)).toEqual([2, 'quick', null])
})
