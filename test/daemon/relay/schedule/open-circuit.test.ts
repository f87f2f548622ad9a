import { describe, expect, test } from 'vitest'
import { bench, endpoint, event, events, pass, receiver, status, until } from '../support.ts'

/** Retries come quickly, the circuit closes slowly enough to look at it. */
const quick = { retrySchedule: Array.from({ length: 100 }, () => 0.02), breakerCooldown: 0.5 }

describe('a circuit', () => {
  test('opens after five failures in a row, lets one probe through, closes on its success and then begins slowly', async () => {
    const hook = await receiver(status(500))
    const { append, notices } = await bench({ ...quick, breakerCooldown: 2, maxInFlightPerEndpoint: 1 })
    await append(endpoint(hook.url), ...events('e', 20))
    await until(() => notices.some(({ kind }) => kind === 'endpoint.opened'), 'it is open')
    expect(hook.received).toHaveLength(5)
    await pass(500)
    expect(hook.received).toHaveLength(5)

    // The probe is held: nothing else may go out beside it.
    let release: () => void = () => undefined
    hook.respond = (_, response) => {
      release = () => void response.writeHead(204).end()
    }
    await until(() => hook.received.length === 6, 'a probe is sent')
    hook.respond = status(204)
    await pass(400)
    expect(hook.received.map(({ id }) => id).slice(5)).toEqual(['e0'])
    release()
    await until(() => new Set(hook.received.slice(5).map(({ id }) => id)).size === 20, 'all are delivered')
    expect(notices.map(({ kind }) => kind)).toEqual(['endpoint.opened', 'endpoint.recovered'])
  })

  test('uses up no attempt while it is open', async () => {
    const hook = await receiver(status(500))
    const { append, attempts } = await bench({
      ...quick,
      retrySchedule: [0, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02],
      maxInFlightPerEndpoint: 2,
      breakerCooldown: 2,
    })
    await append(endpoint(hook.url), ...events('e', 4))
    await until(() => attempts.some(({ breaker }) => breaker === 'open'), 'it is open')
    await pass(300)
    const made = attempts.length
    expect(made).toBeLessThanOrEqual(6)
    hook.respond = status(204)
    await until(() => attempts.filter(({ state }) => state === 'delivered').length === 4, 'all are delivered')
    expect(attempts).toHaveLength(made + 4)
  })

  test('that closed again takes 1, 2, 4, then 8 in parallel', async () => {
    const hook = await receiver(status(500))
    const { append, notices, relay } = await bench({
      ...quick,
      breakerCooldown: 2,
      retrySchedule: Array.from({ length: 60 }, () => 0),
    })
    await append(endpoint(hook.url), ...events('e', 60))
    await until(() => notices.some(({ kind }) => kind === 'endpoint.opened'), 'it is open')
    await until(() => relay.scheduler.inFlight === 0, 'what was on its way is back')
    const before = hook.received.length
    const held: (() => void)[] = []
    hook.respond = (_, response) => void held.push(() => response.writeHead(204).end())
    for (const [round, most] of [1, 1, 2, 4, 8].entries()) {
      await until(() => held.length >= most, `there are ${most} at once in round ${round}`)
      await pass(50)
      expect(held).toHaveLength(most)
      for (const release of held.splice(0)) release()
    }
    hook.respond = status(204)
    await until(() => new Set(hook.received.slice(before).map(({ id }) => id)).size === 60, 'all are delivered')
  })

  test('waits twice as long after each probe that fails', async () => {
    const hook = await receiver(status(500))
    const { append, attempts } = await bench({ ...quick, breakerCooldown: 0.2, maxInFlightPerEndpoint: 1 })
    await append(endpoint(hook.url), ...events('e', 10))
    await until(() => attempts.length === 8, 'three probes have failed')
    const times = hook.received.slice(4).map(({ at }) => at)
    const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0))
    for (const [index, least] of [180, 380, 780].entries()) expect(waits[index]).toBeGreaterThan(least)
  })

  test('is still open after a restart, with the rest of its cooldown', async () => {
    const hook = await receiver(status(500))
    const all = await bench({ ...quick, breakerCooldown: 5, maxInFlightPerEndpoint: 1 })
    await all.append(endpoint(hook.url), ...events('e', 10))
    await until(() => all.notices.some(({ kind }) => kind === 'endpoint.opened'), 'it is open')
    hook.respond = status(204)
    await all.restart()
    await pass(300)
    expect(hook.received).toHaveLength(5)
    await until(() => new Set(hook.received.slice(5).map(({ id }) => id)).size === 10, 'all are delivered')
  })

  test('that one bad event cannot open stays closed for the others', async () => {
    const hook = await receiver(({ id }, response) => void response.writeHead(id === 'bad' ? 500 : 204).end())
    const { append, notices, attempts } = await bench(quick)
    await append(endpoint(hook.url), event('bad'))
    for (let round = 0; round < 6; round++) {
      await append(...events(`good${round}-`, 3))
      await until(() => attempts.filter(({ state }) => state === 'delivered').length === 3 * (round + 1), 'the good ones arrive')
    }
    // Between the good ones it may fail five times alone; then the next probe is one of the others.
    await append(...events('later', 3))
    await until(() => attempts.filter(({ state }) => state === 'delivered').length === 21, 'the later ones arrive')
    expect(notices.filter(({ kind }) => kind === 'delivery.dead')).toEqual([])
  })

  test('opens on a single event too after twice as many failures', async () => {
    const hook = await receiver(status(500))
    const { append, attempts } = await bench({ ...quick, breakerCooldown: 30 })
    await append(endpoint(hook.url), event('only'))
    await until(() => attempts.some(({ breaker }) => breaker === 'open'), 'it is open')
    await pass(300)
    expect(hook.received).toHaveLength(10)
  })

  test('probes the oldest and the newest due event in turn, never one of them twice in a row', async () => {
    const hook = await receiver(status(500))
    const { append } = await bench({
      retrySchedule: Array.from({ length: 100 }, () => 0),
      breakerCooldown: 0.05,
      maxInFlightPerEndpoint: 1,
    })
    await append(endpoint(hook.url), ...events('e', 6))
    await until(() => hook.received.length >= 9, 'four probes are sent')
    expect(hook.received.map(({ id }) => id).slice(5, 9)).toEqual(['e0', 'e5', 'e0', 'e5'])
  })

  test('of one endpoint is nothing to another', async () => {
    const [dead, alive] = await Promise.all([receiver(status(500)), receiver()])
    const { append, attempts } = await bench({ ...quick, breakerCooldown: 30 })
    await append(endpoint(dead.url, { id: '1' }), endpoint(alive.url, { id: '2' }), ...events('e', 100))
    await until(() => alive.received.length === 100, 'the healthy one has all')
    expect(attempts.filter(({ endpoint_id }) => endpoint_id === '1').length).toBeLessThanOrEqual(8 + 5)
  })

  test('does not open by what arrives late from before it opened', async () => {
    const hook = await receiver()
    const { append, attempts, notices } = await bench({ ...quick, breakerCooldown: 0.1 })
    // It answers until eight may be in flight.
    await append(endpoint(hook.url), ...events('warm', 8))
    await until(() => attempts.length === 8, 'it is trusted')
    let requests = 0
    // Eight at once: five fail at once, the three others only after the circuit opened and its probe is on its way.
    hook.respond = (_, response) => {
      const number = ++requests
      const late = number > 5 && number <= 8
      setTimeout(() => response.writeHead(number <= 8 ? 500 : 204).end(), late ? 300 : 0)
    }
    await append(...events('e', 12))
    await until(() => new Set(hook.received.slice(16).map(({ id }) => id)).size === 12, 'all are delivered')
    expect(notices.map(({ kind }) => kind)).toEqual(['endpoint.opened', 'endpoint.recovered'])
  })
})
