/** The write side of the outbox directory: group commit, rotation, and a new segment after every failure. */

import type { Server } from 'node:net'
import { join, resolve } from 'node:path'
import { crc32 } from 'node:zlib'
import * as v from 'valibot'
import { encodeCommits, fitsLine, maxLineBytes } from '../../lib/outbox/line.ts'
import type { OutboxRecord } from '../../lib/outbox/record.ts'
import { type OutboxWriter, StorageError } from '../../lib/storage/contract.ts'
import { fileError } from '../files/errors.ts'
import { type FileSystem, nodeFileSystem } from '../files/file-system.ts'
import { listenOn, stopListening } from '../files/lock-socket.ts'
import { thisProcess } from '../files/owner.ts'
import { anything, callable, checkOptions, count, pathOf, type RulesOf } from '../options.ts'
import { bytesOf } from '../utf8.ts'
import { createSegment, type Segment } from './segment.ts'
import { nextWriterId, ownerName, segmentName, socketName } from './segment-name.ts'

/** How an outbox directory is written. */
export interface OutboxOptions {
  /** The directory of the segments, created with mode 0700 if it is missing. Use a local disk, not a network share. */
  readonly directory: string
  /** Maximum size of a segment in bytes; the next record begins a new segment. Default 64 MiB. */
  readonly rotateBytes?: number
  /** For tests. */
  readonly files?: FileSystem
  /** Milliseconds since 1970; orders the segments of successive writers. It may go back. */
  readonly now?: () => number
}

/** Appends that wait are written together, up to this many bytes per write. So are the lines of a large commit. */
const groupBytes = 4 * 1024 * 1024

interface Waiting {
  /** The lines of its commits; those of a large commit are only made when they are written. */
  readonly lines: Iterable<Uint8Array>
  /** About how long they are. */
  readonly bytes: number
  /** Whether an erasure is among them. */
  readonly erases: boolean
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

const rules = {
  directory: pathOf('a directory'),
  rotateBytes: v.optional(count, 64 * 1024 * 1024),
  files: v.optional(anything<FileSystem>(), nodeFileSystem),
  now: v.optional(callable<() => number>(), () => Date.now),
} satisfies RulesOf<OutboxOptions>

/**
 * Opens an outbox directory for writing. Any number of writers, in any number of processes, may have it open concurrently.
 *
 * `append` resolves when its lines are on disk (one write with its sync for all that waited). If it rejects with
 * `full` or `unavailable`, none of them counts as durable. A line that was complete before its sync failed may still be read,
 * and the same events may be appended again.
 *
 * @returns the option `outbox` of a storage, which closes it with itself
 * @throws StorageError `unavailable` or `full` when the directory cannot be written; its message names it
 * @throws TypeError that lists every option that is missing, malformed or unknown
 */
export async function openOutbox(options: OutboxOptions): Promise<OutboxWriter> {
  const { rotateBytes, files, now, ...rest } = checkOptions('openOutbox', rules, options, "{ directory: './data/outbox' }")
  const directory = resolve(rest.directory)
  let writer: string
  let socket: Server | undefined
  try {
    await files.makeDirectory(directory)
    writer = nextWriterId(now(), await files.list(directory))
    const listening = await listenOn(join(directory, socketName(writer)))
    socket = listening === 'taken' ? undefined : listening
    await claim(files, directory, writer, socket !== undefined)
  } catch (error) {
    await stopListening(socket)
    throw fileError(`outbox directory ${directory} cannot be written`, error)
  }

  let segment: Segment | undefined
  let number = 0
  let waiting: Waiting[] = []
  let running: Promise<void> | undefined
  let closed: Promise<void> | undefined

  async function write(group: readonly Waiting[]): Promise<void> {
    const bytes = group.reduce((sum, each) => sum + each.bytes, 0)
    if (segment && segment.length > 0 && segment.length + bytes > rotateBytes) {
      await segment.close()
      segment = undefined
    }
    // The number goes up even when creating fails, so that no name is ever used twice.
    segment ??= await createSegment(files, directory, segmentName(writer, ++number))
    try {
      await segment.append(piecesOf(group))
    } catch (error) {
      segment = undefined
      throw error
    }
    if (group.some(({ erases }) => erases)) await leaveSegment(segment)
  }

  /** Begins another segment, so that readers remove the one with the erased person's events as soon as they have read it. */
  async function leaveSegment(left: Segment): Promise<void> {
    segment = undefined
    try {
      await left.close()
      segment = await createSegment(files, directory, segmentName(writer, ++number))
    } catch {
      // The records are durable. The next append begins a segment, or says why it cannot.
    }
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const group = takeGroup(waiting)
      waiting = waiting.slice(group.length)
      try {
        await write(group)
        for (const each of group) each.done()
      } catch (error) {
        for (const each of group) each.failed(error)
      }
    }
    running = undefined
  }

  async function close(): Promise<void> {
    await running
    await segment?.close()
    await stopListening(socket)
    // Removed last: from here on readers take our segments for finished.
    await files.remove(join(directory, ownerName(writer))).catch(() => undefined)
  }

  return {
    address: directory,
    async append(commits) {
      if (closed) throw new StorageError('closed', 'the outbox is closed')
      const { lines, bytes } = encoded(commits.filter((records) => records.length > 0))
      const erases = commits.some((records) => records.some(({ kind }) => kind === 'erasure'))
      if (bytes === 0) return
      await new Promise<void>((done, failed) => {
        waiting.push({ lines, bytes, erases, done, failed })
        // Begins in a microtask, so that everything appended in this turn shares one write.
        running ??= Promise.resolve().then(drain)
      })
    },
    close() {
      closed ??= close()
      return closed
    },
  }
}

/** @throws RangeError when a record is too long for a line */
function encoded(commits: readonly (readonly OutboxRecord[])[]): Pick<Waiting, 'lines' | 'bytes'> {
  let length = 0
  for (const records of commits)
    for (const record of records) {
      if (!fitsLine(record)) throw new RangeError(`a record is longer than ${maxLineBytes} bytes`)
      length += record.kind === 'event' ? record.body.length : 1
    }
  const pieces = encodeCommits(commits, crc32, bytesOf)
  if (length > groupBytes) return { lines: pieces, bytes: length }
  const lines = [...pieces]
  return { lines, bytes: lines.reduce((sum, line) => sum + line.length, 0) }
}

function* linesOf(group: readonly Waiting[]): Generator<Uint8Array, void> {
  for (const { lines } of group) yield* lines
}

/** As few pieces as the bound on them allows: each has a write and a sync. Most groups are one. */
function* piecesOf(group: readonly Waiting[]): Generator<Uint8Array, void> {
  let lines: Uint8Array[] = []
  let bytes = 0
  for (const line of linesOf(group)) {
    if (lines.length > 0 && bytes + line.length > groupBytes) {
      yield together(lines)
      lines = []
      bytes = 0
    }
    lines.push(line)
    bytes += line.length
  }
  if (lines.length > 0) yield together(lines)
}

const together = (lines: readonly Uint8Array[]): Uint8Array => (lines.length === 1 && lines[0] ? lines[0] : Buffer.concat(lines))

function takeGroup(waiting: readonly Waiting[]): readonly Waiting[] {
  let bytes = 0
  let count = 0
  for (const each of waiting) {
    bytes += each.bytes
    if (count > 0 && bytes > groupBytes) break
    count++
  }
  return waiting.slice(0, count)
}

/** Records the writer durably, before the first segment: a segment without an owner file counts as finished. */
async function claim(files: FileSystem, directory: string, writer: string, answers: boolean): Promise<void> {
  const path = join(directory, ownerName(writer))
  const file = await files.create(`${path}.tmp`)
  try {
    await file.write(Buffer.from(`${JSON.stringify({ ...thisProcess(), answers })}\n`), 0)
    await file.sync()
  } finally {
    await file.close()
  }
  await files.rename(`${path}.tmp`, path)
  await files.syncDirectory(directory)
}
