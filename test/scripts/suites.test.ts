/** `npm test` and `npm run test:rest`: every test file belongs to one of the two, and every project to one of their commands. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import * as v from 'valibot'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const { scripts } = v.parse(
  v.object({ scripts: v.record(v.string(), v.string()) }),
  JSON.parse(readFileSync('package.json', 'utf8')),
)
const projectsOf = (script: string): readonly string[] =>
  [...(scripts[script] ?? '').matchAll(/--project (\S+)/g)].map(([, name = '']) => name)

/** The files of each project, as vitest finds them. */
async function filesOf(script: string): Promise<readonly { readonly file: string; readonly projectName: string }[]> {
  const words = projectsOf(script).flatMap((name) => ['--project', name])
  const command = ['node_modules/vitest/vitest.mjs', 'list', '--filesOnly', '--json', ...words]
  const { stdout } = await run(process.execPath, command, { maxBuffer: 64 * 1024 * 1024 })
  return JSON.parse(stdout)
}

test('every test file is in one of the two commands, once', async () => {
  const found = (await Promise.all(['test', 'test:rest'].map(filesOf))).flat()
  const inOne = found.filter(({ projectName }) => ['main', 'rest'].includes(projectName)).map(({ file }) => file)
  expect(new Set(inOne).size).toBe(inOne.length)
  const names = new Set(found.map(({ file }) => file.replaceAll('\\', '/').replace(/^.*\/test\//, 'test/')))
  const there = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.test.ts') && !name.startsWith('test/scripts/fails/'))
  expect(there.filter((name) => !names.has(name))).toEqual([])
})
