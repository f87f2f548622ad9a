/** A cache of the user: each of its directories is too large for every `npm install`, and is downloaded once. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const root = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'folkmoot')

/** Where something of this name is, or will be. */
export const cachePath = (name: string): string => join(root, name)

/**
 * Fills a directory of the cache, if it is not there. It becomes visible when it is complete.
 * @param what its content, as the subject of "downloaded into"
 * @param fill puts it into an empty directory
 */
export function fillOnce(directory: string, what: string, fill: (begun: string) => void): void {
  if (existsSync(directory)) return
  console.log(`${what} downloaded into ${directory}`)
  mkdirSync(root, { recursive: true })
  const begun = mkdtempSync(`${directory}.`)
  try {
    fill(begun)
    try {
      renameSync(begun, directory)
    } catch (error) {
      // Another process may have been quicker: a directory with content can't be replaced.
      if (!existsSync(directory)) throw error
    }
  } finally {
    rmSync(begun, { recursive: true, force: true })
  }
}
