/** What a program loads before it does anything: the time that each command takes. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..', '..')
const bin = (name: string) => join(root, 'daemon', 'bin', `${name}.ts`)

/** Prints every file that Node loads, on standard error. */
const watch = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
import { writeSync } from 'node:fs'
registerHooks({ load: (url, context, next) => (writeSync(2, url + '\\n'), next(url, context)) })`)}`

function loadedBy(...args: readonly string[]): { readonly ours: string[]; readonly packages: string[] } {
  const { stderr, status } = spawnSync(process.execPath, ['--import', watch, ...args], { encoding: 'utf8' })
  expect(status).toBe(0)
  const files = stderr.split('\n').filter((line) => line.startsWith('file:'))
  const packages = files.flatMap((file) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])
  return { ours: files.filter((file) => !file.includes('/node_modules/')), packages: [...new Set(packages)] }
}

test('help loads the command line and nothing that a command needs', () => {
  const { ours, packages } = loadedBy(bin('folkmoot'), '--help')
  expect(packages).toEqual(['commander'])
  expect(ours.length).toBeLessThan(15)
})

test('a command loads no engine, relay or library that it does not use', () => {
  const { packages } = loadedBy(bin('folkmoot'), 'spec')
  expect(packages.toSorted()).toEqual(['commander', 'itty-router', 'valibot'])
})

test('what Node has compiled is kept for the next start', () => {
  const environment = { ...process.env, NODE_COMPILE_CACHE: '', NODE_DISABLE_COMPILE_CACHE: '' }
  execFileSync(process.execPath, [bin('folkmoot'), '--help'], { env: environment })
  expect(existsSync(join(root, 'node_modules', '.cache', 'folkmoot'))).toBe(true)
})
