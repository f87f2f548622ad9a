/** Endpoints that keep the order of subjects. */
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openOperatorStore } from '../../../../daemon/relay/open-store.ts'
import { bench, endpoint, event, receiver, status, until } from '../support.ts'

const about = (subject: string, id: string) => event(id, { subject })

/** A receiver that fails as the dice say, and watches what it is sent. */
async function strict(failing: () => boolean, delay: () => number = () => 0) {
  const open = new Set<string>()
  const overlaps: string[] = []
  const taken = new Map<string, string[]>()
  const hook = await receiver()
  hook.respond = async ({ id }, response) => {
    const subject = id.split('-')[0] ?? ''
    if (open.has(subject)) overlaps.push(id)
    open.add(subject)
    response.on('close', () => open.delete(subject))
    const fails = failing()
    await wait(delay())
    if (!fails) taken.set(subject, [...(taken.get(subject) ?? []), id])
    open.delete(subject)
    response.writeHead(fails ? 500 : 204).end()
  }
  return { hook, overlaps, taken }
}

function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

const often = Array.from({ length: 100 }, () => 0.01)

describe('order by subject', () => {
  test.each([1, 2])(
    'keeps the recorded order of each subject, whatever fails and whenever the relay starts anew (%i)',
    async (seed) => {
      const random = dice(seed)
      const { hook, overlaps, taken } = await strict(
        () => random() < 0.3,
        () => random() * 8,
      )
      const all = await bench({ retrySchedule: often, breakerCooldown: 0.05 }, { random })
      await all.append(endpoint(hook.url, { order: 'subject' }))
      const subjects = Array.from({ length: 12 }, (_, index) => `s${index}`)
      const expected = new Map<string, string[]>(subjects.map((subject) => [subject, []]))
      for (let round = 0; round < 4; round++) {
        const some = Array.from({ length: 40 }, (_, index) => {
          const subject = subjects[Math.floor(random() * subjects.length)] ?? ''
          const id = `${subject}-${round}-${index}`
          expected.get(subject)?.push(id)
          return about(subject, id)
        })
        await all.append(...some)
        if (round % 2 === 1) await all.restart()
      }
      const total = () => [...taken.values()].reduce((sum, ids) => sum + new Set(ids).size, 0)
      await until(() => total() === 160, 'everything is delivered')
      // A delivery that a restart interrupted may come twice, one after the other.
      const once = [...taken].map(([subject, ids]) => [subject, ids.filter((id, place) => id !== ids[place - 1])])
      expect(Object.fromEntries(once)).toEqual(Object.fromEntries([...expected].filter(([, ids]) => ids.length > 0)))
      expect(overlaps).toEqual([])
    },
  )

  test('lets a bad event hold up its own subject only, until it is dead', async () => {
    // The second attempt of the bad one gets a response when the others are there.
    const others = Promise.withResolvers<void>()
    let failures = 0
    const hook = await receiver(({ id }, response) => {
      if (id !== 'bad') response.writeHead(204).end()
      else if (++failures === 1) response.writeHead(400).end()
      else others.promise.then(() => response.writeHead(400).end())
    })
    const { append, attempts } = await bench({ retrySchedule: [0, 0.3, 0.3], breakerThreshold: 1000, timeout: 60 })
    await append(endpoint(hook.url, { order: 'subject' }), about('a', 'bad'), about('a', 'after'))
    await append(...Array.from({ length: 30 }, (_, index) => about(`s${index}`, `e${index}`)))
    await until(() => attempts.filter(({ state }) => state === 'delivered').length === 30, 'the others are delivered')
    expect(attempts.some(({ event_id, state }) => event_id === 'after' || state === 'dead')).toBe(false)
    others.resolve()
    await until(() => attempts.some(({ event_id }) => event_id === 'after'), 'the next one is delivered')
    expect(attempts.map(({ event_id, state }) => `${event_id} ${state}`).slice(-2)).toEqual(['bad dead', 'after delivered'])
  })

  test('sends different subjects in parallel, up to the limit', async () => {
    // Three successes allow four at once; from then on nothing gets a response.
    let responded = 0
    const hook = await receiver((_, response) => {
      if (++responded <= 3) response.writeHead(204).end()
    })
    const { append } = await bench({ maxInFlightPerEndpoint: 4 })
    await append(endpoint(hook.url, { order: 'subject' }))
    await append(...Array.from({ length: 40 }, (_, index) => about(`s${index % 20}`, `e${index}`)))
    await until(() => hook.received.length === 7, 'four are on their way')
    expect(hook.peak()).toBe(4)
  })

  test('puts a resent event before the later ones of its subject', async () => {
    const hook = await receiver(({ id }, response) => void response.writeHead(id === 'late' ? 400 : 204).end())
    const { append, attempts, directory, relay } = await bench({ retrySchedule: [0], breakerThreshold: 1000 })
    await append(endpoint(hook.url, { order: 'subject' }), about('a', 'late'))
    await until(() => attempts.length === 1, 'it is dead')
    // The next ones wait, as nothing is sent at the moment.
    await append(endpoint(hook.url, { order: 'subject', enabled: false }))
    await until(() => relay.scheduler.endpoint(1)?.endpoint.enabled === false, 'it is off')
    await append(about('a', 'next'), about('a', 'last'))
    const store = await openOperatorStore(directory)
    onTestFinished(() => store.close())
    await until(async () => (await store.deliveries({ state: 'pending', limit: 10 })).length === 2, 'they wait')
    const [dead] = await store.deliveries({ state: 'dead', limit: 1 })
    await store.makeDue([{ delivery: Number(dead?.id), due: Date.now() }])
    hook.respond = status(204)
    await append(endpoint(hook.url, { order: 'subject' }))
    await until(() => attempts.length === 4, 'all are delivered')
    expect(attempts.map(({ event_id }) => event_id)).toEqual(['late', 'late', 'next', 'last'])
  })

  test('begins and ends with a registration, with everything that waits', async () => {
    const { hook, overlaps, taken } = await strict(
      () => false,
      () => 3,
    )
    const all = await bench({ retrySchedule: often })
    await all.append(endpoint(hook.url, { enabled: false }))
    const ids = Array.from({ length: 12 }, (_, index) => `s${index % 3}-${index}`)
    await all.append(...ids.map((id) => about(id.split('-')[0] ?? '', id)))
    await until(async () => (await all.relay.store.counts()).pending === 12, 'they wait')
    await all.append(endpoint(hook.url, { order: 'subject' }))
    await until(() => [...taken.values()].flat().length === 12, 'all are delivered')
    for (const [subject, some] of taken) expect(some).toEqual(ids.filter((id) => id.startsWith(`${subject}-`)))
    expect(overlaps).toEqual([])
    // A delivery that waits behind another one is released when the order is given up.
    hook.respond = status(500)
    await all.append(...ids.map((id) => about('one', `again-${id}`)))
    await until(() => hook.received.length > 12, 'the first one fails')
    hook.respond = status(204)
    await all.append(endpoint(hook.url))
    await until(async () => (await all.relay.store.counts()).pending === 0, 'nothing is left behind')
  })

  test('sends events whose records name no subject one after the other', async () => {
    const { hook, overlaps, taken } = await strict(
      () => false,
      () => 3,
    )
    const { append, attempts } = await bench()
    await append(endpoint(hook.url, { order: 'subject' }))
    await append(...Array.from({ length: 6 }, (_, index) => event(`z-${index}`)))
    await until(() => attempts.length === 6, 'all are delivered')
    expect(overlaps).toEqual([])
    expect(taken.get('z')).toEqual(Array.from({ length: 6 }, (_, index) => `z-${index}`))
  })
})
