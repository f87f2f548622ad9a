/** Deliveries that become due again, at a pace, in the background: begun, watched and stopped. */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { CappedCount, DeliveryRow, ResendProgress } from '../../../lib/relay/relay-admin.ts'
import { systemClock } from '../clock.ts'
import type { DeliverySearch, OperatorStore } from '../store/operator/operator-store.ts'

/** Resends that are remembered, and milliseconds for which. */
const mostRemembered = 100
const rememberedMs = 60 * 60 * 1000
/** Deliveries that become due in one transaction, between which running relays have their turn. */
const mostAtOnce = 1000

export interface Resending {
  readonly network_id: string | undefined
  readonly searches: readonly DeliverySearch[]
  readonly of: CappedCount
  readonly limit: number
  /** All become due together without it. */
  readonly perSecond: number | undefined
  /** Records all times at once, instead of the next second's: it cannot be stopped, and ends immediately. */
  readonly ahead: boolean
  /** Called after each part with the deliveries that are due again. */
  readonly onPart?: (again: readonly DeliveryRow[], progress: ResendProgress) => void
}

interface Resend extends Resending {
  readonly began: number
  readonly finished: Promise<void>
  /** The one that it is about, else those that it has reached. */
  readonly networks: Set<string>
  progress: ResendProgress
  stopped: boolean
}

export interface ResendsParts {
  readonly store: () => Promise<OperatorStore>
  readonly now: () => number
  readonly wake: () => void
}

export interface Resends {
  /** @throws Error when too many run already */
  begin(resending: Resending): Pick<Resend, 'progress' | 'finished'>
  progressOf(network: string | undefined, id: string): ResendProgress | undefined
  stop(network: string | undefined, id: string): ResendProgress | undefined
  networksOf(network: string | undefined, id: string): readonly string[]
  /** Stops all of them. */
  end(): void
}

const waitFor = (milliseconds: number) => new Promise<void>((resolve) => void systemClock.timer(milliseconds, resolve))

export function createResends({ store, now, wake }: ResendsParts): Resends {
  const resends = new Map<string, Resend>()
  let ending = false

  const goesOn = ({ stopped }: Resend): boolean => !stopped && !ending

  async function run(resend: Resend): Promise<void> {
    const { searches, limit, perSecond = Number.POSITIVE_INFINITY, ahead } = resend
    const size = ahead ? mostAtOnce : Math.max(1, Math.min(mostAtOnce, Math.floor(perSecond)))
    const opened = await store()
    let [left, from] = [limit, now()]

    async function again(some: readonly DeliveryRow[]): Promise<void> {
      if (!ahead) from = Math.max(from, now())
      const due = some.map(({ id }, at) => ({ delivery: Number(id), due: Math.floor(from + (at / perSecond) * 1000) }))
      const done = new Set(await opened.makeDue(due))
      for (const { network_id } of some) resend.networks.add(network_id)
      wake()
      resend.progress = { ...resend.progress, done: resend.progress.done + done.size }
      resend.onPart?.(
        some.filter(({ id }) => done.has(Number(id))),
        resend.progress,
      )
      from += (some.length / perSecond) * 1000
      while (!ahead && goesOn(resend) && now() < from) await waitFor(Math.min(1000, from - now()))
    }

    for (const search of searches)
      for await (const { found } of opened.walk(search, 'ASC')) {
        const deliveries = found.filter(({ state }) => search.id !== undefined || state !== 'pending').slice(0, left)
        left -= deliveries.length
        for (let place = 0; place < deliveries.length && goesOn(resend); place += size)
          await again(deliveries.slice(place, place + size))
        if (left === 0 || !goesOn(resend)) break
        await setImmediate()
      }
    resend.progress = { ...resend.progress, state: goesOn(resend) ? 'done' : 'stopped' }
  }

  function find(network: string | undefined, id: string): Resend | undefined {
    const resend = resends.get(id)
    const isOfNetwork = network === undefined || resend?.network_id === network
    return resend && isOfNetwork && systemClock.monotonic() - resend.began < rememberedMs ? resend : undefined
  }

  return {
    begin(resending) {
      const began = systemClock.monotonic()
      for (const [id, resend] of resends)
        if (began - resend.began >= rememberedMs || (resends.size >= mostRemembered && resend.progress.state !== 'running'))
          resends.delete(id)
      if (resends.size >= mostRemembered) throw new Error('too many resends run already')
      const id = randomUUID()
      const { promise: finished, resolve, reject } = Promise.withResolvers<void>()
      const progress = { id, state: 'running', done: 0, of: resending.of, started_at: new Date(now()).toISOString() } as const
      const { network_id } = resending
      const networks = new Set(network_id === undefined ? [] : [network_id])
      const resend: Resend = { ...resending, began, finished, networks, stopped: false, progress }
      resends.set(id, resend)
      run(resend).then(resolve, (error: unknown) => {
        resend.progress = { ...resend.progress, state: 'failed' }
        reject(error)
      })
      finished.catch(() => undefined)
      return resend
    },
    networksOf: (network, id) => [...(find(network, id)?.networks ?? [])],
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
