/**
 * One commit is one line: `{"crc":"<crc32>","records":[…]}` and a newline. Valid NDJSON, so `jq .records` reads it. The
 * checksum covers every byte of the line after the `crc` member, so a torn or damaged line is known as such.
 *
 * A large commit is several consecutive lines, each with a `part` before its records. The part has the id of the commit, `last`
 * for its last line, and its number from 0. Without its last line such a commit never happened.
 */

import { type CheckedRecords, checkRecords } from './check.ts'
import { partsOf } from './parts.ts'
import type { OutboxRecord } from './record.ts'
import { lineStart, recordsText } from './text.ts'

/** Length of `{"crc":"01234567",`. */
const headLength = lineStart.length + 8 + 2
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

/** The CRC-32 of some bytes, by the runtime: written in TypeScript it takes several times as long. */
export type Checksum = (bytes: Uint8Array) => number

/** The UTF-8 of a text, in memory that no other value shares. */
export type Encode = (text: string) => Uint8Array

/** Characters of lines that are encoded together. */
const pieceLength = 256 * 1024

/**
 * The lines of commits, newlines included, one straight behind the other in few pieces, each made when it is read. They cost less
 * than one by one.
 * @throws RangeError when one of them comes to more than `maxLineBytes`
 */
export function* encodeCommits(
  commits: readonly (readonly OutboxRecord[])[],
  checksum: Checksum,
  encode: Encode,
): Generator<Uint8Array, void> {
  let text = ''
  for (const commit of commits)
    for (const { records, part } of linesOf(commit)) {
      text += textOf(records, part)
      if (text.length < pieceLength) continue
      yield finished(encode(text), checksum)
      text = ''
    }
  if (text !== '') yield finished(encode(text), checksum)
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

export function fitsLine(record: OutboxRecord): boolean {
  // Measuring costs, so it is done when the most that it can come to is too much.
  if (maxBytesOf(record) <= maxLineBytes) return true
  return encoder.encode(recordsText([record])).length + 2 * partBytes <= maxLineBytes
}

/** The text of a line, newline included. Its checksum is still missing. */
const textOf = (records: readonly OutboxRecord[], part: LinePart | undefined): string =>
  `${lineStart}00000000",${part ? partText(part) : ''}"records":${recordsText(records)}}\n`

const newline = 10

/** Puts the checksums into lines. @throws RangeError when one of them is too long */
function finished(lines: Uint8Array, checksum: Checksum): Uint8Array {
  for (let begin = 0, end = 0; begin < lines.length; begin = end + 1) {
    // JSON has no newline in a line.
    end = lines.indexOf(newline, begin)
    const length = end + 1 - begin
    if (length > maxLineBytes) throw new RangeError(`a line of ${length} bytes is over the limit of ${maxLineBytes}`)
    let crc = checksum(lines.subarray(begin + headLength, end))
    // Not by `toString(16)`: of a number beyond 31 bits it costs as much as the checksum itself.
    for (let place = begin + lineStart.length + 7; place >= begin + lineStart.length; place--) {
      lines[place] = '0123456789abcdef'.charCodeAt(crc & 15)
      crc >>>= 4
    }
  }
  return lines
}

/**
 * The records of one line: the usable ones, and the known facts about the others.
 * @param line its bytes, without the newline
 */
export function decodeLine(line: Uint8Array, checksum: Checksum): CheckedRecords | DamagedLine {
  if (line.length > maxLineBytes) return damaged(`longer than ${maxLineBytes} bytes`)
  if (line.length < headLength) return damaged('too short')
  const rest = line.subarray(headLength)
  const head = String.fromCharCode(...line.subarray(0, headLength))
  if (!/^\{"crc":"[0-9a-f]{8}",$/.test(head)) return damaged('does not begin with a checksum')
  if (Number.parseInt(head.slice(lineStart.length, lineStart.length + 8), 16) !== checksum(rest))
    return damaged('checksum does not match')
  try {
    const text = decoder.decode(rest)
    const parsed: unknown = JSON.parse(`{${text}`)
    const records = (parsed as { records?: unknown }).records
    return Array.isArray(records) ? checkRecords(records, text) : damaged('has no list of records')
  } catch {
    return damaged('is not JSON')
  }
}

export function isDamaged(line: CheckedRecords | DamagedLine): line is DamagedLine {
  return 'damaged' in line
}

const damaged = (reason: string): DamagedLine => ({ damaged: true, reason })
