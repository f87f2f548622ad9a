/** The read side of the outbox directory. */
import { join, resolve } from 'node:path'
import { maxLineBytes } from '../../lib/outbox/line.ts'
import type { OutboxRecord } from '../../lib/outbox/record.ts'
import type { Backlog, Damage, OutboxSource, Positions, Reading } from '../../lib/outbox/source.ts'
import { errorCode, fileError, isNoFile } from '../files/errors.ts'
import { type FileSystem, nodeFileSystem, type OpenFile } from '../files/file-system.ts'
import { readBytes } from '../files/whole.ts'
import { setAside } from './broken.ts'
import { hasEnd, piecesOf } from './large-commit.ts'
import { type DamagedBytes, scan } from './scan.ts'
import { isReadable, ownerName, parseOwnerName, parseSegmentName, socketName } from './segment-name.ts'
import { lookAt, type Stream, sizeOf } from './streams.ts'

/** How an outbox directory is read. */
export interface OutboxDirectoryOptions {
  /** Copy damaged bytes to `<segment>.<offset>.broken` before passing over them. Default true; false for looking only. */
  readonly keepBroken?: boolean
  /** For tests. */
  readonly files?: FileSystem
}

interface Piece {
  readonly commits: readonly (readonly OutboxRecord[])[]
  readonly damage: readonly Damage[]
  readonly position: number
  readonly more: boolean
}

/**
 * An outbox directory for reading; any number of writers may be appending to it. Commits of one writer come in its order.
 * Writers that are done come whole, in the order in which they began; writers that live come side by side.
 *
 * `read` and `settle` throw StorageError `unavailable` or `full` if the directory cannot be read, or damaged bytes cannot be
 * copied. Nothing was skipped then, and the same call may be repeated.
 * @param directory the one that `openOutbox` writes; it may be created later
 * @returns the source of a relay; nothing is opened before its first call
 */
export function outboxDirectory(directory: string, options: OutboxDirectoryOptions = {}): OutboxSource {
  const { keepBroken = true, files = nodeFileSystem } = options
  const root = resolve(directory)
  /** Files that are not ours to read, each reported once. */
  const reported = new Set<string>()
  const watchers = new Set<() => void>()
  /** The large commit of each stream whose last line was seen. */
  const whole = new Map<string, string>()
  const { list, isDone, streams } = lookAt(files, root)
  /** The segments of the last reading, if it left more. */
  let behind: { readonly names: readonly string[]; readonly found: readonly Stream[] } | undefined

  /**
   * In a backlog a writer is checked once, because that costs as much as dozens of events. One that dies in between counts as
   * living until the end of the backlog, or until another one begins: only its last line has to wait.
   */
  async function streamsAmong(names: readonly string[]): Promise<readonly Stream[]> {
    const known = behind
    return known?.names.length === names.length && names.every((name, place) => name === known.names[place])
      ? known.found
      : streams(names)
  }

  function foreign(names: readonly string[]): readonly Damage[] {
    return names.flatMap((name) => {
      const segment = parseSegmentName(name)
      if (!segment || isReadable(segment) || reported.has(name)) return []
      reported.add(name)
      return [
        { stream: name, offset: 0, bytes: 0, reason: `format version ${segment.version} is unknown to this version: left alone` },
      ]
    })
  }

  async function readPiece(stream: Stream, from: number, limit: number): Promise<Piece> {
    let file: OpenFile
    try {
      file = await files.open(join(root, stream.name))
    } catch (error) {
      // Gone since the listing, or not a file at all (a link, a directory): not ours, reported once.
      if (errorCode(error) === 'ENOENT') return { commits: [], damage: [], position: from, more: false }
      if (!isNoFile(error)) throw error
      const known = reported.has(stream.name)
      reported.add(stream.name)
      const damage = known ? [] : [{ stream: stream.name, offset: 0, bytes: 0, reason: 'not a regular file: left alone' }]
      return { commits: [], damage, position: from, more: false }
    }
    try {
      const size = await file.size()
      // Smaller than the bytes read: a failed append was undone, and its writer continued in another segment.
      if (size <= from) return { commits: [], damage: [], position: from, more: false }
      let bytes = await readBytes(file, from, Math.min(size - from, limit))
      // One line may be longer than the limit: at least one commit has to come.
      if (!bytes.includes(0x0a) && bytes.length < size - from)
        bytes = await readBytes(file, from, Math.min(size - from, maxLineBytes + 1))
      const next = from + bytes.length < size ? 'more' : stream.finished ? 'finished' : 'growing'
      const isWhole = (commit: string) => whole.get(stream.name) === commit
      let found = scan(bytes, next, isWhole)
      let torn: DamagedBytes | undefined
      if (found.opens) {
        const { commit, start, end } = found.opens
        if (await hasEnd(file, commit, from + end, size)) {
          whole.set(stream.name, commit)
          found = scan(bytes, next, isWhole)
        } else if (stream.finished) torn = { start, end: size - from, reason: 'a commit without its last line' }
      }
      const damage: Damage[] = []
      for (const [index, { start, end, ...what }] of found.damage.entries()) {
        const offset = from + start
        // Several records of one line are kept once, with the whole line.
        const kept = found.damage[index - 1]?.start === start
        if (keepBroken && !kept) await setAside(files, root, stream.name, offset, [bytes.subarray(start, end)])
        damage.push({ stream: stream.name, offset, bytes: end - start, ...what })
      }
      if (torn) {
        const offset = from + torn.start
        if (keepBroken) await setAside(files, root, stream.name, offset, piecesOf(file, offset, size))
        damage.push({ stream: stream.name, offset, bytes: size - offset, reason: torn.reason })
        return { commits: found.commits, damage, position: size, more: false }
      }
      return {
        commits: found.commits,
        damage,
        position: from + found.consumed,
        more: found.consumed > 0 && from + found.consumed < size,
      }
    } finally {
      await file.close()
    }
  }

  async function read(positions: Positions, limit: number): Promise<Reading> {
    const names = await list()
    const found = await streamsAmong(names)
    const commits: (readonly OutboxRecord[])[] = []
    const damage: Damage[] = [...foreign(names)]
    const moved: Record<string, number> = {}
    const living = new Set(found.filter(({ abandoned }) => !abandoned).map(({ writer }) => writer)).size
    const share = Math.max(1, Math.floor(limit / Math.max(1, living)))
    let left = limit
    let more = false
    /** A writer whose older segment is not read to its end: its newer ones have to wait. */
    let held: string | undefined

    for (const stream of found) {
      if (stream.writer === held) continue
      if (left <= 0) {
        more = true
        break
      }
      const from = positions[stream.name] ?? 0
      const piece = await readPiece(stream, from, stream.abandoned ? left : Math.min(left, share))
      for (const commit of piece.commits) commits.push(commit)
      for (const each of piece.damage) damage.push(each)
      if (piece.position !== from) moved[stream.name] = piece.position
      left -= piece.position - from
      if (!piece.more) continue
      more = true
      held = stream.writer
      if (stream.abandoned) break
    }
    behind = more ? { names, found } : undefined
    return { commits, damage, positions: moved, more }
  }

  async function backlog(positions: Positions): Promise<Backlog> {
    let count = 0
    for (const name of await list()) {
      const segment = parseSegmentName(name)
      if (!segment || !isReadable(segment)) continue
      const size = await sizeOf(files, join(root, name))
      if (Number.isFinite(size)) count += Math.max(0, size - (positions[name] ?? 0))
    }
    return { unit: 'bytes', count }
  }

  async function settle(positions: Positions): Promise<readonly string[]> {
    const names = await list()
    const found = await streams(names)
    const gone = Object.keys(positions).filter((name) => !names.includes(name))
    const removed = new Set<string>()
    for (const stream of found) {
      // A segment that was never read has no position; it is settled only if it is empty.
      if (!stream.finished) continue
      if ((positions[stream.name] ?? 0) < (await sizeOf(files, join(root, stream.name)))) continue
      await files.remove(join(root, stream.name))
      removed.add(stream.name)
    }
    const kept = new Set(found.filter(({ name }) => !removed.has(name)).map(({ writer }) => writer))
    for (const writer of names.flatMap((name) => parseOwnerName(name) ?? [])) {
      if (kept.has(writer) || !(await isDone(writer))) continue
      await files.remove(join(root, socketName(writer))).catch(() => undefined)
      await files.remove(join(root, ownerName(writer))).catch(() => undefined)
    }
    // Positions are forgotten next. Were a removal lost with the power after that, its events would all come again.
    if (removed.size > 0) await files.syncDirectory(root)
    return [...gone, ...removed]
  }

  const named = <Result>(work: Promise<Result>, outcome: string): Promise<Result> =>
    work.catch((error: unknown) => {
      throw fileError(`outbox ${root} cannot be ${outcome}`, error)
    })

  return {
    read: (positions, limit) => named(read(positions, limit), 'read'),
    backlog: (positions) => named(backlog(positions), 'read'),
    settle: (positions) => named(settle(positions), 'cleared'),
    watch(changed) {
      let stop: () => void = () => undefined
      try {
        stop = files.watch(root, (name) => {
          if (name === null || parseSegmentName(name)) changed()
        })
      } catch {
        // The directory is not there yet, or no handles are left: the caller polls anyway.
      }
      watchers.add(stop)
      return () => {
        watchers.delete(stop)
        stop()
      }
    },
    async close() {
      for (const stop of watchers) stop()
      watchers.clear()
    },
  }
}
