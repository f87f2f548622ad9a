/**
 * `folkmoot init` of the packed package: the project of every host and storage serves, delivers, and passes its own test.
 * `npm test` takes each host and each storage once, `npm run test:soak` every pair.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync } from 'node:fs'
import { readFile, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { hostParts } from '../../daemon/server/init/app-file.ts'
import { projectHosts, projectStorages } from '../../daemon/server/init/choices.ts'
import { storageParts } from '../../daemon/server/init/server-file.ts'
import { type Command, end, watched } from '../support/command.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { freePort } from '../support/free-port.ts'
import { installed, packed } from '../support/packed.ts'
import { testPostgres } from '../support/postgres.ts'
import { soaking } from '../support/rounds.ts'

const run = promisify(execFile)
/** What a project has written on standard error, without Node's own line about its settings. */
const errorsOf = ({ out }: Command): string => out.stderr.replace(/^\.env not found.*\n/, '')
const tokenLine = /only now: (\S+)\n/

/** What every project needs, installed once. */
const shared = realpathSync(mkdtempSync(join(tmpdir(), 'installed-')))
const parts = [...Object.values(hostParts), ...Object.values(storageParts)]
const needed = parts.flatMap(({ packages }) => Object.entries(packages).map(([name, range]) => `${name}@${range}`))
const tarball = realpathSync(await packed())
await installed(shared, tarball, ...needed)

const server = await testPostgres()
const client = await server.client()
/** npm runs `node` of the PATH. */
const environment = { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter), HOME: process.env['HOME'] }

const pairs = projectHosts.flatMap((host, at) => {
  const storages = soaking ? projectStorages : [projectStorages[at % projectStorages.length] ?? 'lowdb']
  return storages.map((storage) => [host, storage] as const)
})

test.each(pairs)('a project for %s and %s serves, delivers, restarts and passes its test', async (host, storage) => {
  const directory = join(temporaryDirectory(), 'my-app')
  const bin = join(shared, 'node_modules', '.bin', 'folkmoot')
  const made = await run(process.execPath, [bin, 'init', directory, '--host', host, '--storage', storage, '--yes'])
  // The version of a tarball may be in no registry.
  expect(made.stdout).toContain(`\n  npm install ${tarball}\n`)
  expect(await readFile(join(directory, 'README.md'), 'utf8')).toContain(`\`npm install ${tarball}\``)
  await symlink(join(shared, 'node_modules'), join(directory, 'node_modules'), 'junction')
  expect((await run('npm', ['test'], { cwd: directory, env: environment })).stdout).toContain('pass 2')

  let port = await freePort()
  // Each has the database to itself. The one before has ended.
  if (storage === 'postgres') await client.query('DROP SCHEMA IF EXISTS folkmoot CASCADE')
  const start = (settings: Readonly<Record<string, string>> = {}) => {
    const database = storage === 'postgres' ? { DATABASE_URL: server.url } : {}
    const env = { ...environment, PORT: String(port), ...database, ...settings }
    return watched('npm start', spawn('npm', ['start'], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  }
  /** What the app says when it does not start. */
  const refused = async (settings: Readonly<Record<string, string>> = {}) => {
    const app = start(settings)
    expect(await app.ended).toBe(1)
    return errorsOf(app)
  }
  const address = storage === 'postgres' ? server.url : storageParts[storage].address
  const endpoints = async () => {
    const words = ['endpoints', 'list', '--storage', address, '--json']
    const { stdout } = await run(process.execPath, [bin, ...words], { cwd: directory })
    return stdout
      .trim()
      .split('\n')
      .map((line): { readonly id: string; readonly url: string } => JSON.parse(line))
  }

  // Neither refusal makes the key, which is printed only once.
  const other = createServer().listen(port, '127.0.0.1')
  await once(other, 'listening')
  expect(await refused()).toBe(`listen EADDRINUSE: address already in use 127.0.0.1:${port}. Set another PORT or HOST.\n`)
  await new Promise((closed) => other.close(closed))
  for (const publicUrl of ['http://example.org', 'example.org'])
    expect(await refused({ PUBLIC_URL: publicUrl })).toBe(
      `PUBLIC_URL must be an https address, such as https://api.example.org, got ${publicUrl}\n`,
    )
  for (const [name, value, sentence] of [
    ['PORT', 'abc', 'PORT must be a number from 0 to 65535, got abc'],
    ['NETWORK', 'Foo_Bar', 'NETWORK must be lower-case letters, digits and hyphens, got Foo_Bar'],
    ['OWNER_EMAIL', 'x', 'OWNER_EMAIL must be an e-mail address, got x'],
  ] as const)
    expect(await refused({ [name]: value })).toBe(`${sentence}\n`)
  // One sentence that names the variable, and not the key.
  expect(await refused({ FOLKMOOT_ENCRYPTION_KEYS: 'abc' })).toMatch(/^FOLKMOOT_ENCRYPTION_KEYS: (?!.*abc)[^\n]+\n$/)

  const first = start()
  await first.written('only now: ')
  await expect.poll(() => first.out.stdout).toMatch(tokenLine)
  const token = tokenLine.exec(first.out.stdout)?.[1]
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}/admin/v1/networks/my-community/${path}`, { ...init, headers })
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain('/admin/v1/networks/my-community')
  const readme = await readFile(join(directory, 'README.md'), 'utf8')
  const curl = /```sh\n(curl [^`]+)```/.exec(readme)?.[1]?.replace('4000', String(port)).replace('YOUR_API_KEY', String(token))
  expect(JSON.parse((await run('sh', ['-c', curl ?? 'exit 1'])).stdout)).toMatchObject({ email: 'grace@example.org' })
  await first.written('Received MemberJoinedHook')
  // A second app, which one process at a time may be here, takes nothing from the first.
  if (storage !== 'postgres') expect(await refused({ PORT: '0' })).toMatch(/is held by process \d+.*\n$/)
  await end(first)
  const [registered] = await endpoints()
  expect(registered?.url).toBe(`http://127.0.0.1:${port}/webhooks`)

  // The endpoint of the app follows its address, and nothing is sent to the earlier one.
  port = await freePort()
  const second = start()
  await second.written('The API: ')
  const body = JSON.stringify({ email: 'ben@example.org', first_name: 'Ben', last_name: 'Ash' })
  await expect.poll(() => ask('members', { method: 'POST', body }).then(({ status }) => status)).toBe(201)
  await second.written('Received MemberJoinedHook')
  await end(second)
  expect(await endpoints()).toEqual([{ ...registered, url: `http://127.0.0.1:${port}/webhooks`, updated_at: expect.any(String) }])
  const third = start({ PUBLIC_URL: 'https://api.example.org/' })
  await third.written('The API: https://api.example.org/admin/v1/networks/my-community\n')
  await end(third)
  expect((await endpoints()).map(({ id, url }) => [id, url])).toEqual([[registered?.id, 'https://api.example.org/webhooks']])
  for (const { out } of [second, third]) expect(out.stdout).not.toContain('only now')
  expect([first, second, third].map(errorsOf)).toEqual(['', '', ''])
})

test('a server that is installed in a project shows its commands with npx', async () => {
  const words = ['serve', '--storage', 'memory:', '--allow-http', '--port', '0']
  const bin = join(shared, 'node_modules', '.bin', 'folkmoot')
  const started = spawn(process.execPath, [bin, ...words], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const greeting = await watched('folkmoot', started).written("--scope '*'")
  const commands = [...greeting.matchAll(/^ +(.*folkmoot (?:panel-link|networks create|keys create)) /gm)].map(
    ([, command]) => command,
  )
  expect(commands).toEqual(['npx folkmoot panel-link', 'npx folkmoot networks create', 'npx folkmoot keys create'])
  const [, url = ''] = /listens on (\S+)/.exec(greeting) ?? []
  expect(await (await fetch(`${url}/admin/panel/`)).text()).toContain('<code>npx folkmoot panel-link')
})
