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

/** How to run this program again, for commands that people copy: npx finds the programs of a project, and npm those of a checkout. */
export function ownCommand(): string {
  if (import.meta.filename.endsWith('.ts')) return 'npm run -s folkmoot --'
  return ownProject() === undefined ? 'folkmoot' : 'npx folkmoot'
}
