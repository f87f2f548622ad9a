/** The relay for the panel, over its store. */
import { setImmediate } from 'node:timers/promises'
import type { CappedCount, DeliveryFilter } from '../../../../lib/relay/relay-view.ts'
import { systemClock } from '../../clock.ts'
import type { OperatorStore } from '../../store/operator/operator-store.ts'
import { createResends } from './resends.ts'
import { detailOf, numberOf, pageOf, searchOf } from './search.ts'
import type { OpenRelayView, Side } from './side.ts'
import { activityOf, statusOf } from './state.ts'

/** A count ends there, or after so many milliseconds. */
const mostCounted = 500_000
const countMs = 1500

const between = (least: number, value: number, most: number): number => Math.min(Math.max(value, least), most)

/** The view of the deliveries in a store. */
export function viewOver(side: Side): OpenRelayView {
  let opened: Promise<OperatorStore> | undefined

  /** One connection for every call. One that cannot be opened is tried again by the next call. */
  function storeThere(): Promise<OperatorStore> {
    opened ??= side.openStore().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  const resends = createResends({ store: storeThere, now: () => side.now(), onDue: () => side.onDue() })

  async function endpointOf(network: string, id: string) {
    const store = await storeThere()
    const endpoint = (await store.knownEndpoints()).find((each) => each.network_id === network && each.id === id)
    return endpoint && { store, endpoint }
  }

  async function countOf(network: string, filter: DeliveryFilter): Promise<CappedCount> {
    const store = await storeThere()
    const until = systemClock.monotonic() + countMs
    let count = 0
    for await (const part of store.counts(searchOf(network, filter))) {
      count += part
      if (count >= mostCounted || systemClock.monotonic() > until) return { count: Math.min(count, mostCounted), exact: false }
      await setImmediate()
    }
    return { count, exact: true }
  }

  return {
    status: async (network) => statusOf(await storeThere(), network, side),
    activity: async (network, minutes) =>
      activityOf(await storeThere(), network, side.now() - between(1, minutes, 1440) * 60_000),
    deliveries: async (network, filter, paging) => pageOf(await storeThere(), network, filter, paging),
    count: countOf,
    delivery: async (network, id) => detailOf(await storeThere(), network, id),
    async replay(network, selection, { perSecond }) {
      const store = await storeThere()
      const pace = between(1, Math.floor(perSecond), 10_000)
      if ('filter' in selection) {
        const { filter } = selection
        const search = { ...searchOf(network, filter), before: await store.end() }
        return resends.begin(network, [search], await countOf(network, filter), pace)
      }
      const ids = selection.ids.flatMap((id) => numberOf(id) ?? [])
      const searches = ids.map((id) => ({ network, id }))
      return resends.begin(network, searches, { count: ids.length, exact: true }, pace)
    },
    replayed: async (network, id) => resends.progressOf(network, id),
    stopReplay: async (network, id) => resends.stop(network, id),
    async test(network, id) {
      const found = await endpointOf(network, id)
      return found && side.test(found.store, found.endpoint)
    },
    async enable(network, id) {
      const found = await endpointOf(network, id)
      if (found) await side.enable(found.store, found.endpoint)
      return found !== undefined
    },
    async disable(network, id) {
      const found = await endpointOf(network, id)
      if (found) await side.disable(found.store, found.endpoint)
      return found !== undefined
    },
    async close() {
      resends.end()
      const store = await opened?.catch(() => undefined)
      await store?.close()
    },
  }
}
