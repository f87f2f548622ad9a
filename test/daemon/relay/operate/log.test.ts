import { expect, test } from 'vitest'
import type { AttemptReport } from '../../../../daemon/relay/events.ts'
import { createLog } from '../../../../daemon/relay/operate/log.ts'

const failed: AttemptReport = {
  event_id: '6191cd4e-661a-4019-8612-b390a945a09f',
  event_type: 'PostCreatedHook',
  bytes: 512,
  network_id: '1',
  endpoint_id: '7',
  attempt: 1,
  outcome: 'status',
  status: 500,
  reason: '500',
  milliseconds: 3,
  state: 'pending',
  next_at: '2026-11-21T10:00:05.000Z',
  breaker: 'closed',
  age: 20,
}

test.each([
  ['closed', /; again at 10:00:05, circuit closed\)/],
  ['open', /; it waits for the circuit, circuit open\)/],
] as const)('a failed attempt with a circuit that is %s has the time of the next one', (breaker, said) => {
  const lines: string[] = []
  const log = createLog({ write: (line) => void lines.push(line) }, false)
  log.onAttempt?.({ ...failed, breaker })
  expect(lines.join('')).toMatch(said)
})

test.each([
  [false, 'fault      read: Error: no row ?[31m?2J'],
  [true, '"what":"read","reason":"Error: no row \\u001b[31m\\u009b2J"'],
])('a terminal obeys nothing in a line of the log, in JSON: %s', (json, said) => {
  const lines: string[] = []
  const log = createLog({ write: (line) => void lines.push(line) }, json)
  log.onFault?.('read', new Error('no row \u001b[31m\u009b2J'))
  expect(lines.join('')).toContain(said)
  expect(lines.join('').indexOf('\n')).toBe(lines.join('').length - 1)
})

test.each([
  [false, '(200, 3 ms, attempt 1, repeated on a new connection)'],
  [true, '"repeated":true'],
])('an attempt whose request was repeated says so, in JSON: %s', (json, said) => {
  const lines: string[] = []
  const log = createLog({ write: (line) => void lines.push(line) }, json)
  const delivered = { ...failed, outcome: 'delivered', status: 200, reason: '200', state: 'delivered', next_at: null } as const
  log.onAttempt?.({ ...delivered, repeated: true })
  expect(lines.join('')).toContain(said)
  log.onAttempt?.(delivered)
  expect(lines[1]).not.toContain('repeated')
})
