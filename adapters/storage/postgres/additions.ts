/**
 * Transactions that only add rows share commits.
 *
 * Terms
 * - **Addition**: work that reads, locks with `share`, inserts and appends. None of these keeps another addition from doing the
 *   same. So two that are one transaction do nothing that two concurrent ones could not do.
 * - **Group**: additions that share one BEGIN and one COMMIT. Their statements travel together.
 * - **To leave** a group: to be run again alone, from the start.
 *
 * A group waits for no other transaction. Work that would have to leaves it, and so does work that does anything else. If work
 * fails or leaves that has added a row, the group is undone, and each of its works is run again alone.
 */
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import { isStorageError, type Tx } from '../../../lib/storage/contract.ts'
import { type Beginning, committed, undo } from '../../sql/postgres/transaction.ts'
import type { Statement } from '../../sql/statement.ts'
import { inSession, type Rows, type Writer } from '../sql/session.ts'
import { gathering, gatheringInserts } from './gathering.ts'
import { transactionOn } from './transaction.ts'
import type { Language } from './transaction-sender.ts'

/** Groups at a time: while PostgreSQL works for one, this process works for the other. Later additions wait for the next one. */
const maxGroups = 2
/** More additions do not wait for each other. Callers who ask again with each answer fill both groups. */
const maxInGroup = 16
/** A group begins after as many turns of the event loop in which no addition arrives: callers with an answer ask again in these. */
const quietTurns = 2

export interface AdditionOptions {
  /** Begins a transaction. @throws StorageError */
  begin(): Promise<Beginning>
  readonly language: Language
  /** Runs work in a separate transaction. @throws what `work` throws, StorageError */
  alone<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Called after the commit of a group that had records for the outbox. */
  appended(): void
}

/** Work that is likely to be an addition. */
interface Addition {
  /** Runs it in a group, and returns the function that reports its end. It never rejects. */
  run(part: Part): Promise<Ended>
  /** Runs it alone, and reports its end. */
  runAlone(): void
  reject(error: unknown): void
}

interface Ended {
  readonly failed: boolean
  readonly tell: () => void
}

/** One addition's part of a group. */
interface Part extends Writer {
  isLeaving(): boolean
  /** Whether it has added rows, or may have. */
  hasAdded(): boolean
  records(): readonly OutboxRecord[]
}

/** @returns runs work in a transaction, with others in one commit where that is possible */
export function groupedAdditions({ begin, language, alone, appended }: AdditionOptions) {
  const waiting: Addition[] = []
  let groups = 0
  let isGathering = false

  /** Begins the next group, once it is full or nothing more arrives. */
  function gather(): void {
    if (isGathering || groups === maxGroups || waiting.length === 0) return
    isGathering = true
    awaitMore(quietTurns)
  }

  /** @param quiet turns without an addition for which the group waits still */
  function awaitMore(quiet: number): void {
    const before = waiting.length
    setImmediate(() => {
      const left = waiting.length > before ? quiet : quiet - 1
      if (left > 0 && waiting.length < maxInGroup) return awaitMore(left)
      isGathering = false
      groups++
      void runGroup(waiting.splice(0, maxInGroup)).then(() => {
        groups--
        gather()
      })
      gather()
    })
  }

  /** Runs a group to its end. It never rejects. */
  async function runGroup(additions: readonly Addition[]): Promise<void> {
    let tellAll: () => void
    try {
      tellAll = await inGroup(await begin(), additions)
    } catch (error) {
      // A database that is full or away is so for each of them. Anything else may be the fault of one.
      const isCommon = isStorageError(error) && error.code !== 'conflict'
      for (const addition of additions)
        if (isCommon) addition.reject(error)
        else addition.runAlone()
      return
    }
    tellAll()
  }

  /**
   * @returns reports the ends of the works, and runs those alone that have left
   * @throws the reason for which the group was undone
   */
  async function inGroup({ client, batch, begun }: Beginning, additions: readonly Addition[]): Promise<() => void> {
    const transaction = transactionOn({ client, begun, ...(batch ? { batch } : {}) }, language)
    const read = gathering(async (statement) => transaction.query(statement))
    const add = gatheringInserts(
      async (statement) => transaction.insert(statement),
      async (statement) => transaction.query(statement),
    )
    const works = additions.map((addition) => {
      const part = partOf(read, add)
      return { addition, part, ending: addition.run(part) }
    })
    const ended = await Promise.all(works.map(async (work) => ({ ...work, ...(await work.ending) })))
    const held = await begun
    try {
      const [gone, staying] = [ended.filter(isGone), ended.filter((each) => !isGone(each))]
      if (gone.some(({ part }) => part.hasAdded()))
        throw new Error('a transaction of the group failed after it had inserted rows')
      await transaction.append(staying.flatMap(({ part }) => part.records()))
      transaction.check()
      await committed(transaction.endWith('COMMIT'), held)
    } catch (error) {
      await undo(held, error)
      throw error
    }
    held.release()
    if (transaction.appended()) appended()
    return () => {
      for (const { addition, part, tell } of ended)
        if (part.isLeaving()) addition.runAlone()
        else tell()
    }
  }

  return <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      waiting.push({
        async run(part) {
          try {
            const value = await inSession(part, part, language.statements, work)
            return { failed: false, tell: () => resolve(value) }
          } catch (error) {
            return { failed: true, tell: () => reject(error) }
          }
        },
        runAlone: () => void alone(work).then(resolve, reject),
        reject,
      })
      gather()
    })
}

/** Whether work has nothing that should be committed. */
const isGone = ({ part, failed }: { readonly part: Part; readonly failed: boolean }): boolean => part.isLeaving() || failed

/**
 * @param read runs a statement that reads
 * @param add runs an insert, and returns whether the row went in
 */
function partOf(read: (statement: Statement) => Rows | Promise<Rows>, add: (statement: Statement) => Promise<boolean>): Part {
  let isLeaving = false
  let added = 0
  let records: readonly OutboxRecord[] = []

  function leave(): never {
    isLeaving = true
    throw new Error('this work cannot run in a shared commit; it runs again in its own')
  }

  /** The statement as it waits for nobody. */
  function withoutWaiting(statement: Statement): Statement {
    if (isLeaving || statement.mayCollide || statement.locks === 'update') leave()
    return statement.skipLocked === undefined ? statement : { ...statement, sql: statement.skipLocked }
  }

  return {
    isLeaving: () => isLeaving,
    hasAdded: () => added > 0,
    records: () => records,
    native: () => leave(),
    async query(statement) {
      if (statement.writes !== undefined) leave()
      const rows = await read(withoutWaiting(statement))
      // It may be locked, or missing.
      if (statement.locks && rows.length === 0) leave()
      return rows
    },
    attempt: async () => leave(),
    async insert(statement) {
      const asked = withoutWaiting(statement)
      // Until the answer is here, it may have.
      added++
      const isAdded = await add(asked)
      if (!isAdded) added--
      return isAdded
    },
    append(given) {
      if (isLeaving) leave()
      records = [...records, ...given]
    },
  }
}
