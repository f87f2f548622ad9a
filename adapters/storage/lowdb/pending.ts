/**
 * The way of records from a durable document into the outbox. They stay in the document until they are there, so an outbox
 * that fails delays them and loses none.
 */
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import type { OutboxWriter } from '../../../lib/storage/contract.ts'

type Commits = readonly (readonly OutboxRecord[])[]

export interface Pending {
  /** Commits that are not appended yet, oldest first. */
  readonly commits: Commits
  /** Takes records that are durable in the document now. */
  add(commits: Commits): void
  /** Appends what there is. Never rejects: what fails is tried again later. */
  flush(): Promise<void>
  /** No more tries by itself. */
  stop(): void
}

/**
 * @param outbox where they go
 * @param options `retryMs`: after a failure, milliseconds until the next try by itself; `warn`: called once per outage
 */
export function pendingRecords(
  outbox: OutboxWriter,
  { retryMs, warn }: { readonly retryMs: number; readonly warn: (message: string) => void },
): Pending {
  let commits: Commits = []
  let running: Promise<void> | undefined
  let failing = false
  let timer: ReturnType<typeof setTimeout> | undefined

  async function run() {
    clearTimeout(timer)
    try {
      while (commits.length > 0) {
        const taken = commits
        await outbox.append(taken)
        commits = commits.slice(taken.length)
      }
      failing = false
    } catch (error) {
      if (!failing) warn(`the outbox refuses events; they wait and are retried, none is lost: ${messageOf(error)}`)
      failing = true
      timer = setTimeout(flush, retryMs).unref()
    }
    running = undefined
  }

  function flush(): Promise<void> {
    // In a microtask, so that `running` is set before `run` can end and unset it.
    running ??= Promise.resolve().then(run)
    return running
  }

  return {
    get commits() {
      return commits
    },
    add(added) {
      commits = [...commits, ...added]
    },
    flush,
    stop() {
      clearTimeout(timer)
    },
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
