/**
 * Who may have how many of the slots, so that receivers that hang do not keep the others waiting.
 *
 * Terms
 * - **Slot**: one of the attempts that may be in flight over all endpoints, `maxInFlight`.
 * - **Standing** of an endpoint: `quick` if its last attempt was over within a second, whatever came of it. Otherwise `slow`,
 *   as is an endpoint that has not been tried yet.
 *
 * Limits follow from what is free. A network alone may have nearly all slots; of several that want all of them each gets
 * about the same; and something is left for the next one without anybody knowing beforehand who that will be.
 */

export type Standing = 'quick' | 'slow'

/** What has a share: the endpoint's network, and its standing when the attempt began. */
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
  /** Slots taken. */
  readonly taken: number
  clear(): void
}

/** This part of the slots is for quick endpoints only. */
const reserve = 1 / 4
/** A network may have so many times what is free: 7/8 of the slots when nobody else has any. */
const perFree = 7
/** Its slow endpoints may have so many times what is free for slow ones: 9/16 of the slots when nobody else has any. */
const slowPerFree = 3

/** @param slots how many there are, read anew at each use */
export function createShares(slots: () => number): Shares {
  const ofNetwork = new Map<string, { all: number; slow: number }>()
  let taken = 0
  let slow = 0

  const free = (): number => slots() - taken
  const freeForSlow = (): number => Math.min(free(), slots() - Math.floor(slots() * reserve) - slow)

  return {
    open: (standing) => (standing === 'slow' ? freeForSlow() : free()) > 0,
    allows({ network, standing }) {
      const held = ofNetwork.get(network) ?? { all: 0, slow: 0 }
      if (free() < 1 || (held.all > 0 && held.all >= perFree * free())) return false
      if (standing === 'quick') return true
      return freeForSlow() > 0 && (held.slow === 0 || held.slow < slowPerFree * freeForSlow())
    },
    take({ network, standing }) {
      const held = ofNetwork.get(network) ?? { all: 0, slow: 0 }
      ofNetwork.set(network, held)
      held.all++
      taken++
      if (standing === 'quick') return
      held.slow++
      slow++
    },
    giveBack({ network, standing }) {
      const held = ofNetwork.get(network)
      if (!held) return
      taken--
      if (--held.all === 0) ofNetwork.delete(network)
      if (standing === 'quick') return
      held.slow--
      slow--
    },
    get taken() {
      return taken
    },
    clear() {
      ofNetwork.clear()
      taken = 0
      slow = 0
    },
  }
}
