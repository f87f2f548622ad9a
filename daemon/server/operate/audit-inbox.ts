/** Lines that commands of a relay have left next to an outbox directory. They move into the audit before it is read, and now and then. */

import { type TakenLines, takeAuditLines } from '../../../adapters/outbox/audit-inbox.ts'
import { isPostgresAddress } from '../../../adapters/sql/postgres/address.ts'
import { counted } from '../../../lib/base/counted.ts'
import type { HostCalls } from '../../../lib/index.ts'

type Calls = Pick<HostCalls, 'audit' | 'by'>

export interface AuditInbox {
  /** Moves all that waits. It never rejects: a failure is reported, and tried again. */
  take(): Promise<void>
  /** The same calls, whose `audit.list` has every line that was left before. */
  over<C extends Calls>(calls: C): C
}

/** An outbox in a database: commands write into the storage itself. */
const isDirectory = (outbox: string): boolean => !isPostgresAddress(outbox) && !outbox.startsWith('sqlite:')

/**
 * @param outbox the one of the storage
 * @param onRefused is given the files that hold no line of a network here
 */
export function auditInbox(
  community: Calls,
  outbox: string,
  onRefused: (files: TakenLines['refused']) => void,
  onError: (error: unknown) => void,
): AuditInbox {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  function begin(): Promise<void> {
    next = undefined
    running = takeAuditLines(community, outbox)
      .then(({ refused }) => refused.length > 0 && onRefused(refused))
      .then(() => undefined, onError)
      .finally(() => {
        running = undefined
      })
    return running
  }
  const take = async (): Promise<void> => {
    if (!isDirectory(outbox)) return
    // One at a time: two would add a line twice.
    if (!running) return begin()
    // The one that runs may have looked before the last line was left.
    next ??= running.then(begin)
    await next
  }
  function over<C extends Calls>(calls: C): C {
    const { audit, by } = calls
    const list: typeof audit.list = async (query) => {
      await take()
      return audit.list(query)
    }
    return { ...calls, audit: { ...audit, list }, by: (actor: Parameters<typeof by>[0]) => over(by(actor)) }
  }
  return { take, over }
}

/** The sentence about files that were refused, for the operator. */
export const refusedText = (files: readonly string[]): string =>
  `the audit refuses ${counted(files.length, 'line')} of the relay's commands: ${files.slice(0, 3).join(', ')}${files.length > 3 ? ', …' : ''}. Look into them, and remove them`
