/**
 * The one door through which the host's calls change keys, endpoints and networks. Each change comes with its lines of the
 * audit, and both are written in one transaction.
 */
import type { Chance } from '../../base/chance.ts'
import { type Clock, isoTime } from '../../base/clock.ts'
import { idGenerator } from '../../base/ids.ts'
import type { Emitter } from '../../call.ts'
import type { EventName } from '../../events/catalogue.ts'
import type { Emission } from '../../events/envelope.ts'
import { makeContext } from '../../kernel/make-call.ts'
import { recordHistory } from '../../kernel/member-history.ts'
import { actorOf } from '../../kernel/pipeline.ts'
import type { Transactions } from '../../kernel/transactions.ts'
import type { Settings } from '../../settings.ts'
import type { HostTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import type { NetworkRow } from '../../storage/tables/administration.ts'
import { type Actor, type AuditLine, actorText, addLine, hostActor } from './line.ts'

/** The result of a change, and its lines of the audit: none where nothing that a person configures has changed. */
export interface ChangeResult<T> {
  readonly result: T
  readonly audit: readonly AuditLine[]
}

export interface ChangeOptions {
  /** Makes the ids of lines that are not of this moment. */
  readonly lineId?: (() => Id) | undefined
  /** Whether it is made while the network is read-only, too: lines about what only reads, and what a relay needs. */
  readonly isAlways?: boolean
}

/** Changes of one actor. */
export interface Changes {
  /**
   * Runs a change in a transaction of a network, with its lines of the audit.
   * @throws ApiError 422 when a unique key is taken, 503 when the network is read-only or the storage is in trouble
   */
  change<T>(network_id: Id, now: string, work: (tx: HostTx) => Promise<ChangeResult<T>>, how?: ChangeOptions): Promise<T>
  /**
   * The same by the rules of the operations, with their events. The network's first host counts as the member who acts.
   * @throws ApiError as the rules do
   */
  act<T>(network: NetworkRow, work: (call: Emitter<EventName>) => Promise<ChangeResult<T>>): Promise<T>
  readonly read: Transactions['read']
  readonly newId: Transactions['newId']
  readonly walks: Transactions['walks']
}

/**
 * Ids of lines, without chance: the values of a seed stay as they are for everything else. If two processes draw the same one, a
 * transaction runs again.
 */
export const lineIds = (clock: Clock, chance: Chance): (() => Id) => idGenerator(clock, { ...chance, below: () => 0 })

/** The actor as the history of members names them: no one where the host acts for itself. */
export const historyActor = ({ actor }: Actor): string | null => (actor === hostActor.actor ? null : actorText(actor))

/** @param newLineId makes the ids of lines; see `lineIds` */
export function changesOf(
  settings: Settings,
  { write, read, newId, walks }: Transactions,
  newLineId: () => Id,
  by: Actor,
): Changes {
  async function withLines<T>(tx: HostTx, now: string, { result, audit }: ChangeResult<T>, lineId = newLineId): Promise<T> {
    for (const line of audit) await addLine(tx, lineId(), now, by, line)
    return result
  }
  return {
    read,
    newId,
    walks,
    change: (network_id, now, work, { lineId, isAlways } = {}) =>
      write(network_id, now, async (tx) => withLines(tx, now, await work(tx), lineId), isAlways),
    act(network, work) {
      const now = isoTime(settings.clock.now())
      return write(network.id, now, async (tx, emit) => {
        const principal = await actorOf(tx, { as: undefined })
        const context = makeContext(settings, { tx, network, principal, now, newId })
        const emissions: Emission[] = []
        const before = tx.changes
        const changed = await work({
          ...context,
          emit: (name, payload, ...[change]) => emissions.push({ name, payload, change }),
        })
        // As for an operation: without a change there are no events.
        const sent = tx.changes === before ? [] : emissions
        for (const emission of sent) emit(emission)
        // A line about the member says it better.
        if (!changed.audit.some(({ subject }) => subject.type === 'member'))
          await recordHistory(tx, sent, principal, historyActor(by), context.stamp)
        return withLines(tx, now, changed)
      })
    },
  }
}
