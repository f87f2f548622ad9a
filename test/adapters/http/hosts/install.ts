/** Installs the packages of the hosts into the cache, and builds the examples that are built. `npm run test:hosts` runs this. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { buildExamples } from './builds.ts'
import { frameworks, isInstalled, type PackageSet, runtimes } from './packages.ts'

function install(set: PackageSet): void {
  if (isInstalled(set)) return
  const { names, packageFile, directory } = set
  console.log(`${names} are installed into ${directory}`)
  const begun = `${directory}.${process.pid}`
  mkdirSync(begun, { recursive: true })
  copyFileSync(packageFile, join(begun, 'package.json'))
  // Scripts of the runtimes only link their programs, which are started directly. Those of the frameworks are not needed.
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: begun,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  try {
    renameSync(begun, directory)
  } catch (error) {
    // Somebody else was quicker.
    rmSync(begun, { recursive: true })
    if (!isInstalled(set)) throw error
  }
}

for (const set of [runtimes, frameworks]) install(set)
await buildExamples()
