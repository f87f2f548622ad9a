import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Attempted,
  type Circuit,
  createCircuit,
  type Ticket,
} from '../../../../../daemon/relay/schedule/endpoint/circuit.ts'
import type { Outcome } from '../../../../../daemon/relay/send/outcome.ts'

const threshold = 3
const cooldown = 10

const outcome = (result: Outcome['result']): Outcome => ({
  result,
  status: null,
  reason: '',
  retryAfter: undefined,
  milliseconds: 1,
})

/** Makes an attempt with an event that ends immediately. */
const attempt = (circuit: Circuit, event: number, result: Outcome['result']) =>
  circuit.begin(event).run(async () => outcome(result))

/** An attempt that is in flight until it is ended. */
function started(ticket: Ticket) {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  let sent = false
  const attempted = ticket.run(() => {
    sent = true
    return promise
  })
  return {
    isSent: () => sent,
    end(result: Outcome['result']): Promise<Attempted> {
      resolve(outcome(result))
      return attempted
    },
  }
}

interface Model {
  state: 'closed' | 'open' | 'probing'
  failures: number
  witnesses: Set<number>
  trips: number
  readyAt: number
  closedAt: number
}

/** The promise of the circuit, in a few lines: the real one has to agree with it after every step. */
function modelRecord(model: Model, probe: boolean, event: number, failed: boolean, now: number): void {
  if (!failed) {
    if (probe) model.closedAt = now
    Object.assign(model, { state: 'closed', failures: 0, witnesses: new Set() })
    return
  }
  model.failures++
  model.witnesses.add(event)
  const enough = model.failures >= threshold && (model.witnesses.size > 1 || model.failures >= 2 * threshold)
  if (!probe && !enough) return
  // Five minutes closed, and the cooldown begins anew.
  model.trips = !probe && now - model.closedAt >= 300_000 ? 1 : model.trips + 1
  model.state = 'open'
  model.readyAt = now + 1000 * Math.min(900, cooldown * 2 ** (model.trips - 1))
}

type Step =
  | { readonly kind: 'begin'; readonly event: number }
  | { readonly kind: 'end'; readonly which: number; readonly result: Outcome['result'] }
  | { readonly kind: 'time'; readonly seconds: number }
  | { readonly kind: 'restart' }

const results = ['delivered', 'delivered', 'status', 'status', 'timeout', 'aborted', 'blocked', 'proxy_failed'] as const
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('begin'), event: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('end'), which: fc.nat(20), result: fc.constantFrom(...results) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('time'),
      seconds: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.constantFrom(299, 300)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart') }) },
) as fc.Arbitrary<Step>

describe('createCircuit', () => {
  test('agrees with a small model after every step, whatever comes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        let now = 0
        const make = (record?: ReturnType<Circuit['snapshot']>) =>
          createCircuit(
            () => ({ threshold, cooldown }),
            () => now,
            record,
          )
        let circuit = make()
        const model: Model = { state: 'closed', failures: 0, witnesses: new Set(), trips: 0, readyAt: 0, closedAt: 0 }
        /** Changes with each opening and each probe that ends: results from before mean nothing. */
        let epoch = 0
        let running: { attempt: ReturnType<typeof started>; epoch: number; event: number; probe: boolean }[] = []
        for (const each of steps) {
          const before = model.state
          if (each.kind === 'time') now += each.seconds * 1000
          if (each.kind === 'begin') {
            const permit = circuit.permit().kind
            if (permit === 'open' || permit === 'probing') continue
            const ticket = circuit.begin(each.event)
            expect(ticket.probe).toBe(model.state !== 'closed')
            if (ticket.probe) model.state = 'probing'
            const made = started(ticket)
            expect(made.isSent()).toBe(true)
            running.push({ attempt: made, epoch, event: each.event, probe: ticket.probe })
          }
          if (each.kind === 'end') {
            const [taken] = running.splice(each.which % Math.max(1, running.length), 1)
            if (!taken) continue
            const { probe } = taken
            const isVerdict = ['delivered', 'status', 'timeout'].includes(each.result)
            const attempted = await taken.attempt.end(each.result)
            expect(attempted.outcome.result).toBe(each.result)
            if (taken.epoch === epoch && isVerdict) modelRecord(model, probe, taken.event, each.result !== 'delivered', now)
            if (taken.epoch === epoch && !isVerdict && probe) {
              model.state = 'open'
              model.readyAt = now + 1000 * Math.min(900, cooldown * 2 ** (model.trips - 1))
            }
            if (before !== model.state) epoch++
            const change = before === model.state || (probe && !isVerdict) ? undefined : { closed: 'closed', open: 'opened' }
            expect(attempted.circuit).toBe(
              change && model.state === 'open' && probe ? 'reopened' : change?.[model.state === 'open' ? 'open' : 'closed'],
            )
          }
          if (each.kind === 'restart') {
            circuit = make(circuit.snapshot())
            running = []
            if (model.state === 'probing') model.state = 'open'
          }
          const permit = circuit.permit()
          if (model.state === 'open') expect(permit.kind).toBe(now < model.readyAt ? 'open' : 'ready')
          else expect(permit.kind).toBe(model.state)
          if (permit.kind === 'open') expect(permit.readyAt).toBe(model.readyAt)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('follows the timeline of the relay, whatever the clock of the machine says', async () => {
    let now = 5e15
    const circuit = createCircuit(
      () => ({ threshold: 1, cooldown }),
      () => now,
    )
    await attempt(circuit, 1, 'status')
    await attempt(circuit, 2, 'status')
    expect(circuit.permit()).toEqual({ kind: 'open', readyAt: now + 10_000 })
    // Before its time cockatiel itself refuses a probe.
    now += 9999
    const early = started(circuit.begin(1))
    expect([early.isSent(), (await early.end('delivered')).outcome.result]).toEqual([false, 'aborted'])
    now += 10_000
    expect(circuit.permit().kind).toBe('ready')
    const probe = started(circuit.begin(1))
    expect([probe.isSent(), circuit.permit().kind]).toEqual([true, 'probing'])
    expect((await probe.end('delivered')).circuit).toBe('closed')
  })

  test('does not make an attempt that was chosen before it opened', async () => {
    let now = 0
    const circuit = createCircuit(
      () => ({ threshold: 1, cooldown }),
      () => now,
    )
    const chosen = [1, 2, 3].map((event) => circuit.begin(event))
    for (const event of [1, 2]) await attempt(circuit, event, 'status')
    for (const passed of [0, 10_000]) {
      now += passed
      for (const ticket of chosen) {
        const late = started(ticket)
        expect(late.isSent()).toBe(false)
        expect(await late.end('delivered')).toMatchObject({ outcome: { result: 'aborted' }, circuit: undefined })
      }
    }
    expect(circuit.permit().kind).toBe('ready')
  })

  test('does not hear what arrives late from before it opened, also during a probe and after it', async () => {
    let now = 0
    const circuit = createCircuit(
      () => ({ threshold: 2, cooldown }),
      () => now,
    )
    const late = [1, 2, 3, 4].map((event) => started(circuit.begin(event)))
    for (const event of [5, 6]) await attempt(circuit, event, 'status')
    now += 10_000
    const probe = started(circuit.begin(7))
    for (const each of late.slice(0, 2)) expect((await each.end('status')).circuit).toBeUndefined()
    expect(circuit.permit().kind).toBe('probing')
    await probe.end('delivered')
    for (const each of late.slice(2)) expect((await each.end('status')).circuit).toBeUndefined()
    expect(circuit.permit().kind).toBe('closed')
  })

  test('waits longer each time that it opens again soon after closing, until it was closed for five minutes', async () => {
    let now = 0
    const make = (record?: ReturnType<Circuit['snapshot']>) =>
      createCircuit(
        () => ({ threshold: 1, cooldown: 30 }),
        () => now,
        record,
      )
    let circuit = make()
    const cooldowns: number[] = []
    /** Closed for so many seconds, then it opens, and the next probe succeeds. */
    async function flap(closedFor: number): Promise<void> {
      now += closedFor * 1000
      for (const event of [1, 2]) await attempt(circuit, event, 'status')
      const { readyAt = 0 } = circuit.snapshot()
      cooldowns.push((readyAt - now) / 1000)
      now = readyAt
      await attempt(circuit, 1, 'delivered')
      circuit = make(circuit.snapshot())
    }
    for (const closedFor of [0, 10, 10, 299, 10, 10, 10, 300, 10]) await flap(closedFor)
    expect(cooldowns).toEqual([30, 60, 120, 240, 480, 900, 900, 30, 60])
  })

  test.each([
    ['doubles up to fifteen minutes', 200, [200, 400, 800, 900, 900]],
    ['does not grow if it is longer than that', 3600, [3600, 3600, 3600]],
  ])('has a cooldown that %s', async (_, seconds, expected) => {
    let now = 0
    const circuit = createCircuit(
      () => ({ threshold: 1, cooldown: seconds }),
      () => now,
    )
    await attempt(circuit, 1, 'status')
    const waits: number[] = []
    for (const _each of expected) {
      await attempt(circuit, 2, 'status')
      const { readyAt = 0 } = circuit.snapshot()
      waits.push((readyAt - now) / 1000)
      now = readyAt
    }
    expect(waits).toEqual(expected)
  })

  test('is restored with at most one cooldown left, even if it was saved in the future', () => {
    const record = { open: true, openedAt: 9e15, trips: 1, failures: 0, witnesses: [], probed: null, readyAt: 9e15 }
    const circuit = createCircuit(
      () => ({ threshold, cooldown }),
      () => 0,
      record,
    )
    expect(circuit.permit()).toEqual({ kind: 'open', readyAt: 10_000 })
  })

  test('takes a new threshold for what comes', async () => {
    let settings = { threshold: 5, cooldown }
    const circuit = createCircuit(
      () => settings,
      () => 0,
    )
    await attempt(circuit, 1, 'status')
    settings = { threshold: 2, cooldown }
    await attempt(circuit, 2, 'status')
    expect(circuit.permit().kind).toBe('open')
  })

  test('sends the next probe when it was told, though a restart brings a longer cooldown', async () => {
    let now = 5000
    const make = (seconds: number, record?: ReturnType<Circuit['snapshot']>) =>
      createCircuit(
        () => ({ threshold: 1, cooldown: seconds }),
        () => now,
        record,
      )
    const circuit = make(10)
    for (const event of [1, 2]) await attempt(circuit, event, 'status')
    now += 4000
    const kept = circuit.snapshot()
    expect([kept.readyAt, make(300, kept).permit()]).toEqual([15_000, { kind: 'open', readyAt: 15_000 }])
  })
})
