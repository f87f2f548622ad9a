import { describe, expect, test } from 'vitest'
import { createReady } from '../../../../../daemon/relay/schedule/choose/ready.ts'
import { createShares, type Holder } from '../../../../../daemon/relay/schedule/choose/shares.ts'
import type { Standing } from '../../../../../daemon/relay/schedule/endpoint/attempt-health.ts'
import { bench, endpoint, event, type Received, receiver, until } from '../../support.ts'

const on = (network_id: string) => (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => event(`${prefix}${index}`, { network_id }))
const few = { timeout: 60, maxInFlight: 16 }

describe('receivers that accept and never respond', () => {
  test.each([200, 1000])('keep no one of another network waiting, be they %i of one network', async (count) => {
    const [hanging, healthy] = await Promise.all([receiver(() => undefined), receiver()])
    const { append, attempts } = await bench(few)
    await append(...Array.from({ length: count }, (_, index) => endpoint(hanging.url, { id: `${index + 1}` })), event('first'))
    await until(() => hanging.received.length >= 6, 'the ones that hang hold what they may')
    await append(endpoint(healthy.url, { id: '5000', network_id: '2' }), ...on('1')('more', 5), ...on('2')('e', 40))
    await until(() => attempts.length === 40, 'the other network has everything')
    // None of the others has been given up by then: all of it went past them.
    expect(attempts.every(({ network_id, state }) => network_id === '2' && state === 'delivered')).toBe(true)
    expect(hanging.received.length).toBeLessThanOrEqual(8)
  })

  test('keep no quick endpoint of their network waiting', async () => {
    const [hanging, healthy] = await Promise.all([receiver(() => undefined), receiver()])
    const { append, attempts } = await bench(few)
    await append(endpoint(healthy.url, { id: '5000' }), event('first'))
    await until(() => attempts.length === 1, 'it answers')
    await append(...Array.from({ length: 200 }, (_, index) => endpoint(hanging.url, { id: `${index + 1}` })))
    await append(...on('1')('e', 40))
    await until(() => attempts.length === 41, 'it has everything')
    expect(attempts.every(({ endpoint_id, state }) => endpoint_id === '5000' && state === 'delivered')).toBe(true)
  })

  test('leave half of the slots to those that respond, be there one in each of 1,000 networks', async () => {
    const [hanging, healthy] = await Promise.all([receiver(() => undefined), receiver()])
    const { append, attempts } = await bench(few)
    await append(endpoint(healthy.url, { id: '5000', network_id: '0' }), ...on('0')('first', 1))
    await until(() => attempts.length === 1, 'it answers')
    const networks = Array.from({ length: 1000 }, (_, index) => String(index + 1))
    await append(...networks.map((network_id) => endpoint(hanging.url, { id: network_id, network_id })))
    await append(...networks.flatMap((network_id) => on(network_id)(`n${network_id}-`, 2)))
    await until(() => hanging.received.length >= 8, 'the ones that hang hold what they may')
    await append(...on('0')('e', 40))
    await until(() => attempts.length === 41, 'the healthy network has everything')
    expect(attempts.every(({ network_id, state }) => network_id === '0' && state === 'delivered')).toBe(true)
    expect(hanging.received.length).toBe(8)
  })

  test('keep no one waiting who responds slowly', async () => {
    const hanging = await receiver(() => undefined)
    const slow = await receiver(
      ({ id }, response) => void setTimeout(() => response.writeHead(204).end(), id === 'first0' ? 1100 : 0),
    )
    const { append, attempts } = await bench(few)
    await append(endpoint(slow.url, { id: '5000', network_id: '0' }), ...on('0')('first', 1))
    const networks = Array.from({ length: 1000 }, (_, index) => String(index + 1))
    await append(...networks.map((network_id) => endpoint(hanging.url, { id: network_id, network_id })))
    await append(...networks.map((network_id) => event(`n${network_id}`, { network_id })))
    await until(() => hanging.received.length >= 7 && attempts.length === 1, 'the ones that hang hold what they may')
    await append(...on('0')('e', 40))
    await until(() => attempts.length === 41, 'it has everything')
    expect(attempts.every(({ network_id, state }) => network_id === '0' && state === 'delivered')).toBe(true)
    expect(hanging.received.length).toBe(8)
  })

  test('leave something to others even if they responded until now', async () => {
    let hangs = false
    const provider = await receiver((_: Received, response) => void (hangs || response.writeHead(204).end()))
    const healthy = await receiver()
    const { append, attempts } = await bench(few)
    await append(...Array.from({ length: 50 }, (_, index) => endpoint(provider.url, { id: `${index + 1}` })), ...on('1')('a', 20))
    await until(() => attempts.length === 1000, 'all is well')
    hangs = true
    await append(...on('1')('b', 5))
    await until(() => provider.received.length >= 1014, 'the provider hangs')
    await append(endpoint(healthy.url, { id: '5000', network_id: '2' }), ...on('2')('e', 40))
    await until(() => attempts.length === 1040, 'the other network has everything')
    expect(provider.received.length).toBe(1014)
  })

  test('begin slowly again, and a restart remembers who responds', async () => {
    const [hanging, healthy] = await Promise.all([receiver(() => undefined), receiver()])
    const { append, attempts, restart, relay } = await bench(few)
    await append(endpoint(healthy.url, { id: '5000', network_id: '0' }), ...on('0')('first', 1))
    await append(
      ...Array.from({ length: 30 }, (_, index) => endpoint(hanging.url, { id: `${index + 1}`, network_id: `${index + 1}` })),
    )
    await append(...Array.from({ length: 30 }, (_, index) => event(`h${index}`, { network_id: `${index + 1}` })))
    await until(() => attempts.length === 1 && relay.scheduler.inFlight === 8, 'slots are held')
    await restart()
    await until(() => hanging.received.length === 16, 'they are held again')
    await append(...on('0')('e', 10))
    await until(() => attempts.length === 11, 'the healthy one has everything')
    expect(attempts.every(({ network_id }) => network_id === '0')).toBe(true)
  })
})

describe('the slots', () => {
  /** How many of these take slots until none of them may take another one. */
  function fill(slots: number, holders: readonly Holder[]): Map<Holder, number> {
    const shares = createShares(() => slots)
    const held = new Map(holders.map((holder) => [holder, 0]))
    for (let more = true; more; ) {
      more = false
      for (const holder of holders) {
        if (!shares.allows(holder)) continue
        shares.take(holder)
        held.set(holder, (held.get(holder) ?? 0) + 1)
        more = true
      }
    }
    return held
  }
  const holder = (network: string, standing: Standing): Holder => ({ network, standing })
  const counts = (slots: number, ...holders: Holder[]): number[] => [...fill(slots, holders).values()]

  test('are nearly all for one network that is quick, and never fewer than one', () => {
    expect([1, 2, 8, 256, 10_000].flatMap((slots) => counts(slots, holder('1', 'quick')))).toEqual([1, 2, 7, 224, 8750])
    expect([1, 2, 8, 256, 10_000].flatMap((slots) => counts(slots, holder('1', 'slow')))).toEqual([1, 2, 5, 144, 5625])
    expect([1, 2, 8, 256, 10_000].flatMap((slots) => counts(slots, holder('1', 'doubtful')))).toEqual([1, 1, 3, 96, 3750])
  })

  test('are about the same for each of several networks, with something left for the next', () => {
    expect(counts(256, holder('1', 'quick'), holder('2', 'quick'))).toEqual([120, 119])
    expect(counts(256, holder('1', 'slow'), holder('2', 'slow'), holder('2', 'quick'))).toEqual([77, 77, 80])
  })

  test('stay open to quick ones when a thousand networks are slow, and come back', () => {
    const networks = Array.from({ length: 1000 }, (_, index) => holder(`${index}`, 'slow'))
    expect([...fill(256, networks).values()].filter((count) => count > 0)).toHaveLength(192)
    const doubtful = Array.from({ length: 1000 }, (_, index) => holder(`${index}`, 'doubtful'))
    expect([...fill(256, doubtful).values()].filter((count) => count > 0)).toHaveLength(128)
    const shares = createShares(() => 256)
    for (const each of networks.slice(0, 192)) shares.take(each)
    expect([shares.open('slow'), shares.open('quick'), shares.allows(holder('new', 'quick'))]).toEqual([false, true, true])
    for (const each of networks.slice(0, 192)) shares.giveBack(each)
    expect([shares.open('slow'), shares.used]).toEqual([true, 0])
  })
})

describe('turns', () => {
  const run = (network_id: string, id: number, standing: Standing = 'quick') => ({
    endpoint: { network_id, id: String(id) },
    standing,
  })

  test('go over the networks, then over the endpoints of a network', () => {
    const ready = createReady<ReturnType<typeof run>>({ open: () => true, allows: () => true })
    for (const id of [1, 2, 3, 4]) ready.add(run('a', id))
    for (const id of [5, 6]) ready.add(run('b', id))
    ready.add(run('c', 7))
    expect(ready.upcoming(5).map(({ endpoint }) => endpoint.id)).toEqual(['1', '5', '7', '2', '6'])
    const order = Array.from({ length: 8 }, () => ready.next()?.endpoint.id)
    expect(order).toEqual(['1', '5', '7', '2', '6', '3', '4', undefined])
  })

  test('change with the findings about an endpoint, which is in one place only', () => {
    const ready = createReady<ReturnType<typeof run>>({ open: (standing) => standing === 'quick', allows: () => true })
    const one = run('a', 1, 'slow')
    ready.add(one)
    ready.add(one)
    expect(ready.next()).toBeUndefined()
    one.standing = 'quick'
    ready.add(one)
    expect([ready.next(), ready.next()]).toEqual([one, undefined])
  })

  test('cost next to nothing with 10,000 endpoints of 1,000 networks', () => {
    let asked = 0
    const shares = createShares(() => 256)
    const ready = createReady<ReturnType<typeof run>>({
      open: shares.open,
      allows(holder) {
        asked++
        return shares.allows(holder)
      },
    })
    for (let id = 0; id < 10_000; id++) ready.add(run(`${id % 1000}`, id, id % 2 === 0 ? 'slow' : 'quick'))
    for (let turn = 0; turn < 100; turn++) {
      ready.reopen()
      const started = []
      for (let next = ready.next(); next; next = ready.next()) {
        const each = { network: next.endpoint.network_id, standing: next.standing }
        shares.take(each)
        started.push(each)
        ready.add(next)
      }
      expect(started.length).toBeGreaterThan(240)
      for (const each of started) shares.giveBack(each)
    }
    // Once for each that starts, and for as many again that may not.
    expect(asked).toBeLessThan(2 * 256 * 100)
  })

  test('skip a network that has its share, and come back to it', () => {
    let full = true
    const ready = createReady<ReturnType<typeof run>>({ open: () => true, allows: ({ network }) => !(full && network === 'a') })
    const [one, two] = [run('a', 1), run('b', 2)]
    ready.add(one)
    ready.add(two)
    expect([ready.next(), ready.next()]).toEqual([two, undefined])
    full = false
    ready.reopen()
    expect([ready.next(), ready.next()]).toEqual([one, undefined])
  })
})
