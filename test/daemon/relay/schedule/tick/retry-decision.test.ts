import { describe, expect, test } from 'vitest'
import { decideRetry } from '../../../../../daemon/relay/schedule/tick/retry-decision.ts'
import type { Outcome } from '../../../../../daemon/relay/send/outcome.ts'
import { defaultSchedule } from '../../../../../daemon/relay/settings.ts'

const hour = 3_600_000
const waiting = { delivery: 1, event: 1, lane: 'retry', due: 1000, attempts: 9, interruptions: 0 } as const
const failed = (change: Partial<Outcome>): Outcome => ({
  result: 'status',
  status: 500,
  reason: '',
  retryAfter: undefined,
  milliseconds: 1,
  ...change,
})
const probe = (change: Partial<Outcome>, now: number) => decideRetry(waiting, failed(change), defaultSchedule, now, 0.5, true)

describe('a probe that fails', () => {
  test.each([{}, { status: 503 }, { status: 408 }, { status: 425 }, { status: null, result: 'refused' as const }])(
    'uses up no attempt of its delivery: %o',
    (change) => {
      expect(probe(change, hour)).toMatchObject({
        result: { state: 'pending', attempts: 9, due: 1000 },
        pauseUntil: undefined,
      })
    },
  )

  test.each([400, 403, 404, 422])('uses one up when the endpoint refuses the event with %i', (status) => {
    expect(probe({ status }, hour).result).toMatchObject({ state: 'dead', attempts: 10 })
  })

  test('is an attempt like any other when the delivery has been due for as long as the whole schedule takes', () => {
    expect(probe({}, 75 * hour).result.state).toBe('pending')
    expect(probe({}, 76 * hour).result.state).toBe('dead')
  })

  test('leaves an overloaded endpoint alone for a minute, or as long as it requests', () => {
    expect(probe({ status: null, result: 'timeout' }, hour).pauseUntil).toBe(hour + 60_000)
    expect(probe({ status: 429, retryAfter: 600 }, hour).pauseUntil).toBe(hour + 600_000)
  })
})

test('an attempt while the circuit is closed is used up', () => {
  expect(decideRetry(waiting, failed({}), defaultSchedule, hour, 0.5).result).toMatchObject({ state: 'dead', attempts: 10 })
})

describe('an endpoint pauses after an attempt', () => {
  const attempt = (change: Partial<Outcome>) => decideRetry(waiting, failed(change), defaultSchedule, hour, 0.5).pauseUntil

  test.each([429, 503])('for as long as a %i asks, at most a day', (status) => {
    expect(attempt({ status, retryAfter: 600 })).toBe(hour + 600_000)
    expect(attempt({ status, retryAfter: 1_000_000 })).toBe(hour + 86_400_000)
  })

  test('and not for another failure, nor where nothing was requested', () => {
    expect(attempt({ status: 429 })).toBeUndefined()
    for (const status of [408, 500, 502]) expect(attempt({ status, retryAfter: 600 })).toBeUndefined()
    expect(attempt({ status: null, result: 'refused', retryAfter: 600 })).toBeUndefined()
  })
})
