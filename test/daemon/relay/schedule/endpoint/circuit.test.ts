import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Circuit, createCircuit, type Ticket } from '../../../../../daemon/relay/schedule/endpoint/circuit.ts'

const threshold = 3
const cooldown = 10

interface Model {
  state: 'closed' | 'open' | 'probing'
  failures: number
  witnesses: Set<number>
  trips: number
  readyAt: number
  closedAt: number
}

/** The promise of the circuit, in a few lines: the real one has to agree with it after every step. */
function modelRecord(model: Model, probe: boolean, event: number, failed: boolean, another: boolean, now: number): void {
  if (!failed) {
    if (probe) model.closedAt = now
    Object.assign(model, { state: 'closed', failures: 0, witnesses: new Set() })
    return
  }
  model.failures++
  model.witnesses.add(event)
  const enough = model.failures >= threshold && (model.witnesses.size > 1 || !another || model.failures >= 2 * threshold)
  if (!probe && !enough) return
  // Five minutes closed, and the cooldown begins anew.
  model.trips = !probe && now - model.closedAt >= 300_000 ? 1 : model.trips + 1
  model.state = 'open'
  model.readyAt = now + 1000 * Math.min(900, cooldown * 2 ** (model.trips - 1))
}

type Step =
  | { readonly kind: 'begin'; readonly event: number }
  | { readonly kind: 'end'; readonly which: number; readonly failed: boolean; readonly another: boolean }
  | { readonly kind: 'abort'; readonly which: number }
  | { readonly kind: 'time'; readonly seconds: number; readonly wallJump: number }
  | { readonly kind: 'restart' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('begin'), event: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('end'),
      which: fc.nat(20),
      failed: fc.boolean(),
      another: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort'), which: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('time'),
      seconds: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.constantFrom(299, 300)),
      wallJump: fc.integer({ min: -9999, max: 9999 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart') }) },
) as fc.Arbitrary<Step>

describe('createCircuit', () => {
  test('agrees with a small model after every step, whatever comes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        let monotonic = 0
        const settings = () => ({ threshold, cooldown })
        const make = (record?: ReturnType<Circuit['snapshot']>) =>
          createCircuit(
            settings,
            () => monotonic,
            () => monotonic,
            record,
          )
        let circuit = make()
        const model: Model = { state: 'closed', failures: 0, witnesses: new Set(), trips: 0, readyAt: 0, closedAt: 0 }
        let epoch = 0
        let tickets: { ticket: Ticket; epoch: number; event: number }[] = []
        for (const each of steps) {
          const before = model.state
          if (each.kind === 'time') monotonic += each.seconds * 1000
          if (each.kind === 'begin') {
            const permit = circuit.permit().kind
            if (permit === 'open' || permit === 'probing') continue
            const ticket = circuit.begin(each.event)
            expect(ticket.probe).toBe(model.state !== 'closed')
            if (ticket.probe) {
              model.state = 'probing'
              epoch++
            }
            tickets.push({ ticket, epoch, event: each.event })
          }
          if (each.kind === 'end' || each.kind === 'abort') {
            const [taken] = tickets.splice(each.which % Math.max(1, tickets.length), 1)
            if (!taken) continue
            const current = taken.epoch === epoch
            if (each.kind === 'abort') {
              circuit.release(taken.ticket)
              if (current && taken.ticket.probe) {
                model.state = 'open'
                model.readyAt = monotonic + 1000 * Math.min(900, cooldown * 2 ** (model.trips - 1))
                epoch++
              }
            } else {
              await circuit.record(taken.ticket, taken.event, each.failed, async () => each.another)
              if (current) {
                modelRecord(model, taken.ticket.probe, taken.event, each.failed, each.another, monotonic)
                if (before !== model.state) epoch++
              }
            }
          }
          if (each.kind === 'restart') {
            circuit = make(circuit.snapshot())
            tickets = []
            if (model.state === 'probing') model.state = 'open'
          }
          const permit = circuit.permit()
          if (model.state === 'open') expect(permit.kind).toBe(monotonic < model.readyAt ? 'open' : 'ready')
          else expect(permit.kind).toBe(model.state)
          if (permit.kind === 'open') expect(permit.readyAt).toBe(model.readyAt)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('does not care what the machine’s clock does', async () => {
    let monotonic = 0
    const circuit = createCircuit(
      () => ({ threshold: 1, cooldown }),
      () => monotonic,
      () => Date.now(),
    )
    await circuit.record(circuit.begin(1), 1, true, async () => false)
    expect(circuit.permit()).toEqual({ kind: 'open', readyAt: 10_000 })
    monotonic = 10_000
    expect(circuit.permit().kind).toBe('ready')
  })

  test('waits longer each time that it opens again soon after closing, until it was closed for five minutes', async () => {
    let now = 0
    const clock = () => now
    const make = (record?: ReturnType<Circuit['snapshot']>) =>
      createCircuit(() => ({ threshold: 1, cooldown: 30 }), clock, clock, record)
    let circuit = make()
    const cooldowns: number[] = []
    /** Closed for so many seconds, then it opens, and the next probe succeeds. */
    async function flap(closedFor: number): Promise<void> {
      now += closedFor * 1000
      await circuit.record(circuit.begin(1), 1, true, async () => false)
      const { readyAt = 0 } = circuit.snapshot()
      cooldowns.push((readyAt - now) / 1000)
      now = readyAt
      await circuit.record(circuit.begin(1), 1, false, async () => false)
      circuit = make(circuit.snapshot())
    }
    for (const closedFor of [0, 10, 10, 299, 10, 10, 10, 300, 10]) await flap(closedFor)
    expect(cooldowns).toEqual([30, 60, 120, 240, 480, 900, 900, 30, 60])
  })

  test('is restored with at most one cooldown left, even if it was saved in the future', () => {
    const record = { open: true, openedAt: 9e15, trips: 1, failures: 0, witnesses: [], probed: null }
    const circuit = createCircuit(
      () => ({ threshold, cooldown }),
      () => 0,
      () => 0,
      record,
    )
    expect(circuit.permit()).toEqual({ kind: 'open', readyAt: 10_000 })
  })

  test('counts on when a ticket of a closed circuit is given back', async () => {
    const none = () => 0
    const circuit = createCircuit(() => ({ threshold: 2, cooldown }), none, none)
    const [first, second, third] = [circuit.begin(1), circuit.begin(2), circuit.begin(3)]
    circuit.release(first)
    await circuit.record(second, 2, true, async () => true)
    await circuit.record(third, 3, true, async () => true)
    expect(circuit.permit().kind).toBe('open')
  })

  test('takes a new threshold for what comes', async () => {
    let settings = { threshold: 5, cooldown }
    const circuit = createCircuit(
      () => settings,
      () => 0,
      () => 0,
    )
    await circuit.record(circuit.begin(1), 1, true, async () => true)
    settings = { threshold: 2, cooldown }
    await circuit.record(circuit.begin(2), 2, true, async () => true)
    expect(circuit.permit().kind).toBe('open')
  })

  test('sends the next probe when it was told, though a restart brings a longer cooldown', async () => {
    let now = 5000
    const clock = () => now
    const circuit = createCircuit(() => ({ threshold: 1, cooldown: 10 }), clock, clock)
    await circuit.record(circuit.begin(1), 1, true, async () => false)
    now += 4000
    const kept = circuit.snapshot()
    const restarted = createCircuit(() => ({ threshold: 1, cooldown: 300 }), clock, clock, kept)
    expect([kept.readyAt, restarted.permit()]).toEqual([15_000, { kind: 'open', readyAt: 15_000 }])
  })

  test.each([
    [0.5, 4],
    [2, 16],
    [30, 240],
    [60, 240],
    [600, 600],
  ])(
    'with a cooldown of %d s lets a fresh event be a probe after %d s, or one more cooldown if it refuses',
    async (base, longest) => {
      let monotonic = 0
      const now = () => monotonic
      const circuit = createCircuit(() => ({ threshold: 1, cooldown: base }), now, now)
      // Twelve probes fail, the last one with the newest event.
      for (let failed = 0; failed <= 12; failed++) {
        const permit = circuit.permit()
        if (permit.kind === 'open') monotonic = permit.readyAt
        await circuit.record(circuit.begin(1, circuit.end), 1, true, async () => false)
      }
      expect((circuit.earlyAt - monotonic) / 1000).toBe(longest)
      monotonic = circuit.earlyAt
      await circuit.record(circuit.begin(2, 'newest'), 2, true, async () => false, true)
      expect((circuit.earlyAt - monotonic) / 1000).toBe(base)
      expect(createCircuit(() => ({ threshold: 1, cooldown: base }), now, now, circuit.snapshot()).earlyAt).toBeLessThanOrEqual(
        monotonic + 1000 * longest,
      )
    },
  )
})
