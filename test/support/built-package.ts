/** The package as it is installed, for examples that run as processes. They load it much quicker than its many sources. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bundle, programs } from '../../scripts/bundle.ts'

const root = join(import.meta.dirname, '..', '..')

/** @returns a directory whose `node_modules` has the package, and those of this checkout beside it */
export async function buildPackage(within: string): Promise<string> {
  const directory = mkdtempSync(join(within, 'package-'))
  const packages = join(directory, 'node_modules')
  linkPackages(join(root, 'node_modules'), packages)
  const own = join(packages, 'folkmoot')
  mkdirSync(own)
  copyFileSync(join(root, 'package.json'), join(own, 'package.json'))
  await bundle(join(own, 'dist'), programs)
  return directory
}

/** Links every package of a directory into another one. */
export function linkPackages(from: string, to: string): void {
  mkdirSync(to)
  for (const name of readdirSync(from)) if (!name.startsWith('.')) symlinkSync(join(from, name), join(to, name), 'junction')
}
