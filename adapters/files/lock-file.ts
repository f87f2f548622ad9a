/**
 * Files that name the process that holds something. Only one living process at a time has its text in such a file.
 *
 * The file appears with its whole text (a link to a file that is already written), so no process ever reads half of it. The
 * text of a dead process is replaced by one process that finds it. That one creates a second file first, named after exactly
 * that text, and then still finds the text there. Texts never come twice, so no process replaces a living owner by mistake,
 * however many try concurrently and wherever one of them dies.
 */
import { createHash } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { errorCode } from './errors.ts'

export interface LockRules {
  /** Whether the process that wrote a text may still run. */
  isHeld(text: string): Promise<boolean>
  /** Removes what else a dead process left behind. */
  forget(text: string): Promise<void>
}

/**
 * Puts a text into a lock file, unless a living process has its own there.
 *
 * @param file the lock file
 * @param text identifies this process; no other call ever had the same
 * @param rules distinguish living owners from dead ones
 * @returns `undefined` when the file is ours now, else the text of the living owner
 * @throws what the file system throws
 */
export async function claimFile(file: string, text: string, rules: LockRules): Promise<string | undefined> {
  const written = `${file}.${fingerprint(text)}.tmp`
  await writeFile(written, text, { mode: 0o600 })
  try {
    for (;;) {
      if (await linkAs(file, written)) return undefined
      const found = await readLockFile(file)
      if (found === undefined) continue
      if (await rules.isHeld(found)) return found
      const right = `${file}.${fingerprint(found)}`
      const rival = await claimFile(right, text, rules)
      if (rival !== undefined) return rival
      try {
        if ((await readLockFile(file)) !== found) continue
        await rename(written, file)
        await rules.forget(found)
        return undefined
      } finally {
        await rm(right, { force: true })
      }
    }
  } finally {
    await rm(written, { force: true })
  }
}

/** The text of a lock file, or `undefined` if it does not exist. */
export async function readLockFile(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

async function linkAs(file: string, written: string): Promise<boolean> {
  try {
    await link(written, file)
    return true
  } catch (error) {
    const code = errorCode(error)
    if (code === 'EEXIST') return false
    if (withoutLinks.includes(code))
      throw new Error(`its file system has no hard links (${code}); choose another one`, { cause: error })
    throw error
  }
}

/** From `link` on exFAT, FAT and some network shares. */
const withoutLinks: readonly string[] = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']

const fingerprint = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
