/** A program before its first work: the time that each command takes, and the Node that it runs on. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { environment, program } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'

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
  const outside = ours.filter((file) => !file.includes('/daemon/')).map((file) => file.slice(pathToFileURL(root).href.length))
  const few = [
    '/lib/audit-actions.ts',
    '/lib/base/date-time.ts',
    '/lib/base/without-password.ts',
    '/lib/errors.ts',
    '/lib/outbox/values.ts',
    '/lib/storage/contract.ts',
  ]
  expect(outside.toSorted()).toEqual(few)
  expect(ours.length).toBeLessThan(36)
})

test('help of the relay loads the command line, and its log', () => {
  const { packages } = loadedBy(bin('folkmoot-relay'), '--help')
  for (const heavy of ['undici', 'cockatiel', 'valibot', 'fast-wrap-ansi', '@clack/prompts', 'pg'])
    expect(packages).not.toContain(heavy)
})

test('a command loads no engine, relay or library that it does not use', () => {
  const { packages } = loadedBy(bin('folkmoot'), 'spec')
  // The parser of comments' HTML; in the package its tokenizer alone is left.
  const parser = ['dom-serializer', 'domelementtype', 'domhandler', 'domutils', 'entities', 'htmlparser2']
  expect(packages.toSorted()).toEqual(['character-entities-html4', 'commander', ...parser, 'itty-router', 'valibot'])
})

test('what Node has compiled is kept for the next start', () => {
  const environment = { ...process.env, NODE_COMPILE_CACHE: '', NODE_DISABLE_COMPILE_CACHE: '' }
  execFileSync(process.execPath, [bin('folkmoot'), '--help'], { env: environment })
  expect(existsSync(join(root, 'node_modules', '.cache', 'folkmoot'))).toBe(true)
})

/** As if an optional package were not installed. */
const without = (name: string) =>
  `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
const missing = () => { throw Object.assign(new Error("Cannot find package '${name}'"), { code: 'ERR_MODULE_NOT_FOUND' }) }
const isThat = (name) => name === '${name}' || name.startsWith('${name}/')
registerHooks({ resolve: (name, context, next) => (isThat(name) ? missing() : next(name, context)) })`)}`
const withoutPg = without('pg')

test.each([
  ['folkmoot', 'serve', '--port', '0', '--storage'],
  ['folkmoot', 'migrate', '--storage'],
  ['folkmoot-relay', 'run', '--control-port', '0', '--outbox'],
  ['folkmoot-relay', 'status', '--outbox'],
])('%s %s on PostgreSQL names the package pg where it is missing', (name, ...args) => {
  const start = (address: string) =>
    spawnSync(process.execPath, ['--import', withoutPg, program(name), ...args, address], {
      encoding: 'utf8',
      env: environment(),
    })
  expect(start('postgres://me:secret@127.0.0.1:1/none')).toEqual(
    expect.objectContaining({ status: 2, stdout: '', stderr: `${name}: PostgreSQL needs the package \`pg\`: npm install pg\n` }),
  )
})

/** What a program ends with that runs in the checkout. */
const ended = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: environment(), cwd: root })
  return { status, stdout, stderr }
}

test('folkmoot mcp names the command that installs its package, where it is missing', () => {
  const flags = ['mcp', '--url', 'http://127.0.0.1:9', '--network', '1', '--token', 'a-token']
  const sentence = 'folkmoot mcp needs the package `@modelcontextprotocol/server`: npm install @modelcontextprotocol/server'
  const start = (...more: readonly string[]) =>
    ended('--import', without('@modelcontextprotocol/server'), bin('folkmoot'), ...flags, ...more)
  expect(start()).toEqual({ status: 2, stdout: '', stderr: `folkmoot: ${sentence}\n` })
})

test('a library without its optional packages names their commands, and the other ports are there', () => {
  const tried = `
import { createMcp } from './adapters/mcp/index.ts'
import { phoneNumbers, ports } from './adapters/ports/index.ts'
import { testCommunity } from './adapters/testing/index.ts'
const { community } = await testCommunity()
for (const make of [() => createMcp(community), phoneNumbers]) try { make() } catch (error) { console.log(String(error)) }
console.log(Object.keys(ports()).join())`
  const hooks = ['@modelcontextprotocol/server', 'libphonenumber-js'].flatMap((name) => ['--import', without(name)])
  expect(ended(...hooks, '--input-type=module', '--eval', tried)).toEqual({
    status: 0,
    stderr: '',
    stdout: [
      'MissingPackage: createMcp needs the package `@modelcontextprotocol/server`: npm install @modelcontextprotocol/server',
      'MissingPackage: phoneNumbers() needs the package `libphonenumber-js`: npm install libphonenumber-js',
      'recurrence,fileTypes\n',
    ].join('\n'),
  })
})

test.each([
  ['folkmoot', 'serve', '--storage', 'memory'],
  ['folkmoot-relay', 'run', '--outbox', '/nowhere/outbox'],
])('%s %s --telemetry names the package that it needs, where it is missing', (name, ...args) => {
  const sentence = '--telemetry needs the package `@opentelemetry/api`: npm install @opentelemetry/api'
  const start = ended('--import', without('@opentelemetry/api'), bin(name), ...args, '--telemetry')
  expect(start).toEqual({ status: 2, stdout: '', stderr: `${name}: ${sentence}\n` })
})

test('without tracing nothing of OpenTelemetry is loaded, and `openTelemetry()` names its package where it is missing', () => {
  const tried = `
import { openTelemetry } from './adapters/telemetry/index.ts'
import { testCommunity } from './adapters/testing/index.ts'
import './daemon/relay/index.ts'
const { community } = await testCommunity()
await community.fetch(new Request('https://api.test/admin/v1/networks/1/members', { headers: { traceparent: '00-${'1'.repeat(32)}-${'2'.repeat(16)}-01' } }))
console.log('served')
await openTelemetry().catch((error) => console.log(String(error)))`
  expect(
    ended(
      '--disable-warning=ExperimentalWarning',
      '--import',
      without('@opentelemetry/api'),
      '--input-type=module',
      '--eval',
      tried,
    ),
  ).toEqual({
    status: 0,
    stderr: '',
    stdout: 'served\nMissingPackage: openTelemetry() needs the package `@opentelemetry/api`: npm install @opentelemetry/api\n',
  })
})

test('a relay on a directory works without the package pg', async () => {
  const flags = ['run', '--control-port', '0', '--json', '--outbox', temporaryDirectory()]
  const relay = spawn(process.execPath, ['--import', withoutPg, bin('folkmoot-relay'), ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void relay.kill('SIGKILL'))
  const ended = once(relay, 'close')
  let log = ''
  // It writes until it ends; where it cannot start, it ends without that line.
  for await (const text of relay.stdout) {
    const isStarted = !log.includes('"relay.started"') && `${log}${text}`.includes('"relay.started"')
    log += text
    // Once: a second signal is one too many for a process that ends.
    if (isStarted) relay.kill('SIGTERM')
  }
  expect(log).toContain('"relay.started"')
  expect(await ended).toEqual([0, null])
})

/** As an old Node would tell it. */
const pretend = (version: string) =>
  `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '${version}' })`

test.each(['folkmoot', 'folkmoot-relay'])(
  '%s ends with a sentence on a Node that is too old, and runs on the oldest that is not',
  (name) => {
    const start = (version: string) =>
      spawnSync(process.execPath, ['--import', pretend(version), bin(name), '--help'], { encoding: 'utf8' })
    const sentence = `${name}: this is Node 22.18.0, and folkmoot needs Node 22.19 or later: install a newer one\n`
    expect(start('22.18.0')).toMatchObject({ status: 2, stdout: '', stderr: sentence })
    expect(start('22.19.0')).toMatchObject({ status: 0, stderr: '' })
  },
)

/** The sources of the entries of the package. The suite of storages runs under vitest, which has its own sentence. */
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly exports: object }
const entries = Object.values(exports)
  .flatMap((entry: string | { readonly default: string }) => (typeof entry === 'string' ? [] : entry.default))
  .map((path) => path.replace('./dist/', '').replace(/\.js$/, '.ts'))
  .filter((path) => path !== 'lib/testing/index.ts')

/** The faults of all entries on a Node that is too old: one process tries one after the other. */
const faultsOn = (version: string): Readonly<Record<string, string>> => {
  const paths = Object.fromEntries(entries.map((entry) => [entry, join(root, entry)]))
  const load = `const faults = {}
for (const [entry, path] of Object.entries(${JSON.stringify(paths)}))
  faults[entry] = await import(path).then(() => 'loads', (error) => error.message)
console.log(JSON.stringify(faults))`
  const args = ['--import', pretend(version), '--input-type=module', '-e', load]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

test('every entry of the package ends with a sentence on a Node that is too old', () => {
  const sentence = expect.stringContaining('folkmoot needs Node 22.19 or later, and this is Node 20.20.2: install a newer one')
  expect(entries.length).toBeGreaterThan(15)
  expect(faultsOn('20.20.2')).toEqual(Object.fromEntries(entries.map((entry) => [entry, sentence])))
})

test('the core loads where something else than Node names an old Node', () => {
  const load = (like: string) => {
    const args = ['--import', pretend('20.11.1'), '--import', `data:text/javascript,${like}`, '--input-type=module', '-e']
    const script = `await import(${JSON.stringify(join(root, 'lib', 'index.ts'))})\nconsole.log('loads')`
    return spawnSync(process.execPath, [...args, script], { encoding: 'utf8' }).stdout
  }
  const versions = "Object.defineProperty(process, 'versions', { value: { node: '20.11.1', deno: '2.0.0' } })"
  const worker = "Object.defineProperty(globalThis, 'navigator', { value: { userAgent: 'Cloudflare-Workers' } })"
  expect([versions, worker, 'delete globalThis.process'].map(load)).toEqual(['loads\n', 'loads\n', 'loads\n'])
})

/** The machine's own Node, where it is an old one. */
const old = ['/usr/bin/node', '/usr/local/bin/node'].find(
  (path) => existsSync(path) && /^v(?:1\d|2[01])\./.test(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout),
)

test('a real old Node reads the first lines and the check', async ({ skip }) => {
  skip(old === undefined, 'the machine has no Node before 22')
  const directory = temporaryDirectory()
  await writeFile(join(directory, 'package.json'), '{"type":"module"}')
  for (const path of ['daemon/bin/begin.ts', 'adapters/node-version.ts', 'adapters/sql/sqlite/module.ts']) {
    const text = stripTypeScriptTypes(await readFile(join(root, path), 'utf8')).replace(
      "'../../node-version.ts'",
      "'./node-version.js'",
    )
    await writeFile(join(directory, basename(path).replace(/ts$/, 'js')), text)
  }
  const script = (text: string) => spawnSync(old ?? '', ['--input-type=module', '-e', text], { cwd: directory, encoding: 'utf8' })
  const begun = script("import { begin } from './begin.js'\nbegin('folkmoot', () => import('./nothing.js'))")
  expect(begun).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^folkmoot: this is Node .*, and folkmoot needs Node/),
  })
  expect(script("await import('./module.js')").stderr).toContain('folkmoot needs Node 22.19 or later')
})
