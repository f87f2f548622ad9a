/** Where this program is installed. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * The project that has installed this package; `undefined` for a checkout, an image, and a package that is installed globally.
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

/** The tarball that npm installed this package from; `undefined` for a package of a registry, and for a checkout. */
export function ownTarball(): string | undefined {
  const project = ownProject()
  if (project === undefined) return undefined
  try {
    const lock = JSON.parse(readFileSync(join(project, 'node_modules', '.package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly resolved?: unknown }>>
    }
    const path = /^file:(.+\.tgz)$/.exec(String(lock.packages['node_modules/folkmoot']?.resolved))?.[1]
    const file = path === undefined ? undefined : resolve(project, path)
    return file !== undefined && existsSync(file) ? file : undefined
  } catch {
    // Other package managers write no such file.
    return undefined
  }
}
