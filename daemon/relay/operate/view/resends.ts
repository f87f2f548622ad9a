/** Resends in the background: begun, watched and stopped by the people of one network. */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { CappedCount, ReplayProgress } from '../../../../lib/relay/relay-view.ts'
import { systemClock } from '../../clock.ts'
import type { DeliverySearch, OperatorStore } from '../../store/operator/operator-store.ts'

/** Resends that are remembered, and milliseconds for which. */
const mostRemembered = 100
const rememberedMs = 60 * 60 * 1000

interface Resend {
  readonly network: string
  readonly began: number
  progress: ReplayProgress
  stopped: boolean
}

export interface ResendsParts {
  readonly store: () => Promise<OperatorStore>
  readonly now: () => number
  /** Called after deliveries became due. */
  readonly onDue: () => void
}

export interface Resends {
  /** @throws Error when too many run already */
  begin(network: string, searches: readonly DeliverySearch[], of: CappedCount, perSecond: number): ReplayProgress
  progressOf(network: string, id: string): ReplayProgress | undefined
  stop(network: string, id: string): ReplayProgress | undefined
  /** Stops all of them. */
  end(): void
}

const waitFor = (milliseconds: number) => new Promise<void>((resolve) => void systemClock.timer(milliseconds, resolve))

export function createResends({ store, now, onDue }: ResendsParts): Resends {
  const resends = new Map<string, Resend>()
  let ending = false

  const goesOn = ({ stopped }: Resend): boolean => !stopped && !ending

  /** Makes some due, spread over the second that follows. */
  async function again(resend: Resend, deliveries: readonly number[], perSecond: number): Promise<void> {
    for (let place = 0; place < deliveries.length && goesOn(resend); place += perSecond) {
      const from = now()
      const some = deliveries.slice(place, place + perSecond)
      const due = some.map((delivery, at) => ({ delivery, due: Math.floor(from + (at / perSecond) * 1000) }))
      const done = await (await store()).makeDue(due)
      onDue()
      resend.progress = { ...resend.progress, done: resend.progress.done + done }
      if (some.length === perSecond) await waitFor(1000)
    }
  }

  async function run(resend: Resend, searches: readonly DeliverySearch[], perSecond: number): Promise<void> {
    const opened = await store()
    for (const search of searches)
      for await (const { found } of opened.walk(search, 'ASC')) {
        if (!goesOn(resend)) break
        const deliveries = found.filter(({ state }) => state !== 'pending').map(({ delivery }) => delivery)
        await again(resend, deliveries, perSecond)
        await setImmediate()
      }
    resend.progress = { ...resend.progress, state: goesOn(resend) ? 'done' : 'stopped' }
  }

  function find(network: string, id: string): Resend | undefined {
    const resend = resends.get(id)
    return resend?.network === network && systemClock.monotonic() - resend.began < rememberedMs ? resend : undefined
  }

  return {
    begin(network, searches, of, perSecond) {
      const began = systemClock.monotonic()
      for (const [id, resend] of resends)
        if (began - resend.began >= rememberedMs || (resends.size >= mostRemembered && resend.progress.state !== 'running'))
          resends.delete(id)
      if (resends.size >= mostRemembered) throw new Error('too many resends run already')
      const id = randomUUID()
      const started_at = new Date(now()).toISOString()
      const resend: Resend = { network, began, stopped: false, progress: { id, state: 'running', done: 0, of, started_at } }
      resends.set(id, resend)
      run(resend, searches, perSecond).catch(() => {
        resend.progress = { ...resend.progress, state: 'failed' }
      })
      return resend.progress
    },
    progressOf: (network, id) => find(network, id)?.progress,
    stop(network, id) {
      const resend = find(network, id)
      if (!resend) return undefined
      resend.stopped = true
      if (resend.progress.state === 'running') resend.progress = { ...resend.progress, state: 'stopped' }
      return resend.progress
    },
    end() {
      ending = true
    },
  }
}
