import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import type { OutboxSource } from '../../../lib/outbox/source.ts'

/** Everything that waits in an outbox, which is closed afterwards. */
export async function recordsOf(source: OutboxSource): Promise<readonly OutboxRecord[]> {
  try {
    const records: OutboxRecord[] = []
    for (let positions = {}, more = true; more; ) {
      const reading = await source.read(positions, 1024 * 1024)
      for (const record of reading.commits.flat()) records.push(record)
      positions = { ...positions, ...reading.positions }
      more = reading.more
    }
    return records
  } finally {
    await source.close()
  }
}
