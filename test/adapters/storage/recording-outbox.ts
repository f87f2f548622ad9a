import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import type { OutboxWriter } from '../../../lib/storage/contract.ts'

/** An outbox that keeps what it is given in an array, and can be told to fail. */
export interface RecordingOutbox extends OutboxWriter {
  readonly commits: (readonly OutboxRecord[])[]
  /** Every record, in order; the shape that the storage suite needs. */
  readonly records: () => Promise<readonly OutboxRecord[]>
  /** Rejects every append with this, until it is undefined again. */
  failure: Error | undefined
  closed: boolean
}

/** An empty one. */
export function recordingOutbox(): RecordingOutbox {
  const outbox: RecordingOutbox = {
    commits: [],
    records: async () => outbox.commits.flat(),
    failure: undefined,
    closed: false,
    async append(commits) {
      if (outbox.failure) throw outbox.failure
      outbox.commits.push(...commits)
    },
    async close() {
      outbox.closed = true
    },
  }
  return outbox
}
