import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ownProject } from '../own-project.ts'

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
