/**
 * Looks names up with the system, few at a time: each takes one of the threads that also access files.
 *
 * A stranger's name may take the system as long as its name server likes. So names that it has never found share one slot. Those that
 * it has found before, which no name server knows, and those of the operator have a slot that they don't have to share.
 */
import { type Clock, systemClock } from '../clock.ts'
import type { Address } from './guard.ts'

const slots = 2
const slotsOfStrangers = 1
/** Milliseconds that a name waits at most: its caller has no time left by then, or very little. */
const longestWait = 10_000
/** Names that were found are remembered, so many. */
const mostKnown = 1000

interface WaitingLookup {
  readonly isKnown: boolean
  readonly start: () => void
}

/** @param find queries the system */
export function systemLookup(
  find: (name: string) => Promise<readonly Address[]>,
  { timer }: Pick<Clock, 'timer'> = systemClock,
): (name: string, isOwn?: boolean) => Promise<readonly Address[]> {
  const known = new Set<string>()
  const underWay = new Map<string, Promise<readonly Address[]>>()
  const waiting = new Set<WaitingLookup>()
  let running = 0
  let strangers = 0

  function startNext(): void {
    if (running >= slots) return
    const all = [...waiting]
    const next = all.find(({ isKnown }) => isKnown) ?? (strangers < slotsOfStrangers ? all[0] : undefined)
    if (!next) return
    waiting.delete(next)
    running++
    if (!next.isKnown) strangers++
    next.start()
  }

  function turn(isKnown: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopWaiting = timer(longestWait, () => {
        waiting.delete(lookup)
        reject(Object.assign(new Error('the system has too many names to look up'), { code: 'EAI_AGAIN' }))
      })
      const lookup: WaitingLookup = {
        isKnown,
        start() {
          stopWaiting()
          resolve()
        },
      }
      waiting.add(lookup)
      startNext()
    })
  }

  async function look(name: string, isKnown: boolean): Promise<readonly Address[]> {
    await turn(isKnown)
    try {
      const addresses = await find(name)
      if (known.size >= mostKnown) known.clear()
      known.add(name)
      return addresses
    } finally {
      running--
      if (!isKnown) strangers--
      startNext()
    }
  }

  return (name, isOwn = false) => {
    const isKnown = isOwn || known.has(name)
    // A stranger may use a name of the operator, too, who must not wait for the stranger's turn.
    const key = `${isKnown} ${name}`
    const before = underWay.get(key)
    if (before) return before
    const looking = look(name, isKnown).finally(() => underWay.delete(key))
    underWay.set(key, looking)
    return looking
  }
}
