/** Regular maintenance: deleting old rows, disabling failing endpoints, returning space. */
import type { RelayContext } from './context.ts'
import { doRegularly } from './regular-work.ts'
import type { Scheduler } from './schedule/scheduler.ts'
import type { RelayStore } from './store/store.ts'

const day = 86_400_000
/** An endpoint is disabled only after failures at least this far apart: one bad hour after a quiet week is not five days. */
const leastSpan = day / 2

export interface MaintenanceParts extends RelayContext {
  readonly store: RelayStore
  readonly scheduler: Scheduler
}

export interface Maintenance {
  /** Removes rows past their retention; other work runs between two parts. */
  purge(): Promise<void>
  /** Disables endpoints that have only failed for days. */
  giveUp(): void
  stop(): Promise<void>
}

/** Starts the maintenance: retention and compaction every hour, endpoints every ten minutes. */
export function startMaintenance(parts: MaintenanceParts): Maintenance {
  const { store, scheduler, timeline, settings, events } = parts
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
      const { failingSince, lastFailure } = run.health
      if (run.state.kind !== 'active' || failingSince === null || lastFailure === null) continue
      if (now - failingSince < disableAfter * day || lastFailure - failingSince < Math.min(leastSpan, disableAfter * day))
        continue
      scheduler.disable(run.endpoint.ref, `${disableAfter} days without a success`)
    }
  }

  // Off the full hour, when everybody else's work begins too.
  const ends = [
    doRegularly('13 * * * *', purge, (error) => events.onFault('old deliveries cannot be removed', error)),
    doRegularly('*/10 * * * *', giveUp, (error) => events.onFault('failing endpoints cannot be disabled', error)),
  ]
  return {
    purge,
    giveUp,
    async stop() {
      stopped = true
      for (const end of ends) end()
      await running
    },
  }
}
