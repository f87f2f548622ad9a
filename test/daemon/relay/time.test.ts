import { describe, expect, it } from 'vitest'
import { defaultSchedule } from '../../../daemon/relay/schedule.ts'
import { bench, endpoint, event, events, receiver, status, until } from './support.ts'
import { virtualClock } from './virtual-clock.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
/** Longer than any attempt here takes in real time, shorter than a virtual step. */
const settings = { retrySchedule: defaultSchedule, breakerCooldown: 30, timeout: 300 }

/** Lets everything that is under way come to rest, in real time. */
async function rest(inFlight: () => number): Promise<void> {
  for (let quiet = 0; quiet < 3; quiet = inFlight() === 0 ? quiet + 1 : 0)
    await new Promise<void>((done) => void setImmediate(done))
  await until(() => inFlight() === 0, 'nothing is in flight')
}

async function timed(answer = status(500), random = () => 0.5) {
  const clock = virtualClock()
  const hook = await receiver(answer)
  const all = await bench(settings, { clock, random })
  const pass = async (milliseconds: number, step = milliseconds) => {
    for (let passed = 0; passed < milliseconds; passed += step) {
      clock.advance(step)
      await rest(() => all.relay.scheduler.inFlight)
    }
  }
  return { ...all, clock, hook, pass }
}

describe('time', () => {
  it('passes as the schedule says, to the last attempt after 75 hours', async () => {
    const { append, attempts, hook, pass, clock } = await timed()
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'the first attempt is over')
    const start = clock.now()
    const at: number[] = []
    for (let step = 0; step < 80 * 12 && attempts.length < 10; step++) {
      const before = attempts.length
      await pass(5 * minute)
      if (attempts.length > before) at.push((clock.now() - start) / hour)
    }
    await until(() => attempts.length === 10, 'ten attempts are over')
    expect(attempts.at(-1)).toMatchObject({ state: 'dead', attempt: 10 })
    expect(at.at(-1)).toBeGreaterThan(75)
    expect(at.at(-1)).toBeLessThan(77)
  })

  it('of two days in which a receiver is down loses nothing, wakes it with probes only, and does not stampede', async () => {
    const { append, attempts, hook, pass } = await timed(status(503))
    await append(endpoint(hook.url), ...events('e', 40))
    await until(() => attempts.some(({ breaker }) => breaker === 'open'), 'it is open')
    await pass(48 * hour, 5 * minute)
    const asked = hook.received.length
    // Five to open it, what was in flight with them, then at most one every quarter of an hour.
    expect(asked).toBeLessThan(8 + 10 + 48 * 4)
    expect(attempts.filter(({ state }) => state === 'dead')).toEqual([])
    hook.peak()
    hook.answer = status(204)
    for (let hours = 0; hours < 30 && attempts.filter(({ state }) => state === 'delivered').length < 40; hours++)
      await pass(hour, 5 * minute)
    expect(attempts.filter(({ state }) => state === 'delivered')).toHaveLength(40)
    expect(hook.peak()).toBeLessThanOrEqual(8)
  })

  it('that the machine’s clock loses does not hold a retry back', async () => {
    const { append, attempts, hook, pass, clock } = await timed()
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'the first attempt is over')
    clock.step(-hour)
    await pass(6 * second)
    await until(() => attempts.length === 2, 'the second attempt is over')
  })

  it('that the machine’s clock gains makes retries early, and loses nothing', async () => {
    const { append, attempts, hook, pass, clock } = await timed()
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'the first attempt is over')
    clock.step(30 * 24 * hour)
    hook.answer = status(204)
    await pass(2 * minute)
    await until(() => attempts.length === 2, 'the second attempt is over')
    expect(attempts[1]).toMatchObject({ state: 'delivered' })
  })

  it('that the machine’s clock lost while no relay ran does not hold a retry back', async () => {
    const all = await timed()
    await all.append(endpoint(all.hook.url), event('a'))
    await until(() => all.attempts.length === 1, 'the first attempt is over')
    all.clock.step(-5 * hour)
    const restarted = all.restart()
    await restarted
    await all.pass(6 * second)
    await until(() => all.attempts.length === 2, 'the second attempt is over')
  })
})
