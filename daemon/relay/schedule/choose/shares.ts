/**
 * The shares of the slots, so that hanging receivers do not keep the others waiting.
 *
 * Terms
 * - **Slot**: one of the attempts that may be in flight over all endpoints, `maxInFlight`.
 * - **Standing** of an endpoint: how quickly it responds (`attempt-health.ts`).
 *
 * Limits follow from what is free. A network alone may have nearly all slots. Several that want all of them get about the same
 * number each. A rest stays free for any network that comes next.
 */
import { type Standing, standings } from '../endpoint/attempt-health.ts'

/** The holder of a share: the endpoint's network, and its standing when the attempt began. */
export interface Holder {
  readonly network: string
  readonly standing: Standing
}

export interface Shares {
  /** Whether any endpoint of this standing may have a slot. */
  open(standing: Standing): boolean
  /** Whether this one may have a slot. */
  allows(holder: Holder): boolean
  take(holder: Holder): void
  giveBack(holder: Holder): void
  readonly used: number
  clear(): void
}

/** This part of the slots is for endpoints of a better standing only. */
const reserved: { readonly [K in Standing]: number } = { quick: 0, slow: 1 / 4, doubtful: 1 / 2 }
/** A network may have so many times what is free: 7/8 of the slots when no other network has one. */
const perFree = 7
/** Likewise for those of its endpoints that are not quick, and what is free for their standing. */
const perFreeReserved = 3

type Counts = Record<Standing, number>
const none = (): Counts => ({ quick: 0, slow: 0, doubtful: 0 })
/** Those of this standing or a worse one. */
const upTo = (standing: Standing, { quick, slow, doubtful }: Counts): number =>
  doubtful + (standing === 'doubtful' ? 0 : slow) + (standing === 'quick' ? quick : 0)

/** @param slots how many there are, read again at each use */
export function createShares(slots: () => number): Shares {
  const ofNetwork = new Map<string, Counts>()
  let all = none()

  const roomFor = (standing: Standing): number => slots() - Math.floor(slots() * reserved[standing]) - upTo(standing, all)
  /** The free slots of this standing: it needs room among the better ones too. */
  const freeFor = (standing: Standing): number => Math.min(...standings.slice(0, standings.indexOf(standing) + 1).map(roomFor))

  return {
    open: (standing) => freeFor(standing) > 0,
    allows({ network, standing }) {
      const free = freeFor(standing)
      if (free < 1) return false
      const held = ofNetwork.get(network)
      if (!held) return true
      const inAll = upTo('quick', held)
      if (inAll > 0 && inAll >= perFree * roomFor('quick')) return false
      const alike = upTo(standing, held)
      return standing === 'quick' || alike === 0 || alike < perFreeReserved * free
    },
    take({ network, standing }) {
      const held = ofNetwork.get(network) ?? none()
      ofNetwork.set(network, held)
      held[standing]++
      all[standing]++
    },
    giveBack({ network, standing }) {
      const held = ofNetwork.get(network)
      if (!held) return
      all[standing]--
      held[standing]--
      if (upTo('quick', held) === 0) ofNetwork.delete(network)
    },
    get used() {
      return upTo('quick', all)
    },
    clear() {
      ofNetwork.clear()
      all = none()
    },
  }
}
