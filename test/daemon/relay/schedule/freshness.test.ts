/** Receivers that refuse events which happened more than five minutes ago, over outages of hours, in model time. */
import { describe, expect, test } from 'vitest'
import { defaultSchedule } from '../../../../daemon/relay/settings.ts'
import { soaking } from '../../../support/rounds.ts'
import { type Answer, bench, endpoint, event, receiver, status, until } from '../support.ts'
import { virtualClock } from '../virtual-clock.ts'

const minute = 60_000
const hour = 60 * minute
const limit = 5 * minute

/** A relay with every default, and a receiver with a limit; both live by one clock. */
async function community(down: Answer = status(503, { connection: 'close' }), refusal = 403) {
  const clock = virtualClock()
  const recorded = new Map<string, number>()
  const delivered = new Map<string, number>()
  const dead = new Set<string>()
  const tried = new Map<string, number>()
  let taken = 0
  let up = true
  const hook = await receiver((request, response) => {
    if (!up) return down(request, response)
    const age = clock.now() - (recorded.get(request.id) ?? 0)
    // A connection that is kept might be closed just when it is used again: that would be another fault.
    response.writeHead(age > limit ? refusal : 204, { connection: 'close' }).end()
  })
  const all = await bench(
    { retrySchedule: defaultSchedule, timeout: 300 },
    {
      clock,
      random: () => 0.5,
      onIngested: ({ events }) => {
        taken += events
      },
      onAttempt({ event_id, state }) {
        if (!tried.has(event_id)) tried.set(event_id, clock.now())
        if (state === 'delivered') delivered.set(event_id, clock.now())
        if (state === 'dead') dead.add(event_id)
      },
    },
  )
  await all.append(endpoint(hook.url))

  async function rest(): Promise<void> {
    for (let quiet = 0; quiet < 10; quiet = all.relay.scheduler.inFlight === 0 ? quiet + 1 : 0)
      await new Promise<void>((done) => void setImmediate(done))
  }

  async function record(): Promise<string> {
    const id = `e${recorded.size}`
    recorded.set(id, clock.now())
    await all.append(event(id))
    await until(() => taken === recorded.size, 'it is ingested')
    await rest()
    return id
  }

  return {
    ...all,
    clock,
    hook,
    recorded,
    delivered,
    dead,
    tried,
    record,
    goes(where: 'up' | 'down') {
      up = where === 'up'
    },
    /** Lets time pass, with an event now and then. */
    async pass(milliseconds: number, every: number, step = Math.min(every, 2 * minute)): Promise<void> {
      for (let passed = 0; passed < milliseconds; passed += step) {
        if (passed % every === 0) await record()
        clock.advance(step)
        await rest()
      }
    },
    circuit: () => all.relay.scheduler.endpoint(1)?.circuit,
    disabled: () => all.relay.scheduler.endpoint(1)?.endpoint.disabled,
  }
}

type Community = Awaited<ReturnType<typeof community>>

/** Every event that was recorded at or after this time was taken while it was fresh. */
function expectFresh({ recorded, delivered }: Community, since: number): void {
  const late = [...recorded].filter(([id, at]) => at >= since && !((delivered.get(id) ?? Number.POSITIVE_INFINITY) - at <= limit))
  expect(late.map(([id]) => id)).toEqual([])
}

test('an event that comes while the circuit is open is tried while it is fresh, each of them', async () => {
  const all = await community()
  all.goes('down')
  await all.pass(3 * hour, 10 * minute)
  const opened = all.clock.now()
  await all.pass((soaking ? 12 : 4) * hour, 30 * minute)
  expect(all.circuit()).not.toBe('closed')
  const late = [...all.recorded].filter(
    ([id, at]) => at >= opened && !((all.tried.get(id) ?? Number.POSITIVE_INFINITY) - at <= limit),
  )
  expect(late.map(([id]) => id)).toEqual([])
})

describe('a receiver that refuses old events', () => {
  test.each([
    ['every minute', minute, 2],
    ['every half an hour', 30 * minute, soaking ? 9 : 5],
  ])('recovers after hours with an event %s, and loses nothing that is new', async (_, every, hours) => {
    const all = await community()
    await all.pass(every, every)
    all.goes('down')
    await all.pass(hours * hour, every)
    expect(all.circuit()).not.toBe('closed')
    all.goes('up')
    const back = all.clock.now()
    await all.pass(hour, every)
    expectFresh(all, back)
    expect(all.notices.map(({ kind }) => kind)).toContain('endpoint.recovered')

    // Old events go their way to the end of the schedule, beside new ones.
    const before = all.notices.filter(({ kind }) => kind === 'endpoint.opened').length
    await all.pass(80 * hour, 2 * hour, 20 * minute)
    expectFresh(all, back)
    expect(all.delivered.size + all.dead.size).toBe(all.recorded.size)
    expect([all.circuit(), all.disabled()]).toEqual(['closed', null])
    // The circuit stays closed all the while.
    expect(all.notices.filter(({ kind }) => kind === 'endpoint.opened')).toHaveLength(before)
  })

  test('is not disabled when nothing new comes for a week', async () => {
    const all = await community()
    all.goes('down')
    await all.pass(6 * hour, 10 * minute)
    all.goes('up')
    await all.pass(30 * minute, 10 * minute)
    const before = all.delivered.size
    expect(before).toBeGreaterThan(0)
    for (let day = 0; day < 7; day++) {
      await all.pass(24 * hour, Number.POSITIVE_INFINITY, hour)
      all.relay.maintenance.giveUp()
    }
    expect(all.disabled()).toBeNull()
    await all.record()
    await until(() => all.delivered.size === all.recorded.size - all.dead.size, 'it is delivered')
  })

  test('recovers also when its refusals look like faults', async () => {
    const all = await community(status(503, { connection: 'close' }), 500)
    all.goes('down')
    await all.pass(hour, minute)
    all.goes('up')
    const back = all.clock.now()
    await all.pass(hour, minute)
    // That age is the reason shows only when the circuit opens again: what came before that may have become old.
    expectFresh(all, back + 5 * minute)
    expect(all.disabled()).toBeNull()
  })
})

test('probes take the oldest and the newest due event in turn, never one of them twice in a row', async () => {
  const hook = await receiver(status(500))
  const { append } = await bench({
    retrySchedule: Array.from({ length: 100 }, () => 0),
    breakerCooldown: 0.05,
    maxInFlightPerEndpoint: 1,
  })
  await append(endpoint(hook.url), ...Array.from({ length: 6 }, (_, index) => event(`e${index}`)))
  await until(() => hook.received.length >= 9, 'four probes are sent')
  expect(hook.received.map(({ id }) => id).slice(5, 9)).toEqual(['e0', 'e5', 'e0', 'e5'])
})

test('an event recorded a moment ago is a probe before the long pause is over', async () => {
  const all = await community()
  all.goes('down')
  await all.pass(5 * hour, 2 * hour)
  expect(all.circuit()).toBe('open')
  await all.pass(6 * minute, Number.POSITIVE_INFINITY)
  all.goes('up')
  const id = await all.record()
  await all.pass(4 * minute, Number.POSITIVE_INFINITY)
  expect(all.delivered.has(id)).toBe(true)
})
