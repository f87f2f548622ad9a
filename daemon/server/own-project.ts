/** Where this program is installed. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The project that has installed this package; `undefined` for a checkout, an image, and a package that is installed globally.
 * @param here a directory of the package
 */
export function ownProject(here = import.meta.dirname): string | undefined {
  const at = here.indexOf(join('/', 'node_modules', '/'))
  const directory = here.slice(0, Math.max(0, at))
  return directory !== '' && existsSync(join(directory, 'package.json')) ? directory : undefined
}

/** How to run this program again, for commands that people copy: the programs of a project are found only by npx. */
export const ownCommand = (): string => (ownProject() === undefined ? 'folkmoot' : 'npx folkmoot')
