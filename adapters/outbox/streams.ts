/** Which segments an outbox directory holds, and which of them are finished. */
import { join } from 'node:path'
import { errorCode, fileError, isNoFile } from '../files/errors.ts'
import type { FileSystem } from '../files/file-system.ts'
import { mayRun, parseOwner } from '../files/owner.ts'
import { readText } from '../files/whole.ts'
import { compareSegments, isReadable, ownerName, parseSegmentName, type SegmentName, socketName } from './segment-name.ts'

export interface Stream extends SegmentName {
  /** Nothing will be appended to it: a newer segment of its writer exists, or the writer closed or is dead. */
  readonly finished: boolean
  /** Its writer is done altogether. */
  readonly abandoned: boolean
}

export interface Streams {
  /** Every name in the directory; none as long as it has never existed. */
  list(): Promise<readonly string[]>
  /** Whether a writer will append no more. Checked before the sizes of its segments are read, so that they are final. */
  isDone(writer: string): Promise<boolean>
  /** The segments of this version among these names, in the order to read them. */
  streams(names: readonly string[]): Promise<readonly Stream[]>
}

export function lookAt(files: FileSystem, root: string): Streams {
  /** Writers that are done; they never come back. */
  const finished = new Set<string>()
  let seen = false

  async function list(): Promise<readonly string[]> {
    try {
      const names = await files.list(root)
      seen = true
      return names
    } catch (error) {
      // It may be made later. But one that was there and is gone has been moved, or its disk is not mounted any more.
      if (errorCode(error) === 'ENOENT' && !seen) return []
      throw fileError(`outbox directory ${root} cannot be read`, error)
    }
  }

  async function isDone(writer: string): Promise<boolean> {
    if (finished.has(writer)) return true
    if (!(await checkWhetherDone(writer))) return false
    finished.add(writer)
    return true
  }

  async function checkWhetherDone(writer: string): Promise<boolean> {
    let text: string
    try {
      text = await readText(files, join(root, ownerName(writer)))
    } catch (error) {
      // Its owner file was there before its first segment, so it closed: or an operator removed the file, at their own risk.
      if (errorCode(error) === 'ENOENT') return true
      throw fileError(`owner file of ${writer} cannot be read`, error)
    }
    const owner = parseOwner(text)
    return owner === undefined || !(await mayRun(owner, hasSocket(text) ? join(root, socketName(writer)) : undefined))
  }

  async function streams(names: readonly string[]): Promise<readonly Stream[]> {
    const segments = names.flatMap((name) => parseSegmentName(name) ?? [])
    const ours = segments.filter(isReadable).sort(compareSegments)
    const done = new Map<string, boolean>()
    for (const { writer } of ours) if (!done.has(writer)) done.set(writer, await isDone(writer))
    return ours.map((segment, index) => {
      const abandoned = done.get(segment.writer) === true
      return { ...segment, abandoned, finished: abandoned || ours[index + 1]?.writer === segment.writer }
    })
  }

  return { list, isDone, streams }
}

/** Whether the writer of an owner file could open a socket; without one, a missing response means nothing. */
const hasSocket = (owner: string): boolean => (JSON.parse(owner) as { readonly answers?: unknown }).answers === true

/** The bytes of a segment. Infinite if it is missing or no file, so that it never counts as read to its end. */
export async function sizeOf(files: FileSystem, path: string): Promise<number> {
  try {
    const file = await files.open(path)
    try {
      return await file.size()
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isNoFile(error) || errorCode(error) === 'ENOENT') return Number.POSITIVE_INFINITY
    throw error
  }
}
