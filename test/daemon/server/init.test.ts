/** `folkmoot init`: what it writes, refuses, asks and prints. `test/package/init.test.ts` runs the projects. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { createProgram } from '../../../daemon/server/program.ts'
import { typedTemplates, untypedTemplate } from '../../../scripts/templates.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { ended } from '../../support/program.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const templates = join(root, 'templates')
const manifest = (path: string): Readonly<Record<string, unknown>> => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
/** What no one is asked for without a terminal. */
const given = ['--title', 'Paint Pals', '--owner-name', 'Ada Ash', '--owner-email', 'ada@example.org']
const names = [
  ...['.dockerignore', '.env', '.env.example', '.github/workflows/test.yml', '.gitignore', 'Dockerfile', 'README.md', 'app.js'],
  ...['app.test.js', 'package.json', 'receiver.js', 'serve.js', 'server.js', 'settings.js', 'storage.js'],
]
const typedNames = [...names.map((name) => name.replace(/\.js$/, '.ts')), 'tsconfig.json'].sort()
const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()

test('without a terminal it takes node, sqlite and JavaScript, in a new folder, and says what to do next', async () => {
  const folder = join(temporaryDirectory(), 'new', 'My App!')
  const { code, stdout } = await ended('folkmoot', 'init', folder, ...given)
  expect([code, stdout]).toEqual([0, expect.stringContaining(`  cd '${folder}'\n  npm install\n  npm test\n  npm start`)])
  expect(filesOf(folder)).toEqual(names)
  const { version } = manifest(root)
  expect(manifest(folder)).toMatchObject({ name: 'my-app', type: 'module', dependencies: { folkmoot: version } })
  expect(manifest(folder)).not.toHaveProperty('devDependencies')
  expect(readFileSync(join(folder, 'storage.js'), 'utf8')).toContain('sqliteStorage')
})

test('with --json it prints one object', async () => {
  const folder = temporaryDirectory()
  const words = ['--json', '--host', 'hono', '--storage', 'postgres', '--typescript', ...given]
  const { stdout } = await ended('folkmoot', 'init', folder, ...words)
  const result = JSON.parse(stdout)
  expect(result).toMatchObject({ directory: folder, language: 'typescript', host: 'hono', storage: 'postgres' })
  const files = [...typedNames, 'compose.yaml'].sort()
  expect([result.files.toSorted(), filesOf(folder)]).toEqual([files, files])
  const { dependencies, devDependencies } = manifest(folder)
  expect(Object.keys(dependencies ?? {})).toEqual(['@hono/node-server', 'folkmoot', 'hono', 'pg'])
  expect(Object.keys(devDependencies ?? {})).toEqual(['@types/node', 'typescript'])
})

test.each([
  [[], '--title, --owner-name, --owner-email must be given'],
  [['--title', 'Paint Pals', '--owner-email', 'ada@example.org'], '--owner-name must be given'],
  [[...given, '--owner-email', 'ada'], '--owner-email must be an e-mail address, got "ada"'],
  [[...given, '--title', ' '], '--title can\'t be blank, got " "'],
  [[...given, '--title', `# ' \` "`], 'has a # and every kind of quote'],
])('title and first host are never made up: %j is refused, and nothing is written', async (flags, sentence) => {
  const folder = join(temporaryDirectory(), 'app')
  for (const quiet of [[], ['--yes']]) {
    const { code, stderr } = await ended('folkmoot', 'init', folder, ...flags, ...quiet)
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
  }
  expect(existsSync(folder)).toBe(false)
})

test('.env has the title and the first host as they were given, and .env.example does not', async () => {
  const folder = join(temporaryDirectory(), 'app')
  const title = `Ada's "#1" {{name}}`
  await ended('folkmoot', 'init', folder, ...given, '--title', title)
  const settings = (name: string) => parseEnv(readFileSync(join(folder, name), 'utf8'))
  const first = { TITLE: title, OWNER_NAME: 'Ada Ash', OWNER_EMAIL: 'ada@example.org' }
  expect(settings('.env')).toMatchObject({ ...first, NETWORK: 'app' })
  expect(settings('.env.example')).toMatchObject({ TITLE: '', OWNER_NAME: '', OWNER_EMAIL: '' })
  expect(statSync(join(folder, '.env')).mode & 0o077).toBe(0)
  for (const name of filesOf(folder)) expect(readFileSync(join(folder, name), 'utf8').replace(title, '')).not.toMatch(/\{\{\w/)
})

test('a $ in .env is in single quotes: outside of them Docker Compose replaces the name after it', async () => {
  const folder = join(temporaryDirectory(), 'app')
  await ended('folkmoot', 'init', folder, ...given, '--title', 'Win $HOME')
  expect(readFileSync(join(folder, '.env'), 'utf8')).toContain("\nTITLE='Win $HOME'\n")
})

test('a folder that holds something is refused by name, and stays as it is', async () => {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, '.kept'), '')
  const refused = await ended('folkmoot', 'init', folder, '--yes', ...given)
  expect([refused.code, refused.stderr]).toEqual([
    2,
    `folkmoot: ${folder} is not empty, it holds ".kept": name a new or empty folder\n`,
  ])
  expect(readdirSync(folder)).toEqual(['.kept'])
  const file = await ended('folkmoot', 'init', join(folder, '.kept'), '--json', ...given)
  expect([file.code, JSON.parse(file.stderr).error]).toEqual([2, expect.stringContaining('is a file')])
  const below = await ended('folkmoot', 'init', join(folder, '.kept', 'below'), ...given)
  expect([below.code, existsSync(join(folder, 'below'))]).toEqual([2, false])
  const unnamed = await ended('folkmoot', 'init', ...given)
  expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('name a new or empty folder')])
})

test.each([
  ['--host', 'koa'],
  ['--storage', 'mysql'],
])('%s %s is refused, and nothing is written', async (option, value) => {
  const folder = join(temporaryDirectory(), 'app')
  const { code, stderr } = await ended('folkmoot', 'init', folder, option, value, ...given)
  expect([code, stderr]).toEqual([2, expect.stringContaining(option)])
  expect(existsSync(folder)).toBe(false)
})

test('at a terminal it asks for what no flag says, and with --yes it does not', async () => {
  const folder = temporaryDirectory()
  const asked: unknown[] = []
  const answers = ['typescript', 'express', 'lowdb', 'Paint Pals', 'Ada Ash', 'ada@example.org']
  const program = () =>
    createProgram({
      out: { line: () => {}, warn: () => {} },
      json: false,
      version: '1.2.3',
      failed: () => {},
      starting: () => {},
      ask: async (question, { choices, problemOf } = {}) => {
        asked.push(choices ?? [question, problemOf?.(' ')])
        return answers.shift() ?? expect.fail('nothing more is asked')
      },
    })
  await program().parseAsync(['node', 'folkmoot', 'init', join(folder, 'asked')])
  expect(asked).toEqual([
    ['javascript', 'typescript'],
    ['node', 'express', 'fastify', 'hono'],
    ['sqlite', 'postgres', 'lowdb'],
    ['Title of the network', "can't be blank"],
    ['Name of its first host', "can't be blank"],
    ["First host's e-mail address", 'must be an e-mail address'],
  ])
  expect(filesOf(join(folder, 'asked'))).toEqual(typedNames)
  expect(manifest(join(folder, 'asked'))).toMatchObject({ dependencies: { express: expect.any(String), folkmoot: '1.2.3' } })
  await program().parseAsync(['node', 'folkmoot', 'init', join(folder, 'default'), '--yes', ...given])
  expect(Object.keys(manifest(join(folder, 'default'))['dependencies'] ?? {})).toEqual(['folkmoot'])
})

test('without a folder it asks for one', async () => {
  const folder = join(temporaryDirectory(), 'paint-pals')
  const program = createProgram({
    out: { line: () => {}, warn: () => {} },
    json: false,
    version: '1.2.3',
    failed: () => {},
    starting: () => {},
    ask: async (question, { choices } = {}) => choices?.[0] ?? (question === 'Folder' ? folder : expect.fail(question)),
  })
  await program.parseAsync(['node', 'folkmoot', 'init', ...given])
  expect(manifest(folder)['name']).toBe('paint-pals')
})

test.each([
  ['folkmoot', 'folkmoot-community'],
  ['2026', 'community'],
  ['Ünder_3', 'nder-3'],
])('a project in a folder %s is named %s, as npm and a network allow', async (folder, name) => {
  const directory = join(temporaryDirectory(), folder)
  await ended('folkmoot', 'init', directory, ...given)
  expect(manifest(directory)['name']).toBe(name)
})

test('projects get the versions of the packages that the tests run', () => {
  const { dependencies, devDependencies } = manifest(root) as Readonly<Record<string, Readonly<Record<string, string>>>>
  const tested = { ...dependencies, ...devDependencies }
  const manifests = filesOf(templates).filter((path) => path.endsWith('package.json'))
  expect(manifests.length).toBeGreaterThan(3)
  for (const path of manifests) {
    const part = JSON.parse(readFileSync(join(templates, path), 'utf8'))
    const ranges: readonly (readonly [string, unknown])[] = Object.entries({ ...part.dependencies, ...part.devDependencies })
    for (const [name, range] of ranges.filter(([each]) => each !== 'folkmoot'))
      expect([name, range]).toEqual([name, `^${tested[name]}`])
  }
})

test('the JavaScript of the templates is their TypeScript without types: `npx node scripts/templates.ts` writes it', () => {
  expect(typedTemplates.length).toBeGreaterThan(10)
  for (const path of typedTemplates)
    expect([path, readFileSync(join(templates, path.replace(/ts$/, 'js')), 'utf8')]).toEqual([path, untypedTemplate(path)])
})
