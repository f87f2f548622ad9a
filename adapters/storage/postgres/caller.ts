/** Calls out on a channel that something is there. A hint: whoever misses it finds out by looking. */
import { type PgPool, send } from './client.ts'
import { holdClient } from './pool.ts'

/** Milliseconds to wait for a connection to call on. */
const patience = 1_000
/** Milliseconds in which many reasons to call share one call. */
const interval = 20

export interface Caller {
  call(): void
  /** Resolves when nothing is being called out any more. */
  settled(): Promise<void>
}

/** Not by NOTIFY in the transaction that it is about: that would make commits wait for each other. */
export function callerOver(pool: PgPool, channel: string): Caller {
  let timer: ReturnType<typeof setTimeout> | undefined
  let calling: Promise<void> = Promise.resolve()

  async function notify(): Promise<void> {
    const { client, release } = await holdClient(pool, patience)
    release(
      await send(client, `NOTIFY "${channel}"`).then(
        () => false,
        () => true,
      ),
    )
  }

  return {
    call() {
      timer ??= setTimeout(() => {
        timer = undefined
        calling = notify().catch(() => undefined)
      }, interval).unref()
    },
    async settled() {
      clearTimeout(timer)
      await calling
    },
  }
}
