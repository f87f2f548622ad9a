/**
 * The file of Scalar's API reference for the tests in the browser. Its package has 47 MB, too much for every `npm install`. So it is in
 * a cache of the user. `npx node test/browser/scalar.ts` downloads it.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { cachePath, fillOnce } from '../support/user-cache.ts'

const version = '1.72.1'
const directory = cachePath(`scalar-${version}`)
const file = join(directory, 'package', 'dist', 'browser', 'standalone.js')

export const isScalarThere = existsSync(file)
export const scalar = (): Promise<Uint8Array> => readFile(file)

function download(): void {
  fillOnce(directory, `@scalar/api-reference ${version} is`, (begun) => {
    const options = { cwd: begun, shell: process.platform === 'win32' }
    execFileSync('npm', ['pack', '--silent', `@scalar/api-reference@${version}`], options)
    const [packed = ''] = globSync('*.tgz', { cwd: begun })
    execFileSync('tar', ['xzf', packed], options)
  })
}

if (import.meta.main) download()
