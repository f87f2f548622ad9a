/**
 * Notifies listeners of a channel that something has changed. A hint: a listener that misses it finds the change by polling.
 */

import type { PgPool } from './connection.ts'
import { holdClient } from './hold.ts'
import { send } from './wire/send.ts'

const connectTimeoutMs = 1_000
/** Milliseconds in which many changes share one notification. */
const interval = 20

export interface Notifier {
  notify(): void
  /** Resolves when nothing is being sent any more. */
  settled(): Promise<void>
}

/** Not by NOTIFY in the transaction that it is about: that would make commits wait for each other. */
export function notifierOver(pool: PgPool, channel: string): Notifier {
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<void> = Promise.resolve()

  async function sendNow(): Promise<void> {
    const { client, release } = await holdClient(pool, connectTimeoutMs)
    release(
      await send(client, `NOTIFY "${channel}"`).then(
        () => false,
        () => true,
      ),
    )
  }

  return {
    notify() {
      timer ??= setTimeout(() => {
        timer = undefined
        sending = sendNow().catch(() => undefined)
      }, interval).unref()
    },
    async settled() {
      clearTimeout(timer)
      await sending
    },
  }
}
