import { describe, expect, test } from 'vitest'
import { defaultSchedule } from '../../../../daemon/relay/settings.ts'
import { bench, endpoint, event, events, receiver, status, until } from '../support.ts'
import { virtualClock } from '../virtual-clock.ts'

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

async function timed(respond = status(500), random = () => 0.5, change: { breakerThreshold?: number } = {}) {
  const clock = virtualClock()
  const hook = await receiver(respond)
  const all = await bench({ ...settings, ...change }, { clock, random })
  const pass = async (milliseconds: number, step = milliseconds) => {
    for (let passed = 0; passed < milliseconds; passed += step) {
      clock.advance(step)
      await rest(() => all.relay.scheduler.inFlight)
    }
  }
  return { ...all, clock, hook, pass }
}

describe('time', () => {
  test('ends the overlap of a rotation: until then the old key and secret hold, from then on the new ones alone', async () => {
    const { append, attempts, hook, pass, clock } = await timed(({ headers }, response) => {
      response.writeHead(headers.authorization === 'Bearer old' ? 204 : 401).end()
    })
    const [fresh, old] = [1, 2].map((fill) => `whsec_${Buffer.alloc(24, fill).toString('base64')}`)
    const until24 = new Date(clock.now() + 24 * hour).toISOString()
    const overlap = { old_keys: [{ value: 'old', until: until24 }], old_secrets: [{ value: old ?? '', until: until24 }] }
    await append(endpoint(hook.url, { key: 'new', secrets: [fresh ?? ''], ...overlap }))
    const signed = () => String(hook.received.at(-1)?.headers['webhook-signature']).split(' ').length
    const send = async (id: string) => {
      const before = attempts.length
      await append(event(id))
      await until(() => attempts.length > before, `the attempt for ${id} is over`)
      return { state: attempts.at(-1)?.state, signatures: signed() }
    }
    expect(await send('a')).toEqual({ state: 'delivered', signatures: 2 })
    await pass(24 * hour - minute)
    expect(await send('b')).toEqual({ state: 'delivered', signatures: 2 })
    await pass(minute)
    hook.respond = status(204)
    expect(await send('c')).toEqual({ state: 'delivered', signatures: 1 })
    expect(hook.received.at(-1)?.headers.authorization).toBe('Bearer new')
  })

  test('passes by the schedule, to the last attempt after 75 hours', async () => {
    const { append, attempts, hook, pass, clock } = await timed(status(500), () => 0.5, { breakerThreshold: 1000 })
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

  test('of three days in which a receiver is down costs no event; the schedule holds, and nothing rushes out at its end', async () => {
    const clock = virtualClock()
    const hook = await receiver(status(503))
    const made: { readonly id: string; readonly attempt: number; readonly at: number; readonly next: number }[] = []
    let dice = 1
    // Always the same dice: a test that fails now and then proves nothing.
    const random = (): number => {
      dice = (dice * 48_271) % 2_147_483_647
      return dice / 2_147_483_647
    }
    const delivered = new Set<string>()
    const dead: string[] = []
    const { append, relay } = await bench(settings, {
      clock,
      random,
      onAttempt({ event_id, attempt, state, next_at }) {
        if (state === 'delivered') delivered.add(event_id)
        if (state === 'dead') dead.push(event_id)
        made.push({ id: event_id, attempt, at: clock.now(), next: next_at === null ? Number.NaN : Date.parse(next_at) })
      },
    })
    const passing = async (milliseconds: number): Promise<void> => {
      for (let passed = 0; passed < milliseconds; passed += 5 * minute) {
        clock.advance(5 * minute)
        await rest(() => relay.scheduler.inFlight)
      }
    }
    await append(endpoint(hook.url, { secrets: [`whsec_${Buffer.alloc(24, 1).toString('base64')}`] }), ...events('e', 60))
    await until(() => relay.scheduler.endpoint(1)?.circuit === 'open', 'it is open')
    await rest(() => relay.scheduler.inFlight)
    await passing(72 * hour)
    // Those that open it and what was in flight with them, the probes while the pause doubles, then one every quarter of an hour.
    expect(hook.received.length).toBeLessThan(8 + 10 + 72 * 4)
    expect(dead).toEqual([])
    for (const { id, attempt, at, next } of made) {
      // A probe that failed leaves its delivery as it was: due.
      if (next <= at) continue
      const planned = (defaultSchedule[attempt] ?? 0) * second
      expect(next - at).toBeGreaterThanOrEqual(planned * 0.8 - 1)
      expect(next - at).toBeLessThanOrEqual(planned * 1.2 + 1)
      const following = made.find((other) => other.id === id && other.attempt === attempt + 1)
      if (following) expect(following.at).toBeGreaterThanOrEqual(next)
    }

    const before = hook.received.length
    const peaks: number[] = []
    hook.peak()
    // As receivers do that check signatures: each attempt is signed with its own time, so no event is too old.
    hook.respond = (request, response) => {
      peaks.push(hook.peak())
      const off = Math.abs(clock.now() - 1000 * Number(request.headers['webhook-timestamp']))
      status(off > 5 * minute ? 401 : 204)(request, response)
    }
    for (let hours = 0; hours < 30 && delivered.size < 60; hours++) await passing(hour)
    expect(delivered.size).toBe(60)
    expect(hook.received.length - before).toBe(60)
    // One probe, then rounds of one, two and four before all eight places are used.
    expect(Math.max(...peaks.slice(0, 2))).toBe(1)
    expect(Math.max(...peaks.slice(0, 4))).toBeLessThanOrEqual(2)
    expect(Math.max(...peaks.slice(0, 8))).toBeLessThanOrEqual(4)
    expect(Math.max(...peaks)).toBeLessThanOrEqual(8)
  })

  test('in which the machine was suspended is over immediately for what became due in between, and for an open circuit', async () => {
    const { append, attempts, hook, pass, clock } = await timed()
    await append(endpoint(hook.url), ...events('e', 10))
    await until(() => attempts.some(({ breaker }) => breaker === 'open'), 'it is open')
    hook.respond = status(204)
    // Monotonic time stands still in a suspended machine; the clock on the wall does not.
    clock.step(24 * hour)
    for (let minutes = 0; minutes < 60 && attempts.filter(({ state }) => state === 'delivered').length < 10; minutes++)
      await pass(minute)
    expect(attempts.filter(({ state }) => state === 'delivered')).toHaveLength(10)
  })

  test('may be longer than the 24.8 days that a timer of Node can count', async () => {
    const clock = virtualClock()
    const hook = await receiver(status(500))
    const month = 30 * 24 * hour
    const { append, attempts, relay } = await bench(
      { ...settings, retrySchedule: [0, month / second] },
      { clock, random: () => 0.5 },
    )
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'the first attempt is over')
    const passing = async (milliseconds: number): Promise<void> => {
      for (let passed = 0; passed < milliseconds; passed += 6 * hour) {
        clock.advance(6 * hour)
        await rest(() => relay.scheduler.inFlight)
      }
    }
    await passing(month - 6 * hour)
    expect(attempts).toHaveLength(1)
    await passing(12 * hour)
    await until(() => attempts.length === 2, 'the second attempt is over')
  })

  test('that the machine’s clock loses does not hold a retry back', async () => {
    const { append, attempts, hook, pass, clock } = await timed()
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'the first attempt is over')
    clock.step(-hour)
    await pass(6 * second)
    await until(() => attempts.length === 2, 'the second attempt is over')
  })

  test('that the machine’s clock gains makes retries early, and loses nothing', async () => {
    const { append, attempts, hook, pass, clock } = await timed()
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'the first attempt is over')
    clock.step(30 * 24 * hour)
    hook.respond = status(204)
    await pass(2 * minute)
    await until(() => attempts.length === 2, 'the second attempt is over')
    expect(attempts[1]).toMatchObject({ state: 'delivered' })
  })

  test('that the machine’s clock lost while no relay ran does not hold a retry back', async () => {
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
