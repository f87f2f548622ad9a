import { expect, test } from 'vitest'
import { EndpointHealth } from '../../../../../daemon/relay/schedule/endpoint/endpoint-health.ts'
import type { Outcome } from '../../../../../daemon/relay/send/outcome.ts'
import { defaultSettings } from '../../../../../daemon/relay/settings.ts'
import type { StoredEndpoint } from '../../../../../daemon/relay/store/endpoint/relay-endpoint.ts'

const outcome = (result: Outcome['result']): Outcome => ({
  result,
  status: null,
  reason: '',
  retryAfter: undefined,
  milliseconds: 1,
})
const none = async () => false

/** An endpoint whose circuit has opened, and whose cooldown of ten seconds is over. */
async function afterCooldown() {
  let monotonic = 0
  const settings = { ...defaultSettings, breakerThreshold: 1, breakerCooldown: 10 }
  const endpoint = { order: 'none', rate_per_second: null, fresh_starts: 0, disabled: null } as StoredEndpoint['endpoint']
  const clock = () => monotonic
  const health = new EndpointHealth(
    { endpoint, state: undefined },
    { settings: () => settings, monotonic: clock, timeline: clock },
  )
  await health.learn(1, health.circuit.begin(1), outcome('timeout'), true, none, 0)
  monotonic = 10_000
  expect(health.circuit.permit().kind).toBe('ready')
  return health
}

test.each(['blocked', 'damaged'] as const)(
  'a probe that was %s leaves the circuit open, and the cooldown begins anew',
  async (result) => {
    const health = await afterCooldown()
    const effect = await health.learn(2, health.circuit.begin(2), outcome(result), false, none, 10_000)
    expect(effect.circuit).toBeUndefined()
    expect(health.circuit.permit()).toEqual({ kind: 'open', readyAt: 20_000 })
  },
)

test('a probe that was delivered closes the circuit', async () => {
  const health = await afterCooldown()
  expect((await health.learn(2, health.circuit.begin(2), outcome('delivered'), false, none, 10_000)).circuit).toBe('closed')
})

test('an endpoint that the proxy hangs for gives its slots to others, though nothing counts; the next quick one is quick again', async () => {
  const settings = { ...defaultSettings }
  const endpoint = { order: 'none', rate_per_second: null, fresh_starts: 0, disabled: null } as StoredEndpoint['endpoint']
  const health = new EndpointHealth(
    { endpoint, state: undefined },
    { settings: () => settings, monotonic: () => 0, timeline: () => 0 },
  )
  const finish = async (result: Outcome['result'], milliseconds: number) => {
    const made = { ...outcome(result), milliseconds }
    health.ended(made)
    await health.learn(1, health.circuit.begin(1), made, false, none, 0)
    return [health.standing, health.limit, health.current.failingSince]
  }
  for (let count = 0; count < 2; count++) await finish('delivered', 5)
  await finish('delivered', 5)
  expect(await finish('proxy_failed', 5)).toEqual(['quick', 4, null])
  expect(await finish('proxy_failed', 10_000)).toEqual(['doubtful', 1, null])
  expect(await finish('delivered', 5)).toEqual(['quick', 2, null])
})
