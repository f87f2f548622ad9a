import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../support/directory.ts'
import { freePort } from '../support/free-port.ts'
import { installed, packed } from '../support/packed.ts'
import { shared } from '../support/shared.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const { name, exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly exports: Readonly<Record<string, unknown>>
}

const tarball = await packed()

test('the packed package installs, every entry loads, and its programs start', async () => {
  const directory = temporaryDirectory()
  await mkdir(join(directory, 'app'))
  const app = join(directory, 'app')
  await installed(app, tarball)

  const entries = Object.keys(exports).filter((entry) => !entry.endsWith('package.json') && entry !== './testing/storage')
  const load = entries.map((entry) => `await import('${name}${entry.slice(1)}')`).join('\n')
  await writeFile(join(app, 'load.js'), `${load}\nconsole.log('loaded')`)
  expect((await run(process.execPath, ['load.js'], { cwd: app })).stdout).toBe('loaded\n')

  // CommonJS loads them too, so that no module may await at its top.
  const require = entries.map((entry) => `require('${name}${entry.slice(1)}')`).join('\n')
  await writeFile(join(app, 'load.cjs'), `${require}\nconsole.log('loaded')`)
  expect((await run(process.execPath, ['load.cjs'], { cwd: app })).stdout).toBe('loaded\n')

  // No vitest is there.
  await writeFile(
    join(app, 'unit.js'),
    `const { client } = await (await import('${name}/testing')).testCommunity()\nconsole.log((await client.me.show()).name)`,
  )
  expect((await run(process.execPath, ['unit.js'], { cwd: app })).stdout).toBe('Ada Ash\n')

  // No optional package is there.
  const flags = ['mcp', '--url', 'http://127.0.0.1:9', '--network', '1', '--token', 'a-token']
  const agent = spawnSync(process.execPath, [join(app, 'node_modules', '.bin', 'folkmoot'), ...flags], { encoding: 'utf8' })
  const sentence = 'folkmoot mcp needs the package `@modelcontextprotocol/server`: npm install @modelcontextprotocol/server'
  expect([agent.status, agent.stdout, agent.stderr]).toEqual([2, '', `folkmoot: ${sentence}\n`])
  const portNames = `console.log(Object.keys((await import('${name}/ports')).ports()).join())`
  await writeFile(join(app, 'ports.js'), portNames)
  expect((await run(process.execPath, ['ports.js'], { cwd: app })).stdout).toBe('recurrence,fileTypes\n')

  for (const program of ['folkmoot', 'folkmoot-relay']) {
    const { stdout } = await run(process.execPath, [join(app, 'node_modules', '.bin', program), '--help'], { cwd: app })
    expect(stdout).toContain(`Usage: ${program}`)
  }
})

test('the package names the licences of the code of others in its files', async () => {
  const { stdout } = await run('tar', ['-xzOf', tarball, 'package/dist/THIRD-PARTY-LICENSES'], { maxBuffer: 10_000_000 })
  const inside = [...stdout.matchAll(/^(\S+) [\d.]+ \([\w-]+\)$/gm)].map(([, name]) => name)
  expect(inside).toEqual(expect.arrayContaining(['@clack/prompts', 'fast-wrap-ansi', 'file-type', 'hono', 'htmlparser2']))
  expect(stdout.match(/permission is hereby granted|permission to use, copy/gi)).toHaveLength(inside.length)
})

test('the package has pages for its users, and none for contributors', async () => {
  const { stdout } = await run('tar', ['-tzf', tarball])
  const pages = stdout.split('\n').filter((path) => path.startsWith('package/docs/'))
  expect(pages).toContain('package/docs/storage.md')
  expect(pages.filter((path) => /^package\/docs\/(?:contributing|decisions)\//.test(path))).toEqual([])
})

test('the core loads with valibot and itty-router alone', async () => {
  const directory = temporaryDirectory()
  await run('tar', ['-xzf', tarball, '-C', directory])
  for (const name of ['valibot', 'itty-router'])
    await cp(join(root, 'node_modules', name), join(directory, 'node_modules', name), { recursive: true })
  await writeFile(
    join(directory, 'load.mjs'),
    `const { createCommunity } = await import('./package/dist/lib/index.js')\nconsole.log(typeof createCommunity)`,
  )
  expect((await run(process.execPath, ['load.mjs'], { cwd: directory })).stdout).toBe('function\n')
})

/** The files of the package that a file loads when it starts, itself among them. */
async function filesLoadedBy(file: string): Promise<ReadonlySet<string>> {
  const files = new Set([file])
  for (const each of files)
    for (const [, path = ''] of (await readFile(each, 'utf8')).matchAll(/^(?:import|export)\b[^'"\n]*["'](\.[^"']+)["']/gm))
      files.add(join(each, '..', path))
  return files
}

/** The packages of others that a file of the package loads when it starts, each by the path that is imported. */
async function packagesLoadedBy(file: string): Promise<readonly string[]> {
  const packages = new Set<string>()
  for (const each of await filesLoadedBy(file))
    for (const [, path = ''] of (await readFile(each, 'utf8')).matchAll(/^(?:import|export)\b[^'"\n]*["']([^."'][^"']*)["']/gm))
      if (!path.startsWith('node:')) packages.add(path)
  return [...packages].sort()
}

test('a server, and the ports of a host, load no package that only some requests need', async () => {
  const directory = temporaryDirectory()
  await run('tar', ['-xzf', tarball, '-C', directory])
  const dist = join(directory, 'package', 'dist')
  const ofPorts = ['rrule-temporal', 'temporal-polyfill', 'valibot']
  expect(await packagesLoadedBy(join(dist, 'adapters', 'ports', 'index.js'))).toEqual(ofPorts)
  const serve = (await readdir(join(dist, 'chunks'))).find((file) => file.startsWith('serve-')) ?? ''
  const limiter = ['RateLimiterMemory', 'RateLimiterRes', 'RateLimiterStoreAbstract'].map(
    (name) => `rate-limiter-flexible/lib/${name}.js`,
  )
  const ofServer = ['commander', 'itty-router/IttyRouter', 'p-retry', ...limiter, ...ofPorts]
  expect(await packagesLoadedBy(join(dist, 'chunks', serve))).toEqual(ofServer)
})

test('the library loads few files, and the programs load none of it to show their help', async () => {
  const directory = temporaryDirectory()
  await run('tar', ['-xzf', tarball, '-C', directory])
  const dist = join(directory, 'package', 'dist')
  const library = await filesLoadedBy(join(dist, 'lib', 'index.js'))
  expect(library.size).toBeGreaterThan(1)
  expect(library.size).toBeLessThan(15)

  const sizeOf = async (files: Iterable<string>): Promise<number> => {
    let bytes = 0
    for (const file of files) bytes += (await readFile(file)).length
    return bytes
  }
  for (const program of ['folkmoot-main', 'folkmoot-relay-main']) {
    const main = (await readdir(join(dist, 'chunks'))).find((file) => file.startsWith(`${program}-`)) ?? ''
    const files = await filesLoadedBy(join(dist, 'chunks', main))
    expect(files.size).toBeGreaterThan(5)
    expect(await sizeOf(files)).toBeLessThan(60_000)
  }
})

test('the receiver loads with no package at all, and is small', async () => {
  const directory = temporaryDirectory()
  await run('tar', ['-xzf', tarball, '-C', directory])
  const input = join(directory, 'package', 'dist', 'lib', 'receiver', 'index.js')
  await writeFile(
    join(directory, 'load.mjs'),
    `const { receive } = await import(${JSON.stringify(input)})\nconsole.log(typeof receive)`,
  )
  expect((await run(process.execPath, ['load.mjs'], { cwd: directory })).stdout).toBe('function\n')
  const bundle = await rolldown({ input, platform: 'neutral' })
  const { output } = await bundle.generate({ minify: true })
  await bundle.close()
  expect(output.flatMap((chunk) => ('imports' in chunk ? [...chunk.imports, ...chunk.dynamicImports] : []))).toEqual([])
  expect(output.reduce((sum, chunk) => sum + ('code' in chunk ? chunk.code.length : 0), 0)).toBeLessThan(12_000)
})

/** Begins to listen or responds to a request, as each block of the page does. */
const serveBlock = `
const { createServer } = await import('node:http')
const block = await import(process.argv[2])
const { sign } = await import('folkmoot/receiver')
const body = JSON.stringify({ event_id: 'e', event_timestamp: 't', event_type: 'PostCreatedHook', payload: { title: 'Hello' } })
const kept = new Map()
const env = { ...process.env, EVENTS: { get: async (id) => kept.get(id) ?? null, put: async (id, text) => kept.set(id, text) } }
const lambda = async (request) => {
  const event = { headers: Object.fromEntries(request.headers), body: Buffer.from(body).toString('base64'), isBase64Encoded: true }
  return { status: (await block.handler(event)).statusCode }
}
const handle = block.POST ?? block.handle ?? (block.handler && lambda) ?? (block.default && ((request) => block.default.fetch(request, env)))
const url = \`http://127.0.0.1:\${process.env.PORT}/webhooks\`
for (const token of [process.env.WEBHOOK_TOKEN, process.env.WEBHOOK_TOKEN, 'wrong']) {
  const headers = await sign(body, { token, secrets: process.env.WEBHOOK_SECRET })
  const request = new Request(url, { method: 'POST', headers, body })
  console.log((await (handle ? handle(request) : fetch(request))).status)
}
// A route next to the receiver still gets what the framework parses.
if (process.argv[3]) console.log(await (await fetch(new URL('/own', url), { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text())
process.exit(0)
`

test('the examples of docs/receiver.md receive an event once, and refuse another token', async () => {
  const directory = temporaryDirectory()
  await run('tar', ['-xzf', tarball, '-C', directory])
  const packages = join(directory, 'node_modules')
  await mkdir(packages)
  await cp(join(directory, 'package'), join(packages, name), { recursive: true })
  for (const host of ['express', 'fastify']) await symlink(join(root, 'node_modules', host), join(packages, host))
  await writeFile(join(directory, 'serve.mjs'), serveBlock)
  const page = await readFile(join(root, 'docs', 'receiver.md'), 'utf8')
  const blocks = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)
  expect(blocks).toHaveLength(9)
  const written = await Promise.all(
    blocks.map(async (code, place) => {
      const file = join(directory, `block-${place}.mjs`)
      await writeFile(file, code)
      const env = {
        ...process.env,
        PORT: String(await freePort()),
        WEBHOOK_TOKEN: 'my-webhook-token',
        WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      }
      const isTest = code.includes('await sign(')
      const own = code.includes("'/own'") ? ['own'] : []
      return (await run(process.execPath, isTest ? [file] : ['serve.mjs', file, ...own], { cwd: directory, env })).stdout
    }),
  )
  const received = 'PostCreatedHook\n204\n204\n401\n'
  expect(written).toEqual([
    'a new post: Hello\n204\n204\n401\n',
    expect.stringMatching(/^PostCreatedHook e \d+ bytes\n204\n204\n401\n$/),
    received,
    expect.stringMatching(/^PostCreatedHook\n204\n204\n401\n\{"own":\{"event_id":"e",.*\}\}\n$/),
    received,
    received,
    received,
    // It has no store.
    'PostCreatedHook\n204\nPostCreatedHook\n204\n401\n',
    'Hello\n',
  ])
})

const versionOf = (path: string) => spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout
/** The machine's own Node, where it is an old one. */
const old = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => existsSync(path) && /^v20\./.test(versionOf(path)))

test('on a real old Node every entry of the package ends with one sentence', async ({ skip }) => {
  skip(old === undefined, 'the machine has no Node 20')
  const directory = await shared('package')
  const entries = Object.keys(exports).filter((entry) => !entry.endsWith('package.json'))
  const load = `for (const entry of ${JSON.stringify(entries)})
  await import('${name}' + entry.slice(1)).then(() => console.log(entry, 'loads'), ({ message }) => console.log(message))`
  const { stdout } = await run(old ?? '', ['--input-type=module', '-e', load], { cwd: directory })
  const sentence = /^folkmoot needs Node 22\.19 or later, and this is Node 20\.[\d.]+: install a newer one$/
  expect(stdout.trim().split('\n')).toEqual(entries.map(() => expect.stringMatching(sentence)))
})
