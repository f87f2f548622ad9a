/** Contents that were read ahead are kept within a limit. */
import { expect, test } from 'vitest'
import { contentsOf, createBodies } from '../../../../daemon/relay/store/bodies.ts'
import type { Outgoing, Waiting } from '../../../../daemon/relay/store/store.ts'

const waiting = (delivery: number): Waiting => ({
  delivery,
  event: delivery,
  lane: 'first',
  due: 0,
  attempts: 0,
  interruptions: 0,
})
const outgoing = (delivery: number, bytes = 10): Outgoing => ({
  delivery,
  event_id: `e${delivery}`,
  event_type: 'PostCreatedHook',
  network_id: '1',
  received_at: 0,
  trace: null,
  changed: null,
  body: new Uint8Array(bytes),
  intact: true,
})

test('a content is given once, for the delivery that it was read with', () => {
  const bodies = createBodies()
  const [first, another] = [waiting(1), waiting(1)]
  bodies.keep(first, outgoing(1))
  expect(bodies.take(another)).toBeUndefined()
  expect(bodies.take(first)).toEqual(outgoing(1))
  expect(bodies.take(first)).toBeUndefined()
})

test('the oldest contents are forgotten when there are too many bytes', () => {
  const bodies = createBodies(25)
  const all = [waiting(1), waiting(2), waiting(3)]
  for (const each of all) bodies.keep(each, outgoing(each.delivery))
  expect(all.map((each) => bodies.take(each)?.delivery)).toEqual([undefined, 2, 3])
})

test('only contents that were not kept are read', async () => {
  const bodies = createBodies()
  const [kept, missing] = [waiting(1), waiting(2)]
  bodies.keep(kept, outgoing(1))
  const asked: number[] = []
  const found = await contentsOf([kept, missing], bodies, async (some) => {
    asked.push(...some.map(({ delivery }) => delivery))
    return new Map(some.map(({ delivery }) => [delivery, outgoing(delivery)]))
  })
  expect(asked).toEqual([2])
  expect([...found.keys()]).toEqual([1, 2])
})
