import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from './errors.ts'

/**
 * Makes a directory and those above it; nothing happens if it exists. The option `recursive` of Node never ends below a
 * directory that takes no others, such as `/proc`, and no signal ends the process then.
 * @param mode of the directories that are made
 * @throws the error of the file system
 */
export function makeDirectory(path: string, mode = 0o777): void {
  if (made(path, mode)) return
  makeDirectory(dirname(path), mode)
  if (!made(path, mode)) mkdirSync(path, { mode })
}

/** False if the directory above is missing. */
function made(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return true
    if (errorCode(error) === 'ENOENT' && dirname(path) !== path) return false
    throw error
  }
}
