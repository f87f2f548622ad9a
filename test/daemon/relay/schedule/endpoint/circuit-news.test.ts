import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCircuitNews } from '../../../../../daemon/relay/schedule/endpoint/circuit-news.ts'

const hour = 3_600_000

test('a flapping circuit is announced once an hour, with the number of openings between', () => {
  const news = createCircuitNews(hour, false)
  expect([news.opened(0), news.closed()]).toEqual(['', true])
  for (let minute = 1; minute < 60; minute++) expect([news.opened(minute * 60_000), news.closed()]).toEqual([undefined, false])
  expect(news.opened(hour)).toBe('; since 1970-01-01T00:00:00.000Z it opened 59 times more')
  expect(news.closed()).toBe(true)
})

test('an opening that was left out is announced after the hour if the circuit is open still', () => {
  const news = createCircuitNews(hour, false)
  news.opened(0)
  news.closed()
  news.opened(60_000)
  expect([news.stillOpen(hour - 1), news.stillOpen(hour), news.stillOpen(hour + 1), news.closed()]).toEqual([
    undefined,
    '',
    undefined,
    true,
  ])
})

test('a circuit that an earlier version had opened is announced when it closes', () => {
  expect(createCircuitNews(hour, true).closed()).toBe(true)
})

test('the last announcement becomes true, and openings are an hour apart, whatever the circuit does', () => {
  const step = fc.record({ minutes: fc.integer({ min: 0, max: 40 }), probeSucceeds: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let news = createCircuitNews(hour, false)
      let [now, open, announcedOpen, last] = [0, false, false, Number.NEGATIVE_INFINITY]
      const announce = (): void => {
        expect(now - last).toBeGreaterThanOrEqual(hour)
        announcedOpen = true
        last = now
      }
      for (const { minutes, probeSucceeds } of steps) {
        now += minutes * 60_000
        if (!open) {
          open = true
          if (news.opened(now) !== undefined) announce()
        } else if (probeSucceeds) {
          open = false
          if (news.closed()) announcedOpen = false
        } else if (news.stillOpen(now) !== undefined) announce()
        // A restart.
        news = createCircuitNews(hour, open, news.record)
      }
      if (!open) expect(announcedOpen).toBe(false)
      else if (news.stillOpen(now + hour) === undefined) expect(announcedOpen).toBe(true)
    }),
  )
})
