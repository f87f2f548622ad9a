/** Finds commits and damage in the bytes of a segment. No I/O. */
import { crc32 } from 'node:zlib'
import type { CheckedRecords, Unusable } from '../../lib/outbox/check.ts'
import { decodeLine, isDamaged, maxLineBytes, partOf } from '../../lib/outbox/line.ts'
import type { OutboxRecord } from '../../lib/outbox/record.ts'
import { lineStart } from '../../lib/outbox/text.ts'

/** Bytes that are no commit, or a whole line with a record that cannot be used. */
export interface DamagedBytes extends Partial<Unusable> {
  /** Where they begin and end in the scanned bytes. */
  readonly start: number
  readonly end: number
  readonly reason: string
}

export interface Scan {
  /** The records of each line: a commit, or a part of one. */
  readonly commits: readonly (readonly OutboxRecord[])[]
  readonly damage: readonly DamagedBytes[]
  /** Bytes that are done with, as commits or as damage. */
  readonly consumed: number
  /**
   * The first line of a large commit, after the settled bytes: the reader must first find out whether its last line is there.
   */
  readonly opens?: { readonly commit: string; readonly start: number; readonly end: number }
}

const newline = 0x0a
/** How every line begins, and what no line has inside. So after a damaged newline the next commit is found here. */
const mark = Buffer.from(lineStart)
/** Damage is searched for at most this many swallowed lines, so that hostile bytes cannot make the search quadratic. */
const maxMarks = 64

/**
 * The bytes after the scanned ones: `more` of the segment, the end of a `finished` segment, or the present end of a `growing`
 * one. An unfinished line at the end of a finished segment is damage; in a growing one the reader waits for it.
 */
export type Next = 'more' | 'finished' | 'growing'

/**
 * Scans from a line's beginning.
 * @param bytes from some line's beginning on
 * @param next what follows them
 * @param isWhole whether the last line of a large commit is known to be there
 */
export function scan(bytes: Buffer, next: Next, isWhole: (commit: string) => boolean = () => true): Scan {
  const commits: (readonly OutboxRecord[])[] = []
  const damage: DamagedBytes[] = []
  let consumed = 0
  /** Damage at the very end of a living writer's file may be a write that is only half visible yet. */
  let doubtful: DamagedBytes | undefined

  const keep = ({ records, unusable }: CheckedRecords, start: number, end: number): void => {
    commits.push(records)
    for (const each of unusable) damage.push({ ...each, start, end: end + 1 })
  }

  const take = (start: number, end: number): void => {
    const line = decodeLine(bytes.subarray(start, end), crc32)
    if (doubtful) damage.push(doubtful)
    doubtful = undefined
    if (!isDamaged(line)) keep(line, start, end)
    else {
      const swallowed = findSwallowed(bytes, start, end)
      const whole = { start, end: end + 1, reason: line.reason }
      if (swallowed) {
        damage.push({ ...whole, end: swallowed.start })
        keep(swallowed.line, swallowed.start, end)
      } else if (end + 1 < bytes.length || next !== 'growing') damage.push(whole)
      else doubtful = whole
    }
    if (!doubtful) consumed = end + 1
  }

  let start = 0
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
    const part = partOf(bytes.subarray(start, end))
    if (part && part.number === 0 && !isWhole(part.commit) && !isDamaged(decodeLine(bytes.subarray(start, end), crc32))) {
      if (doubtful) damage.push(doubtful)
      return { commits, damage, consumed: start, opens: { commit: part.commit, start, end: end + 1 } }
    }
    take(start, end)
    start = end + 1
  }
  if (doubtful) return { commits, damage, consumed }
  const rest = bytes.length - start
  if (rest > 0 && (next === 'finished' || rest > maxLineBytes)) {
    damage.push({ start, end: bytes.length, reason: unfinished(bytes.subarray(start), next) })
    consumed = bytes.length
  }
  return { commits, damage, consumed }
}

function unfinished(bytes: Buffer, next: Next): string {
  if (next !== 'finished') return `longer than ${maxLineBytes} bytes`
  return bytes.every((byte) => byte === 0) ? 'filled with zeros to the end' : 'ends in the middle of a line'
}

function findSwallowed(bytes: Buffer, start: number, end: number): { start: number; line: CheckedRecords } | undefined {
  let at = start
  for (let tries = 0; tries < maxMarks; tries++) {
    at = bytes.indexOf(mark, at + 1)
    if (at === -1 || at >= end) return undefined
    const line = decodeLine(bytes.subarray(at, end), crc32)
    if (!isDamaged(line)) return { start: at, line }
  }
  return undefined
}
