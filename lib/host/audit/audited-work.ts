/**
 * Work that shares no transaction with the audit: a line before it, and one after it. So no work goes unseen, and no line claims
 * work that was not done. An intent without a second line is work whose process ended in the middle.
 */
import type { Chance } from '../../base/chance.ts'
import type { Id } from '../../storage/table.ts'
import type { RelayRecord, WorkAction } from './audit.ts'
import type { Details } from './details.ts'

export interface Work {
  readonly network: Id
  readonly action: WorkAction
  readonly subject: RelayRecord['subject']
  /** The wishes of the person. */
  readonly details?: Details
}

export interface WorkParts<T> {
  readonly record: (entry: RelayRecord) => Promise<void>
  readonly chance: Pick<Chance, 'uuid'>
  readonly run: () => Promise<T>
  /** The result on one network, for its line; `undefined` if nothing was done there. */
  readonly done: (result: T, work: Work) => Details | undefined
  /** The part that was done before a failure, for its line. */
  readonly before?: (work: Work) => Details
}

/**
 * Runs work with its lines of the audit.
 * @param works the same work on each of the networks that it concerns
 * @throws what `record` throws, before anything is done; what the work throws
 */
export async function withLines<T>(works: readonly Work[], parts: WorkParts<T>): Promise<T> {
  const { record, run, done, before = () => ({}) } = parts
  const work_id = parts.chance.uuid()
  const failure = ({ network, action, subject }: Work, details: Details) =>
    record({ network, action: 'work.failed', subject, work_id, details: { work: action, ...details } })
  const begun: Work[] = []
  let result: T
  try {
    for (const work of works) {
      const { network, action, subject, details } = work
      await record({ network, action: 'work.requested', subject, work_id, details: { work: action, ...details } })
      begun.push(work)
    }
    result = await run()
  } catch (error) {
    // The failure of the work is the news. Its intent is there in any case.
    for (const work of begun) await failure(work, before(work)).catch(() => undefined)
    throw error
  }
  for (const work of works) {
    const { network, action, subject, details } = work
    const more = done(result, work)
    await (more ? record({ network, action, subject, work_id, details: { ...details, ...more } }) : failure(work, {}))
  }
  return result
}
