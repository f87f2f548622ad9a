/** Snapshots that stay open between calls, each a transaction that only reads. */
import { randomUUID } from 'node:crypto'
import type { HeldSnapshots, Storage, Tx } from '../../../lib/storage/contract.ts'

/** One takes a connection, and keeps the database from clearing up what was changed since. */
const mostHeld = 2
/** Milliseconds, as a whole and between two uses. */
const [longestMs, idleMs] = [600_000, 20_000]

interface Held {
  readonly tx: Promise<Tx>
  /** Begins the time until the next use. */
  rest(): void
  leave(): void
}

export function heldSnapshots(transaction: Storage['transaction']): HeldSnapshots & { close(): void } {
  const open = new Map<string, Held>()
  return {
    hold() {
      if (open.size >= mostHeld) return undefined
      const name = randomUUID()
      const over = Promise.withResolvers<void>()
      let idle: ReturnType<typeof setTimeout> | undefined
      const leave = () => {
        open.delete(name)
        clearTimeout(late)
        clearTimeout(idle)
        over.resolve()
      }
      const late = setTimeout(leave, longestMs)
      const rest = () => {
        clearTimeout(idle)
        idle = setTimeout(leave, idleMs)
      }
      const tx = new Promise<Tx>((begun, failed) => {
        const work = (given: Tx) => {
          begun(given)
          return over.promise
        }
        transaction(work, { readOnly: true }).catch(failed)
      })
      open.set(name, { tx, rest, leave })
      return name
    },
    tx(name) {
      const held = open.get(name)
      held?.rest()
      return held?.tx
    },
    leave: (name) => open.get(name)?.leave(),
    close() {
      for (const { leave } of [...open.values()]) leave()
    },
  }
}
