/**
 * The one door through which the host's calls change keys, endpoints and networks. Each change comes with its lines of the
 * audit, and both are written in one transaction.
 */
import type { Chance } from '../../base/chance.ts'
import type { Clock } from '../../base/clock.ts'
import { idGenerator } from '../../base/ids.ts'
import type { Transactions } from '../../kernel/transactions.ts'
import type { HostTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import { type Actor, type AuditLine, addLine } from './line.ts'

/** The result of a change, and its lines of the audit: none where nothing that a person configures has changed. */
export interface Changed<T> {
  readonly result: T
  readonly audit: readonly AuditLine[]
}

/** Changes of one actor. */
export interface Changes {
  /**
   * Runs a change in a transaction of a network, with its lines of the audit.
   * @param lineId makes the ids of lines that are not of this moment
   * @throws ApiError 422 when a unique key is taken, 503 when the storage is in trouble
   */
  change<T>(network_id: Id, now: string, work: (tx: HostTx) => Promise<Changed<T>>, lineId?: () => Id): Promise<T>
  readonly read: Transactions['read']
  readonly newId: Transactions['newId']
}

/**
 * Ids of lines, without chance: the values of a seed stay as they are for everything else. If two processes draw the same one, a
 * transaction runs again.
 */
export const lineIds = (clock: Clock, chance: Chance): (() => Id) => idGenerator(clock, { ...chance, below: () => 0 })

/** @param newLineId makes the ids of lines; see `lineIds` */
export const changesOf = ({ write, read, newId }: Transactions, newLineId: () => Id, by: Actor): Changes => ({
  read,
  newId,
  change: (network_id, now, work, lineId = newLineId) =>
    write(network_id, now, async (tx) => {
      const { result, audit } = await work(tx)
      for (const line of audit) await addLine(tx, lineId(), now, by, line)
      return result
    }),
})
