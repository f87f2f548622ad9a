/**
 * The file of Scalar's API reference for the tests in the browser. Its package has 47 MB, too much for every `npm install`. So it is in
 * a cache of the user. `npx node test/browser/scalar.ts` downloads it.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const version = '1.72.1'
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'folkmoot')
const directory = join(cache, `scalar-${version}`)
const file = join(directory, 'package', 'dist', 'browser', 'standalone.js')

export const isScalarThere = existsSync(file)
export const scalar = (): Promise<Uint8Array> => readFile(file)

function download(): void {
  if (isScalarThere) return
  console.log(`@scalar/api-reference ${version} is downloaded into ${directory}`)
  const begun = `${directory}.${process.pid}`
  mkdirSync(begun, { recursive: true })
  const options = { cwd: begun, shell: process.platform === 'win32' }
  execFileSync('npm', ['pack', '--silent', `@scalar/api-reference@${version}`], options)
  const [packed = ''] = globSync('*.tgz', { cwd: begun })
  execFileSync('tar', ['xzf', packed], options)
  rmSync(directory, { recursive: true, force: true })
  renameSync(begun, directory)
}

if (import.meta.main) download()
