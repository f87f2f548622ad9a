/**
 * Installs the runtimes beside Node: Bun, Deno and workerd. They have 350 MB, too much for every `npm install`. So they are in a
 * cache of the user, by the versions of `runtimes/package.json`. `npm run test:hosts` runs this.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const runtimes = join(import.meta.dirname, 'runtimes')
const versions = readFileSync(join(runtimes, 'package.json'), 'utf8')
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'folkmoot')
const installed = join(cache, `runtimes-${createHash('sha256').update(versions).digest('hex').slice(0, 16)}`)

/** Where the program of each runtime is in its package, which is one per platform. */
const programs = {
  bun: '@oven/*/bin/bun{,.exe}',
  deno: '@deno/*/deno{,.exe}',
  workerd: '@cloudflare/workerd-*/bin/workerd{,.exe}',
}

export type Runtime = keyof typeof programs

/** The program of a runtime, if it is installed and has one for this platform. */
export function programOf(runtime: Runtime): string | undefined {
  const modules = join(installed, 'node_modules')
  const [program] = existsSync(modules) ? globSync(programs[runtime], { cwd: modules }).toSorted() : []
  return program && join(modules, program)
}

/** The version of a runtime. */
export function runtimeVersion(runtime: Runtime): string {
  const { devDependencies } = JSON.parse(versions) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  return devDependencies[runtime] ?? ''
}

function install(): void {
  if (existsSync(installed)) return
  console.log(`Bun, Deno and workerd are installed into ${installed}`)
  const begun = `${installed}.${process.pid}`
  mkdirSync(begun, { recursive: true })
  copyFileSync(join(runtimes, 'package.json'), join(begun, 'package.json'))
  // Their scripts only link the programs, which are started directly.
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: begun,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  try {
    renameSync(begun, installed)
  } catch (error) {
    // Somebody else was quicker.
    rmSync(begun, { recursive: true })
    if (!existsSync(installed)) throw error
  }
}

if (import.meta.main) install()
