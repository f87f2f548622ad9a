import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from './errors.ts'

// What folkmoot keeps is for its user alone. A directory that exists stays as its owner made it.
const mode = 0o700

/**
 * Makes a directory and those above it, for this user alone; nothing happens if it exists. The option `recursive` of Node never ends
 * below a directory that takes no others, such as `/proc`, and no signal ends the process then.
 * @returns the directories that have a new name in them
 * @throws the error of the file system
 */
export function makeDirectory(path: string): readonly string[] {
  const changed = made(path)
  if (changed) return changed
  const above = makeDirectory(dirname(path))
  return [...above, ...(made(path) ?? missing(path))]
}

/** The directory above if it has a new name; `undefined` if it is missing. */
function made(path: string): readonly string[] | undefined {
  try {
    mkdirSync(path, { mode })
    return [dirname(path)]
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return []
    if (errorCode(error) === 'ENOENT' && dirname(path) !== path) return undefined
    throw error
  }
}

/** Below a directory that takes no others: the error of the file system. */
function missing(path: string): readonly string[] {
  mkdirSync(path, { mode })
  return [dirname(path)]
}
