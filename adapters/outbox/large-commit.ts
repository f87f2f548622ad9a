/** Commits of several lines: they are taken when their last line is there, and not before. */
import { endOfCommit, partOf } from '../../lib/outbox/line.ts'
import { lineStart } from '../../lib/outbox/text.ts'
import type { OpenFile } from '../files/file-system.ts'
import { readBytes } from '../files/whole.ts'

/** Bytes of a file that are in memory at a time. */
const pieceBytes = 1024 * 1024
const newline = 0x0a
const nextLine = Buffer.from(`\n${lineStart}`)
/** A newline and what a line begins with, up to its records. */
const longestHead = 150

/** A stretch of a file, piece by piece. */
export async function* piecesOf(file: OpenFile, from: number, to: number): AsyncGenerator<Buffer, void> {
  for (let at = from; at < to; ) {
    const bytes = await readBytes(file, at, Math.min(pieceBytes, to - at))
    if (bytes.length === 0) return
    yield bytes
    at += bytes.length
  }
}

/**
 * Whether a commit is complete: its last line up to the newline is there, or a line of another commit follows. In the latter
 * case only damage can have taken the last line.
 * @param from where to look from: behind the commit's first line
 */
export async function hasEnd(file: OpenFile, commit: string, from: number, to: number): Promise<boolean> {
  const mark = Buffer.from(endOfCommit(commit))
  let found = false
  // The searched bytes may begin in one piece and end in the next.
  let before: Buffer = Buffer.alloc(0)
  for await (const piece of piecesOf(file, from, to)) {
    const bytes = before.length === 0 ? piece : Buffer.concat([before, piece])
    const at: number = found ? 0 : bytes.indexOf(mark)
    found ||= at !== -1
    if (found && bytes.indexOf(newline, at) !== -1) return true
    if (!found && hasOtherLine(bytes, commit)) return true
    before = found ? Buffer.alloc(0) : bytes.subarray(Math.max(0, bytes.length - longestHead))
  }
  return false
}

/** Whether a line begins in these bytes that is not one of this commit. */
function hasOtherLine(bytes: Buffer, commit: string): boolean {
  for (let at = bytes.indexOf(nextLine); at !== -1; at = bytes.indexOf(nextLine, at + 1)) {
    const head = bytes.subarray(at + 1, at + longestHead)
    if (head.length === longestHead - 1 && partOf(head)?.commit !== commit) return true
  }
  return false
}
