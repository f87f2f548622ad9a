/** Installs the packages of the hosts into the cache, and builds the examples that are built. `npm run test:hosts` runs this. */
import { execFileSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fillOnce } from '../../../support/user-cache.ts'
import { buildExamples } from './builds.ts'
import { bundlers, frameworks, type PackageSet, runtimes } from './packages.ts'

function install({ names, packageFile, directory }: PackageSet): void {
  fillOnce(directory, `${names} are`, (begun) => {
    copyFileSync(packageFile, join(begun, 'package.json'))
    // Scripts of the runtimes only link their programs, which are started directly. Those of the frameworks are not needed.
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: begun,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    })
  })
}

for (const set of [runtimes, frameworks, bundlers]) install(set)
await buildExamples()
