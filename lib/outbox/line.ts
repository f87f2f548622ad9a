/**
 * One commit is one line: `{"crc":"<crc32>","records":[…]}` and a newline. Valid NDJSON, so `jq .records` reads it. The
 * checksum covers every byte of the line after the `crc` member, so a torn or damaged line is known as such.
 */
import { crc32 } from './crc32.ts'
import type { OutboxRecord } from './record.ts'

const opening = '{"crc":"'
/** Length of `{"crc":"01234567",`. */
const headLength = opening.length + 8 + 2
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** The largest line that is written or read, in bytes; a longer one is damage, never an allocation. */
export const maxLineBytes = 16 * 1024 * 1024

/** A line that is not what a writer wrote. `reason` says in words what is wrong with it. */
export interface DamagedLine {
  readonly damaged: true
  readonly reason: string
}

/**
 * The bytes of one commit, newline included.
 * @param records the commit's records, in order
 * @throws RangeError when they come to more than `maxLineBytes`
 */
export function encodeLine(records: readonly OutboxRecord[]): Uint8Array {
  const rest = encoder.encode(`"records":${JSON.stringify(records)}}`)
  const line = new Uint8Array(headLength + rest.length + 1)
  if (line.length > maxLineBytes) throw new RangeError(`a commit of ${line.length} bytes is over the limit of ${maxLineBytes}`)
  const crc = crc32(rest).toString(16).padStart(8, '0')
  encoder.encodeInto(`${opening}${crc}",`, line)
  line.set(rest, headLength)
  line[line.length - 1] = 0x0a
  return line
}

/**
 * The records of one line.
 * @param line its bytes, without the newline
 */
export function decodeLine(line: Uint8Array): readonly OutboxRecord[] | DamagedLine {
  if (line.length > maxLineBytes) return damaged(`longer than ${maxLineBytes} bytes`)
  if (line.length < headLength) return damaged('too short')
  const rest = line.subarray(headLength)
  const head = String.fromCharCode(...line.subarray(0, headLength))
  if (!/^\{"crc":"[0-9a-f]{8}",$/.test(head)) return damaged('does not begin with a checksum')
  if (Number.parseInt(head.slice(opening.length, opening.length + 8), 16) !== crc32(rest))
    return damaged('checksum does not match')
  try {
    const parsed: unknown = JSON.parse(`{${decoder.decode(rest)}`)
    const records = (parsed as { records?: unknown }).records
    return Array.isArray(records) ? (records as OutboxRecord[]) : damaged('has no list of records')
  } catch {
    return damaged('is not JSON')
  }
}

/** Whether a decoded line is damage. */
export function isDamaged(line: readonly OutboxRecord[] | DamagedLine): line is DamagedLine {
  return 'damaged' in line
}

const damaged = (reason: string): DamagedLine => ({ damaged: true, reason })
