/**
 * File names in an outbox directory.
 *
 * Terms
 * - **Writer**: one opened outbox of one process. Its id is a UUID of version 7, so names sort by when writers began.
 * - **Segment**: `<writer>-<number>.v2.ndjson`, a file that one writer appends to and no other touches.
 * - **Owner file**: `<writer>.owner`, which names the process of the writer while it lives.
 * - **Socket**: `<writer>.sock`, open as long as the writer lives. A reader in another container uses it, because it cannot
 *   check the writer's PID.
 */
import { randomUUID } from 'node:crypto'
import { uuidAt } from '../../lib/base/uuid.ts'

const writer = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const segmentPattern = new RegExp(`^(${writer})-(\\d{6,12})\\.v(\\d{1,6})\\.ndjson$`)

/** The version of the file format that this code writes. It reads the first one, too. */
const formatVersion = 2

/** Whether this code reads a segment. One of another version is left alone. */
export const isReadable = ({ version }: SegmentName): boolean => version === formatVersion || version === 1

export interface SegmentName {
  readonly name: string
  readonly writer: string
  readonly number: number
  readonly version: number
}

/** The parts of a file name, or `undefined` if it is not a segment's. */
export function parseSegmentName(name: string): SegmentName | undefined {
  const [, owner, number, version] = segmentPattern.exec(name) ?? []
  if (owner === undefined) return undefined
  return { name, writer: owner, number: Number(number), version: Number(version) }
}

export const segmentName = (owner: string, number: number): string =>
  `${owner}-${String(number).padStart(6, '0')}.v${formatVersion}.ndjson`

const ownerPattern = new RegExp(`^(${writer})\\.owner$`)

/** The writer of an owner file, or `undefined` when the name is not one. */
export const parseOwnerName = (name: string): string | undefined => ownerPattern.exec(name)?.[1]

export const ownerName = (owner: string): string => `${owner}.owner`
export const socketName = (owner: string): string => `${owner}.sock`

/** When a writer began, in milliseconds since 1970, as its id has it. */
const beginOf = (owner: string): number => Number.parseInt(owner.slice(0, 8) + owner.slice(9, 13), 16)
/** The last time that an id can hold. */
const lastTime = 2 ** 48 - 1

/**
 * The id of a writer that begins now. It comes after the writers of all segments that are there, also if the clock was set back
 * since then. An older change of an endpoint would otherwise be read last, and hold.
 * @param now milliseconds since 1970
 * @param names the files of the directory
 */
export function nextWriterId(now: number, names: readonly string[]): string {
  const writers = names.flatMap((name) => parseSegmentName(name)?.writer ?? [])
  const latest = writers.reduce((time, each) => Math.max(time, beginOf(each)), 0)
  return newWriterId(Math.min(Math.max(now, latest + 1), lastTime))
}

/** Segments in the order to read them: by when their writer began, then by number. */
export function compareSegments(a: SegmentName, b: SegmentName): number {
  if (a.writer !== b.writer) return a.writer < b.writer ? -1 : 1
  return a.number - b.number
}

/** The id of a writer, a UUID of version 7. @param now milliseconds since 1970 */
export const newWriterId = (now: number): string => uuidAt(now, randomUUID())
