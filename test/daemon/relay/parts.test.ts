import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Clock, systemClock, timeline } from '../../../daemon/relay/clock.ts'
import { createPollLoop } from '../../../daemon/relay/poll-loop.ts'
import { createWakeTimes } from '../../../daemon/relay/schedule/choose/wake-times.ts'
import { nextDelay } from '../../../daemon/relay/schedule/tick/retry-decision.ts'
import { Refused } from '../../../daemon/relay/send/guard.ts'
import { classify } from '../../../daemon/relay/send/outcome.ts'
import { parseRetryAfter } from '../../../daemon/relay/send/retry-after.ts'
import { signatureHeaders } from '../../../daemon/relay/send/signature.ts'
import { checkSettings, defaultSchedule, defaultSettings, SettingsError } from '../../../daemon/relay/settings.ts'
import { virtualClock } from './virtual-clock.ts'

const failure = { attempts: 1, overloaded: false, retryAfter: undefined }

describe('nextDelay', () => {
  test('follows the schedule within ± 20 %, whatever the schedule is', () => {
    const seconds = fc.double({ min: 0, max: 100_000, noNaN: true })
    fc.assert(
      fc.property(
        fc.array(seconds, { minLength: 1, maxLength: 20 }),
        fc.nat(25),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (schedule, attempts, random) => {
          const delay = nextDelay(schedule, { ...failure, attempts }, random)
          const planned = schedule[attempts]
          if (planned === undefined) expect(delay).toBeUndefined()
          else {
            expect(delay).toBeGreaterThanOrEqual(Math.floor(planned * 800))
            expect(delay).toBeLessThanOrEqual(Math.ceil(planned * 1200))
          }
        },
      ),
    )
  })

  test('takes 75 h 35 min by default', () => {
    expect(defaultSchedule.reduce((sum, delay) => sum + delay)).toBe(75 * 3600 + 35 * 60 + 5)
    expect(nextDelay(defaultSchedule, { ...failure, attempts: 10 }, 0.5)).toBeUndefined()
  })

  test('is at least a minute after a time-out or a 429, but never more than the operator’s longest delay', () => {
    const overloaded = { ...failure, overloaded: true }
    expect(nextDelay(defaultSchedule, overloaded, 0.5)).toBe(60_000)
    expect(nextDelay([0, 0.2, 0.5], overloaded, 0.5)).toBe(500)
    expect(nextDelay(defaultSchedule, { ...overloaded, attempts: 3 }, 0.5)).toBe(1_800_000)
  })

  test('is at least what the receiver requests, up to a day', () => {
    expect(nextDelay(defaultSchedule, { ...failure, retryAfter: 100 }, 0.5)).toBe(100_000)
    expect(nextDelay(defaultSchedule, { ...failure, retryAfter: 1 }, 0.5)).toBe(5000)
    expect(nextDelay(defaultSchedule, { ...failure, retryAfter: 315_360_000 }, 0.5)).toBe(86_400_000)
    expect(nextDelay(defaultSchedule, { ...failure, retryAfter: Number.POSITIVE_INFINITY }, 0.5)).toBe(86_400_000)
  })
})

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-11-20T10:00:00Z')
  test.each([
    ['120', 120],
    [' 0 ', 0],
    ['1.5', 1.5],
    ['Fri, 20 Nov 2026 10:02:00 GMT', 120],
    ['Friday, 20-Nov-26 10:02:00 GMT', 120],
    ['Fri Nov 20 10:02:00 2026', 120],
    ['Fri, 20 Nov 2020 10:02:00 GMT', 0],
    ['Fri Nov 20 10:02:00 soon', undefined],
    ['-5', undefined],
    ['soon', undefined],
    ['', undefined],
    ['1e9', undefined],
    ['0000000000000120', 120],
    ['99999999999999999999', 1e20],
    ['9'.repeat(400), Number.POSITIVE_INFINITY],
    ['Fri, 99 Nov 2026', undefined],
    [undefined, undefined],
  ])('reads %j as %j', (header, seconds) => expect(parseRetryAfter(header, now)).toBe(seconds))
})

describe('timeline', () => {
  const clockOf = (wall: () => number, monotonic: () => number): Clock => ({ now: wall, monotonic, timer: () => () => undefined })

  test('never goes back, follows steps forward, and continues from an earlier run', () => {
    let wall = 1_000_000
    let monotonic = 0
    const time = timeline(
      clockOf(
        () => wall,
        () => monotonic,
      ),
      1_500_000,
    )
    expect(time()).toBe(1_500_000)
    monotonic += 1000
    wall -= 3_600_000
    expect(time()).toBe(1_501_000)
    wall = 9_000_000
    expect(time()).toBe(9_000_000)
    wall = 0
    monotonic += 500
    expect(time()).toBe(9_000_500)
  })

  test('has timers for longer than Node can count', async () => {
    let called = false
    const cancel = systemClock.timer(2 ** 40, () => {
      called = true
    })
    await new Promise((done) => setTimeout(done, 30))
    cancel()
    expect(called).toBe(false)
  })
})

describe('createWakeTimes', () => {
  test('gives everything back in order of time, and nothing too early', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100)), fc.nat(100), (times, until) => {
        const wakes = createWakeTimes<number>()
        for (const time of times) wakes.add(time, time)
        const early = wakes.take(until)
        const late = wakes.take(1000)
        expect(early).toEqual(times.filter((time) => time <= until).sort((a, b) => a - b))
        expect([...early, ...late]).toEqual([...times].sort((a, b) => a - b))
        expect(wakes.earliest).toBe(Number.POSITIVE_INFINITY)
      }),
    )
  })
})

describe('checkSettings', () => {
  test('fills in the defaults', () => {
    expect(checkSettings({ timeout: 0.5, retrySchedule: undefined })).toEqual({ ...defaultSettings, timeout: 0.5 })
  })

  test('names every problem in one error', () => {
    const given = { timeout: 0, retrySchedule: [], maxInFlightPerEndpoint: 1.5, allowHttp: 'yes', nonsense: 1, constructor: 2 }
    const problems = (() => {
      try {
        checkSettings(given)
      } catch (error) {
        return error instanceof SettingsError ? error.problems : undefined
      }
    })()
    expect(problems).toEqual([
      expect.stringMatching(/^setting `nonsense` does not exist; allowed: retrySchedule, /),
      expect.stringMatching(/^setting `constructor` does not exist; /),
      'setting `retrySchedule` must have at least 1 value',
      'setting `timeout` must be a number of seconds from 0.01 to 300',
      'setting `maxInFlightPerEndpoint` must be a whole number from 1 to 1000',
      'setting `allowHttp` must be true or false',
    ])
  })

  test('repeats no value: it may be a secret in the wrong place', () => {
    const secret = 'whsec_abc'
    const values = {
      timeout: secret,
      ca: secret,
      ports: [secret],
      allowAddresses: [secret],
      controlPort: secret,
      [`${secret}\n`]: secret,
    }
    const message = (() => {
      try {
        return checkSettings(values) && ''
      } catch (error) {
        return String(error)
      }
    })()
    expect(message).toContain('setting `ports.0` must be a whole number from 1 to 65535')
    expect(message).not.toContain(secret)
  })
})

describe('classify', () => {
  test.each([
    [Object.assign(new Error('x'), { code: 'ENOTFOUND' }), 'dns'],
    [new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })]), 'refused'],
    [new Error('x', { cause: Object.assign(new Error('x'), { code: 'CERT_HAS_EXPIRED' }) }), 'tls'],
    [Object.assign(new Error('x'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), 'tls'],
    [Object.assign(new Error('x'), { code: 'HPE_INVALID_CONSTANT' }), 'protocol'],
    [new TypeError('x'), 'fault'],
    ['a text', 'fault'],
    [undefined, 'fault'],
    [null, 'fault'],
  ])('gives every error a class: %s', (error, result) => expect(classify(error).result).toBe(result))
})

describe('a poll loop', () => {
  test('begins a step immediately after a hint, unless the last one failed', async () => {
    const clock = virtualClock()
    let steps = 0
    let fails = false
    const loop = createPollLoop({
      clock,
      interval: 200,
      async step() {
        steps++
        if (fails) throw new Error('the disk is full')
        return false
      },
      failed: () => {},
    })
    onTestFinished(() => loop.stop())
    /** A step has no more to do in this turn than microtasks. */
    const hinted = async () => {
      await new Promise((turn) => setImmediate(turn))
      loop.hint()
      await new Promise((turn) => setImmediate(turn))
      return steps
    }
    expect([await hinted(), await hinted()]).toEqual([2, 3])
    fails = true
    expect([await hinted(), await hinted(), await hinted(), loop.healthy]).toEqual([4, 4, 4, false])
    fails = false
    clock.advance(400)
    expect([await hinted(), loop.healthy]).toEqual([6, true])
  })
})

describe('signatureHeaders', () => {
  test.each(['', 'whsec_', 'whsk_AAAA', '!!!not base64!!!', 'encrypted:1:0123456789abcdef:AAAA'])(
    'refuses to sign with %j, and does not blame the receiver',
    (secret) => {
      const attempt = () => signatureHeaders([secret], 'id', Buffer.from('{}'), 0)
      expect(attempt).toThrow(Refused)
    },
  )
})
