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
  for (let count = 0; count < 8; count++) health.learn({ probe: false }, outcome('delivered'), undefined, 0)
  expect(health.limit).toBe(8)
  expect(health.blockedUntil(10_000, 0, 1)).toBe(Number.POSITIVE_INFINITY)
  expect(health.blockedUntil(10_000, 0, 0)).toBeUndefined()
  const probe = Promise.withResolvers<Outcome>()
  const attempted = health.circuit.begin(2).run(() => probe.promise)
  expect(health.blockedUntil(10_000, 0, 1)).toBe(Number.POSITIVE_INFINITY)
  probe.resolve(outcome('delivered'))
  expect((await attempted).circuit).toBe('closed')
})

test('an endpoint that the proxy hangs for gives its slots to others, though nothing counts; the next quick one is quick again', () => {
  const settings = { ...defaultSettings }
  const endpoint = { order: 'none', rate_per_second: null, fresh_starts: 0, disabled: null } as StoredEndpoint['endpoint']
  const health = new EndpointHealth({ endpoint, state: undefined }, { settings: () => settings, timeline: () => 0 })
  const finish = (result: Outcome['result'], milliseconds: number) => {
    const made = { ...outcome(result), milliseconds }
    health.ended(made)
    health.learn({ probe: false }, made, undefined, 0)
    return [health.standing, health.limit, health.current.failingSince]
  }
  for (let count = 0; count < 2; count++) finish('delivered', 5)
  finish('delivered', 5)
  expect(finish('proxy_failed', 5)).toEqual(['quick', 4, null])
  expect(finish('proxy_failed', 10_000)).toEqual(['doubtful', 1, null])
  expect(finish('delivered', 5)).toEqual(['quick', 2, null])
})
