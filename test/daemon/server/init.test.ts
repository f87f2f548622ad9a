/** `folkmoot init`: what it writes, refuses, asks and prints. `test/package/init.test.ts` runs the projects. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hostParts } from '../../../daemon/server/init/app-file.ts'
import { storageParts } from '../../../daemon/server/init/server-file.ts'
import { createProgram } from '../../../daemon/server/program.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { ended } from '../../support/program.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const manifest = (path: string): Readonly<Record<string, unknown>> => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
const names = [
  '.env.example',
  '.gitignore',
  'Containerfile',
  'README.md',
  'app.js',
  'app.test.js',
  'package.json',
  'receiver.js',
  'server.js',
]

test('without a terminal it takes node and lowdb, in a new folder, and says what to do next', async () => {
  const folder = join(temporaryDirectory(), 'new', 'My App!')
  const { code, stdout } = await ended('folkmoot', 'init', folder)
  expect([code, stdout]).toEqual([0, expect.stringContaining(`  cd '${folder}'\n  npm install\n  npm test\n  npm start`)])
  expect(readdirSync(folder).sort()).toEqual(names)
  const { version } = manifest(root)
  expect(manifest(folder)).toMatchObject({ name: 'my-app', type: 'module', dependencies: { folkmoot: version } })
})

test('with --json it prints one object', async () => {
  const folder = temporaryDirectory()
  const { stdout } = await ended('folkmoot', 'init', folder, '--json', '--host', 'hono', '--storage', 'postgres')
  const result = JSON.parse(stdout)
  expect(result).toMatchObject({ directory: folder, host: 'hono', storage: 'postgres' })
  expect(result.files.toSorted()).toEqual(names)
  expect(Object.keys(manifest(folder)['dependencies'] ?? {})).toEqual(['@hono/node-server', 'folkmoot', 'hono', 'pg'])
})

test('a folder that holds something is refused by name, and stays as it is', async () => {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, '.kept'), '')
  const refused = await ended('folkmoot', 'init', folder, '--yes')
  expect([refused.code, refused.stderr]).toEqual([
    2,
    `folkmoot: ${folder} is not empty, it holds ".kept": name a new or empty folder\n`,
  ])
  expect(readdirSync(folder)).toEqual(['.kept'])
  const file = await ended('folkmoot', 'init', join(folder, '.kept'), '--json')
  expect([file.code, JSON.parse(file.stderr).error]).toEqual([2, expect.stringContaining('is a file')])
  const below = await ended('folkmoot', 'init', join(folder, '.kept', 'below'))
  expect([below.code, existsSync(join(folder, 'below'))]).toEqual([2, false])
})

test.each([
  ['--host', 'koa'],
  ['--storage', 'mysql'],
])('%s %s is refused, and nothing is written', async (option, value) => {
  const folder = join(temporaryDirectory(), 'app')
  const { code, stderr } = await ended('folkmoot', 'init', folder, option, value)
  expect([code, stderr]).toEqual([2, expect.stringContaining(option)])
  expect(existsSync(folder)).toBe(false)
})

test('at a terminal it asks for host and storage until it knows them, and with --yes it does not', async () => {
  const folder = temporaryDirectory()
  const questions: string[] = []
  const answers = ['koa', ' express ', '']
  const program = () =>
    createProgram({
      out: { line: () => {}, warn: () => {} },
      json: false,
      version: '1.2.3',
      failed: () => {},
      starting: () => {},
      ask: async (question) => {
        questions.push(question)
        return answers.shift() ?? expect.fail('nothing more is asked')
      },
    })
  await program().parseAsync(['node', 'folkmoot', 'init', join(folder, 'asked')])
  expect(questions.map((question) => question.split(' ')[0])).toEqual(['Host', 'Host', 'Storage'])
  expect(manifest(join(folder, 'asked'))).toMatchObject({ dependencies: { express: expect.any(String), folkmoot: '1.2.3' } })
  await program().parseAsync(['node', 'folkmoot', 'init', join(folder, 'default'), '--yes'])
  expect(Object.keys(manifest(join(folder, 'default'))['dependencies'] ?? {})).toEqual(['folkmoot'])
})

test('a project may be named like a package that it needs', async () => {
  const folder = join(temporaryDirectory(), 'folkmoot')
  await ended('folkmoot', 'init', folder)
  expect(manifest(folder)['name']).toBe('folkmoot-community')
})

test('projects get the versions of the frameworks that the tests run', () => {
  const { dependencies, devDependencies } = manifest(root) as Readonly<Record<string, Readonly<Record<string, string>>>>
  const tested = { ...dependencies, ...devDependencies }
  for (const { packages } of [...Object.values(hostParts), ...Object.values(storageParts)])
    for (const [name, range] of Object.entries(packages)) expect([name, range]).toEqual([name, `^${tested[name]}`])
})
