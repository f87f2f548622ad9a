import { expect, test, vi } from 'vitest'
import { createSubjectOrder } from '../../../../../daemon/relay/schedule/choose/subject-order.ts'
import type { EndpointRun } from '../../../../../daemon/relay/schedule/endpoint/endpoint-run.ts'
import type { RelayStore } from '../../../../../daemon/relay/store/store.ts'

const run = () =>
  ({ endpoint: { ref: 1, order: 'subject' }, state: { kind: 'active' }, queue: { refresh() {} } }) as unknown as EndpointRun
const nothing = new Set<number>()

/** A store that cannot be reached the first time that it is asked to put deliveries in order. */
function storeAway() {
  const arrange = vi.fn<() => Promise<readonly number[]>>().mockRejectedValueOnce(new Error('away')).mockResolvedValue([])
  return { arrange, store: { arrange, arrangeAll: arrange } as unknown as RelayStore }
}

test.each(['orderAll', 'orderArrivals'] as const)('%s is done later if the store is away', async (ask) => {
  const { arrange, store } = storeAway()
  const order = createSubjectOrder(store)
  const one = run()
  order[ask](one)
  await expect(order.settle(nothing)).rejects.toThrow('away')
  expect(order.isDue).toBe(true)
  expect(await order.settle(nothing)).toEqual([one])
  expect([order.isDue, order.isOrdered(one), arrange.mock.calls.length]).toEqual([false, true, 2])
})
