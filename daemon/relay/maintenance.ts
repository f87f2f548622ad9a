/** Regular maintenance: deleting old rows, disabling failing endpoints, returning space. */
import { counted } from '../../lib/base/counted.ts'
import type { RelayContext } from './context.ts'
import { doRegularly } from './regular-work.ts'
import type { Scheduler } from './schedule/scheduler.ts'
import type { OperatorStore } from './store/operator/operator-store.ts'
import type { RelayStore } from './store/store.ts'

const day = 86_400_000
/** An endpoint is disabled only after failures at least this far apart: one bad hour after a quiet week is not five days. */
const leastSpan = day / 2

export interface MaintenanceParts extends RelayContext {
  readonly store: RelayStore
  readonly scheduler: Scheduler
  /** Opens the store for questions, apart from the work of the relay. */
  readonly openOperator: () => Promise<OperatorStore>
}

export interface Maintenance {
  /** Removes rows past their retention; other work runs between two parts. */
  purge(): Promise<void>
  /** Disables endpoints that have only failed for days. */
  giveUp(): void
  /** Reports the last 24 hours of each endpoint to the host, if it subscribes to that. */
  sumDay(): Promise<void>
  stop(): Promise<void>
}

/** Deliveries of an endpoint that are looked at for its sum. */
const mostSummed = 100_000

/** Starts the maintenance: retention and compaction every hour, endpoints every ten minutes, sums every day. */
export function startMaintenance(parts: MaintenanceParts): Maintenance {
  const { store, scheduler, timeline, settings, events, openOperator } = parts
  let stopped = false
  let running: Promise<void> | undefined

  async function removeOld(): Promise<void> {
    const now = timeline()
    const { keepDelivered, keepDead } = settings()
    const before = { delivered: now - keepDelivered * day, dead: now - keepDead * day, now }
    while (!stopped && (await store.purge(before)) > 0) await new Promise<void>((next) => void setImmediate(next))
    if (!stopped) await store.compact()
  }

  function purge(): Promise<void> {
    running ??= removeOld()
      .catch((error: unknown) => events.onFault('old deliveries cannot be removed', error))
      .finally(() => {
        running = undefined
      })
    return running
  }

  function giveUp(): void {
    const now = timeline()
    const { disableAfter } = settings()
    for (const run of scheduler.endpoints) {
      const { failingSince, lastFailure } = run.health.current
      if (run.state.kind !== 'active' || failingSince === null || lastFailure === null) continue
      if (now - failingSince < disableAfter * day || lastFailure - failingSince < Math.min(leastSpan, disableAfter * day))
        continue
      scheduler.disable(run.endpoint.ref, `${disableAfter} days without a success`)
    }
  }

  async function sumDay(): Promise<void> {
    if (stopped || !settings().hostEvents.includes('daily')) return
    const own = Array.from(scheduler.endpoints, ({ endpoint }) => endpoint).filter(({ audience }) => audience === 'integration')
    const operator = await openOperator()
    try {
      for (const [network_id, endpoints] of Map.groupBy(own, (endpoint) => endpoint.network_id)) {
        const slots = await operator.slots(network_id, timeline() - day, day, mostSummed)
        for (const { id: endpoint_id } of endpoints) {
          const mine = slots.filter((slot) => slot.endpoint_id === endpoint_id)
          const sum = (of: 'delivered' | 'failed'): number => mine.reduce((total, slot) => total + slot[of], 0)
          const text = `in the last 24 hours ${counted(sum('delivered'), 'delivery', 'deliveries')} arrived, and ${sum('failed')} failed at their latest attempt`
          if (mine.length > 0) scheduler.announce({ kind: 'endpoint.day', network_id, endpoint_id, event_id: null, text })
        }
      }
    } finally {
      await operator.close()
    }
  }

  // Off the full hour, when everybody else's work begins too.
  const ends = [
    doRegularly('13 * * * *', purge, (error) => events.onFault('old deliveries cannot be removed', error)),
    doRegularly('1 0 * * *', sumDay, (error) => events.onFault('the sums of the day cannot be reported', error)),
    doRegularly('*/10 * * * *', giveUp, (error) => events.onFault('failing endpoints cannot be disabled', error)),
  ]
  return {
    purge,
    giveUp,
    sumDay,
    async stop() {
      stopped = true
      for (const end of ends) end()
      await running
    },
  }
}
