/**
 * Packages that are too large for every `npm install`: Bun, Deno and workerd (350 MB), Next.js and Nitro (370 MB), bundlers (100 MB).
 * They are in a cache of the user, by the versions of the three `package.json` next to this file.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cachePath } from '../../../support/user-cache.ts'

/** Packages that are installed together. */
export interface PackageSet {
  readonly names: string
  readonly packageFile: string
  /** By name. */
  readonly versions: Readonly<Record<string, string>>
  /** Where they are, if they are installed. */
  readonly directory: string
}

function packageSet(folder: string, names: string): PackageSet {
  const packageFile = join(import.meta.dirname, folder, 'package.json')
  const text = readFileSync(packageFile, 'utf8')
  const { devDependencies } = JSON.parse(text) as { readonly devDependencies: Readonly<Record<string, string>> }
  const directory = cachePath(`${folder}-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`)
  return { names, packageFile, versions: devDependencies, directory }
}

export const runtimes = packageSet('runtimes', 'Bun, Deno and workerd')
export const frameworks = packageSet('frameworks', 'Next.js and Nitro')
export const bundlers = packageSet('bundlers', 'webpack, Rspack and esbuild')

export const isInstalled = ({ directory }: PackageSet): boolean => existsSync(directory)

/** Where the program of each runtime is in its package, which is one per platform. */
const programs = {
  bun: '@oven/*/bin/bun{,.exe}',
  deno: '@deno/*/deno{,.exe}',
  workerd: '@cloudflare/workerd-*/bin/workerd{,.exe}',
}

export type Runtime = keyof typeof programs

/** The program of a runtime, if it is installed and has one for this platform. */
export function programOf(runtime: Runtime): string | undefined {
  const modules = join(runtimes.directory, 'node_modules')
  const [program] = isInstalled(runtimes) ? globSync(programs[runtime], { cwd: modules }).toSorted() : []
  return program && join(modules, program)
}
