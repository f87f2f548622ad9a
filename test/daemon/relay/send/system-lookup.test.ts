import { expect, test } from 'vitest'
import { systemLookup } from '../../../../daemon/relay/send/system-lookup.ts'
import { virtualClock } from '../virtual-clock.ts'

const address = [{ address: '192.0.2.1', family: 4 }]

/** A system that finds `intern…` immediately and `slow…` when it is told to. */
function lookups() {
  const asked: string[] = []
  const slow: (() => void)[] = []
  const clock = virtualClock()
  const look = systemLookup(async (name) => {
    asked.push(name)
    if (name.startsWith('slow')) await new Promise<void>((done) => slow.push(done))
    return address
  }, clock)
  return { look, asked, clock, slow }
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

test('names that the system has found before, and those of the operator, pass names that take long', async () => {
  const { look, asked } = lookups()
  await look('intern-a')
  const waiting = Array.from({ length: 10 }, (_, place) => look(`slow-${place}`).catch(() => undefined))
  await settle()
  expect(await look('intern-a')).toEqual(address)
  expect(await look('intern-proxy', true)).toEqual(address)
  expect(asked).toEqual(['intern-a', 'slow-0', 'intern-a', 'intern-proxy'])
  expect(waiting).toHaveLength(10)
})

test('a name of the operator does not wait for the turn that a stranger has with it', async () => {
  const { look, asked } = lookups()
  for (const name of ['slow-a', 'intern-proxy']) look(name).catch(() => undefined)
  expect(await look('intern-proxy', true)).toEqual(address)
  expect(asked).toEqual(['slow-a', 'intern-proxy'])
})

test('a name that is being looked up is looked up once', async () => {
  const { look, asked, slow } = lookups()
  const both = [look('slow-a'), look('slow-a')]
  await settle()
  slow[0]?.()
  expect(await Promise.all(both)).toEqual([address, address])
  expect(asked).toEqual(['slow-a'])
})

test('names wait in their order, two at a time at most, and for ten seconds at most', async () => {
  const { look, asked, clock, slow } = lookups()
  const first = look('slow-a')
  const second = look('slow-b')
  const third = look('slow-c')
  const own = [look('slow-d', true), look('slow-e', true)]
  await settle()
  expect(asked).toEqual(['slow-a', 'slow-d'])
  clock.advance(9000)
  slow[0]?.()
  await settle()
  // The operator's go first.
  expect(asked).toEqual(['slow-a', 'slow-d', 'slow-e'])
  slow[1]?.()
  await settle()
  expect(asked).toEqual(['slow-a', 'slow-d', 'slow-e', 'slow-b'])
  const refused = expect(third).rejects.toMatchObject({ code: 'EAI_AGAIN' })
  clock.advance(1000)
  await refused
  for (const done of slow) done()
  await settle()
  for (const done of slow) done()
  expect(await Promise.all([first, second, ...own])).toEqual(Array(4).fill(address))
  expect(asked).not.toContain('slow-c')
  // It left: the same name is looked up again.
  const again = look('slow-c')
  await settle()
  slow.at(-1)?.()
  expect(await again).toEqual(address)
})
