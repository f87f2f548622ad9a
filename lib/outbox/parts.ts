/** A commit of any size, in parts of a size that readers and writers hold in memory. */
import type { OutboxRecord } from './record.ts'

/** A part is full from so many characters on; one record alone may be longer. */
const partLength = 128 * 1024

/** The characters of a record: the body of an event, and little else. */
export const lengthOf = (record: OutboxRecord): number => (record.kind === 'event' ? record.body.length : 0) + 500

/** The records in order, in parts; a small commit is one part. */
export function* partsOf(records: Iterable<OutboxRecord>): Generator<readonly OutboxRecord[], void> {
  let part: OutboxRecord[] = []
  let length = 0
  for (const record of records) {
    if (length >= partLength) {
      yield part
      part = []
      length = 0
    }
    part.push(record)
    length += lengthOf(record)
  }
  if (part.length > 0) yield part
}
