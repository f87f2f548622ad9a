/**
 * One commit is one line: `{"crc":"<crc32>","records":[…]}` and a newline. Valid NDJSON, so `jq .records` reads it. The
 * checksum covers every byte of the line after the `crc` member, so a torn or damaged line is known as such.
 *
 * A large commit is several consecutive lines, each with a `part` before its records. The part has the id of the commit, `last`
 * for its last line, and its number from 0. Without its last line such a commit never happened.
 */

import { crc32 } from '../base/crc32.ts'
import { type CheckedRecords, checkRecords } from './check.ts'
import { partsOf } from './parts.ts'
import type { OutboxRecord } from './record.ts'

const opening = '{"crc":"'
/** Length of `{"crc":"01234567",`. */
const headLength = opening.length + 8 + 2
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** The largest line that is written or read, in bytes; a longer one is damage, never an allocation. */
export const maxLineBytes = 16 * 1024 * 1024

/** A line that is not what a writer wrote. `reason` describes the damage in words. */
export interface DamagedLine {
  readonly damaged: true
  readonly reason: string
}

/** Which line of a large commit this is. */
export interface LinePart {
  readonly commit: string
  readonly last: boolean
  readonly number: number
}

const startOfPart = (commit: string): string => `"part":{"commit":"${commit}",`
const partText = ({ commit, last, number }: LinePart): string => `${startOfPart(commit)}"last":${last},"number":${number}},`
const partPattern = /^"part":\{"commit":"([0-9a-f-]{36})","last":(true|false),"number":(\d{1,9})\},/
const letterP = 'p'.charCodeAt(0)
/** No part is longer. */
const partBytes = 120

/** The bytes after the checksum of a commit's last line; they occur nowhere else. */
export const endOfCommit = (commit: string): string => `,${startOfPart(commit)}"last":true,`

/** The part in a line, by its first bytes alone; `undefined` for a line that is a whole commit. */
export function partOf(line: Uint8Array): LinePart | undefined {
  // Most lines are whole commits: `"records"` begins with another letter.
  if (line[headLength + 1] !== letterP) return undefined
  const head = String.fromCharCode(...line.subarray(headLength, headLength + partBytes))
  const [, commit, last, number] = partPattern.exec(head) ?? []
  return commit === undefined ? undefined : { commit, last: last === 'true', number: Number(number) }
}

/** The CRC-32 of some bytes: that of this library, or that of the runtime, which takes a third of the time. */
export type Checksum = (bytes: Uint8Array) => number

/** The lines of one commit, newlines included, each made when it is asked for. */
export function* encodeCommit(records: readonly OutboxRecord[]): Generator<Uint8Array, void> {
  for (const { records: some, part } of linesOf(records)) yield encodeLine(some, part)
}

/**
 * The lines of small commits, newlines included, one straight behind the other in few pieces. They cost less than one by one.
 * @throws RangeError when one of them comes to more than `maxLineBytes`
 */
export function encodeCommits(commits: readonly (readonly OutboxRecord[])[], checksum: Checksum = crc32): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let end = 0
  const cut = () => {
    if (end > 0) pieces.push(scratch.slice(0, end))
    end = 0
  }
  for (const commit of commits)
    for (const { records, part } of linesOf(commit)) {
      const text = textOf(records, part)
      let written = writeLine(text, end, checksum)
      if (written === undefined) {
        cut()
        written = writeLine(text, 0, checksum)
      }
      if (written === undefined) pieces.push(longLine(text))
      else end += written
    }
  cut()
  return pieces
}

interface LineContent {
  readonly records: readonly OutboxRecord[]
  readonly part?: LinePart | undefined
}

function linesOf(records: readonly OutboxRecord[]): Iterable<LineContent> {
  return records.length === 1 ? [{ records }] : linesOfParts(records)
}

function* linesOfParts(records: readonly OutboxRecord[]): Generator<LineContent, void> {
  let commit = ''
  let before: readonly OutboxRecord[] | undefined
  let number = 0
  for (const part of partsOf(records)) {
    if (before) {
      commit ||= crypto.randomUUID()
      yield { records: before, part: { commit, last: false, number: number++ } }
    }
    before = part
  }
  if (before) yield { records: before, part: number === 0 ? undefined : { commit, last: true, number } }
}

/** The maximum size of a record: an escaped character has six bytes, and the other members are short. */
const maxBytesOf = (record: OutboxRecord): number => 6 * (record.kind === 'event' ? record.body.length + 1_000 : 20_000)

/** Whether a line can hold a record. */
export function fitsLine(record: OutboxRecord): boolean {
  // Measuring costs, so it is done when the most that it can come to is too much.
  if (maxBytesOf(record) <= maxLineBytes) return true
  return encoder.encode(JSON.stringify(record)).length + 2 * partBytes <= maxLineBytes
}

/**
 * The bytes of one line, newline included.
 * @param records its records, in order
 * @param part which line of a large commit it is; without one it is a commit by itself
 * @throws RangeError when they come to more than `maxLineBytes`
 */
export function encodeLine(records: readonly OutboxRecord[], part?: LinePart): Uint8Array {
  const text = textOf(records, part)
  const written = writeLine(text, 0)
  return written === undefined ? longLine(text) : scratch.slice(0, written)
}

/** The text of a line behind its checksum, without the bracket and the newline that end it. */
const textOf = (records: readonly OutboxRecord[], part: LinePart | undefined): string =>
  part ? `${partText(part)}"records":${JSON.stringify(records)}` : `"records":${JSON.stringify(records)}`

const head = encoder.encode(`${opening}00000000",`)
const ending = encoder.encode('}\n')

/** Room for most groups of lines. Memory for each line would cost as much as encoding it. */
const scratch = new Uint8Array(256 * 1024)

/** Writes a line into `scratch` and returns its bytes, or `undefined` if it does not fit. */
function writeLine(text: string, at: number, checksum: Checksum = crc32): number | undefined {
  const begin = at + headLength
  if (begin + text.length + ending.length > scratch.length) return undefined
  const { read, written } = encoder.encodeInto(text, scratch.subarray(begin, scratch.length - ending.length))
  if (read < text.length) return undefined
  const length = headLength + written + ending.length
  finish(scratch.subarray(at, at + length), checksum)
  return length
}

/** @throws RangeError */
function longLine(text: string): Uint8Array {
  const bytes = encoder.encode(text)
  const length = headLength + bytes.length + ending.length
  if (length > maxLineBytes) throw new RangeError(`a line of ${length} bytes is over the limit of ${maxLineBytes}`)
  const line = new Uint8Array(length)
  line.set(bytes, headLength)
  finish(line)
  return line
}

/** Puts the parts around the text of a line: its head with the checksum, and its end. */
function finish(line: Uint8Array, checksum: Checksum = crc32): void {
  line.set(ending, line.length - ending.length)
  line.set(head)
  let crc = checksum(line.subarray(headLength, -1))
  // Not by `toString(16)`: of a number beyond 31 bits it costs as much as the checksum itself.
  for (let place = opening.length + 7; place >= opening.length; place--) {
    line[place] = '0123456789abcdef'.charCodeAt(crc & 15)
    crc >>>= 4
  }
}

/**
 * The records of one line: the usable ones, and the known facts about the others.
 * @param line its bytes, without the newline
 */
export function decodeLine(line: Uint8Array, checksum: Checksum = crc32): CheckedRecords | DamagedLine {
  if (line.length > maxLineBytes) return damaged(`longer than ${maxLineBytes} bytes`)
  if (line.length < headLength) return damaged('too short')
  const rest = line.subarray(headLength)
  const head = String.fromCharCode(...line.subarray(0, headLength))
  if (!/^\{"crc":"[0-9a-f]{8}",$/.test(head)) return damaged('does not begin with a checksum')
  if (Number.parseInt(head.slice(opening.length, opening.length + 8), 16) !== checksum(rest))
    return damaged('checksum does not match')
  try {
    const parsed: unknown = JSON.parse(`{${decoder.decode(rest)}`)
    const records = (parsed as { records?: unknown }).records
    return Array.isArray(records) ? checkRecords(records) : damaged('has no list of records')
  } catch {
    return damaged('is not JSON')
  }
}

/** Whether a decoded line is damage. */
export function isDamaged(line: CheckedRecords | DamagedLine): line is DamagedLine {
  return 'damaged' in line
}

const damaged = (reason: string): DamagedLine => ({ damaged: true, reason })
