/**
 * Cuts read records into pieces that take little time each: one event may go to thousands of endpoints.
 *
 * Only a reading of events alone is cut. Its position goes with the last piece, so after a crash all of it is read again, and
 * events that are there are passed over. A removed endpoint that is removed again would take the deliveries of a later event
 * along.
 */
import type { EventRecord } from '../../../lib/outbox/record.ts'
import type { Reading } from '../../../lib/outbox/source.ts'

/**
 * @param fanOut how many endpoints an event goes to
 * @param maxDeliveries of a piece; one event makes a piece, however many it has
 */
export function piecesOf(reading: Reading, fanOut: (event: EventRecord) => number, maxDeliveries: number): readonly Reading[] {
  const events: EventRecord[] = []
  for (const record of reading.commits.flat()) {
    if (record.kind !== 'event') return [reading]
    events.push(record)
  }
  const pieces: EventRecord[][] = []
  let room = 0
  for (const event of events) {
    const deliveries = fanOut(event)
    const last = pieces.at(-1)
    if (last && deliveries <= room) last.push(event)
    else pieces.push([event])
    room = (last && deliveries <= room ? room : maxDeliveries) - deliveries
  }
  if (pieces.length < 2) return [reading]
  return pieces.map((piece, place) =>
    place < pieces.length - 1 ? { commits: [piece], positions: {}, damage: [], more: true } : { ...reading, commits: [piece] },
  )
}
