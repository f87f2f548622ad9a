/**
 * `folkmoot init` of the packed package: its projects serve, deliver, and pass their own test. `npm run test:rest` takes each host,
 * storage and language at least once, `npm run test:soak` all of them with each other.
 */
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { projectHosts, projectLanguages, projectStorages } from '../../daemon/server/init/choices.ts'
import { modules } from '../../scripts/bundle.ts'
import { declare } from '../../scripts/declarations.ts'
import { end, watched } from '../support/command.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { freePort } from '../support/free-port.ts'
import { installed, packed } from '../support/packed.ts'
import { testPostgres } from '../support/postgres.ts'
import { soaking } from '../support/rounds.ts'

const run = promisify(execFile)
const tokenLine = /only now: (\S+)\n/

/** What every project needs, installed once. */
const shared = realpathSync(mkdtempSync(join(tmpdir(), 'installed-')))
const templates = join(import.meta.dirname, '..', '..', 'templates')
const needed = readdirSync(templates, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('package.json'))
  .map((path) => JSON.parse(readFileSync(join(templates, path), 'utf8')))
  .flatMap(({ dependencies, devDependencies }) => Object.entries({ ...dependencies, ...devDependencies }))
  .filter(([name]) => name !== 'folkmoot')
  .map(([name, range]) => `${name}@${range}`)
const tarball = realpathSync(await packed())
await installed(shared, tarball, ...needed)
// Only with the soak has the package its declarations already.
if (!soaking) await declare(join(shared, 'node_modules', 'folkmoot', 'dist'), modules)

const server = await testPostgres()
const client = await server.client()
/** npm runs `node` of the PATH. */
const environment = { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter), HOME: process.env['HOME'] }

const kinds = soaking
  ? projectHosts.flatMap((host) =>
      projectStorages.flatMap((storage) => projectLanguages.map((language) => [host, storage, language] as const)),
    )
  : ([
      ['node', 'sqlite', 'typescript'],
      ['express', 'postgres', 'javascript'],
      ['fastify', 'lowdb', 'typescript'],
      ['hono', 'sqlite', 'javascript'],
    ] as const)

const first = ['--title', 'Paint Pals', '--owner-name', 'Ada Ash', '--owner-email', 'ada@example.org']
const bin = join(shared, 'node_modules', '.bin', 'folkmoot')
/** Makes a project, and uses what is installed already. */
async function made(directory: string, ...flags: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [bin, 'init', directory, ...flags, ...first, '--yes'])
  await symlink(join(shared, 'node_modules'), join(directory, 'node_modules'), 'junction')
  return stdout
}

test.each(kinds)(
  'a project for %s and %s in %s serves, delivers, restarts and passes its test',
  async (host, storage, language) => {
    const directory = join(temporaryDirectory(), 'my-app')
    const typescript = language === 'typescript' ? ['--typescript'] : []
    expect(await made(directory, '--host', host, '--storage', storage, ...typescript)).toContain('\n  npm install\n  npm test\n')
    // In TypeScript this checks the types, too.
    expect((await run('npm', ['test'], { cwd: directory, env: environment })).stdout).toContain('pass 4')

    let port = await freePort()
    // Each has the database to itself. The one before has ended.
    if (storage === 'postgres') await client.query('DROP SCHEMA IF EXISTS folkmoot CASCADE')
    const encryptionKey = randomBytes(32).toString('base64')
    const ext = language === 'typescript' ? 'ts' : 'js'
    const start = (settings: Readonly<Record<string, string>> = {}) => {
      const database = storage === 'postgres' ? { DATABASE_URL: server.url } : {}
      const keys = { FOLKMOOT_ENCRYPTION_KEYS: encryptionKey }
      const env = { ...environment, PORT: String(port), ...database, ...keys, ...settings }
      return watched(
        'app',
        spawn(process.execPath, [`server.${ext}`], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] }),
      )
    }
    /** What the app says when it does not start. */
    const refused = async (settings: Readonly<Record<string, string>> = {}) => {
      const app = start(settings)
      expect(await app.ended).toBe(1)
      return app.out.stderr
    }
    const readme = await readFile(join(directory, 'README.md'), 'utf8')
    const address = /--storage (\S+)/.exec(readme)?.[1] ?? expect.fail('README.md names no storage')
    const folkmoot = async (...words: readonly string[]) => {
      const at = ['--storage', storage === 'postgres' ? server.url : address, '--json']
      return (await run(process.execPath, [bin, ...words, ...at], { cwd: directory, env: environment })).stdout
    }
    const endpoints = async () =>
      (await folkmoot('endpoints', 'list'))
        .trim()
        .split('\n')
        .map((line): { readonly id: string; readonly url: string } => JSON.parse(line))

    // No refusal makes the key, which is printed only once.
    const other = createServer().listen(port, '127.0.0.1')
    await once(other, 'listening')
    expect(await refused()).toBe(`PORT, HOST: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`)
    await new Promise((closed) => other.close(closed))
    const wrong = {
      PORT: 'abc',
      PUBLIC_URL: 'http://example.org',
      FOLKMOOT_ENCRYPTION_KEYS: 'abc',
      HOST: 'my host',
      NETWORK: 'Foo_Bar',
      OWNER_EMAIL: 'x',
      ...(storage === 'postgres' ? { DATABASE_URL: 'localhost' } : {}),
    }
    const problems = await refused(wrong)
    expect(problems.split('\n').map((line) => line.split(' ', 2).join(' '))).toEqual([
      ...[
        'PORT must',
        'PUBLIC_URL must',
        'FOLKMOOT_ENCRYPTION_KEYS must',
        ...(storage === 'postgres' ? ['DATABASE_URL must'] : []),
      ],
      ...['HOST must', 'NETWORK must', 'OWNER_EMAIL must', ''],
    ])
    expect(problems).not.toMatch(/KEYS.*abc/)
    const oneByOne: readonly (readonly [settings: Readonly<Record<string, string>>, line: RegExp])[] = [
      [{ PORT: '65536' }, /^PORT must be a number from 0 to 65535, got 65536$/],
      [{ PORT: '431000' }, /^PORT must be a number from 0 to 65535, got 431000$/],
      [{ PUBLIC_URL: 'https://example.org/?a' }, /^PUBLIC_URL must be .*, got https:\/\/example.org\/\?a$/],
      [{ HOST: 'unknown.invalid' }, /^PORT, HOST: .*unknown\.invalid/],
      [{ TITLE: 'x'.repeat(300) }, /TITLE.*: title must have at most/],
      storage === 'postgres'
        ? [{ DATABASE_URL: 'postgres://127.0.0.1:1/none' }, /^DATABASE_URL: /]
        : [{ DATA: join(directory, 'README.md') }, /^DATA: /],
    ]
    for (const [settings, line] of oneByOne)
      expect((await refused(settings)).split('\n')).toEqual([expect.stringMatching(line), ''])

    const first = start()
    await first.written('only now: ')
    await expect.poll(() => first.out.stdout).toMatch(tokenLine)
    const token = tokenLine.exec(first.out.stdout)?.[1]
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`http://127.0.0.1:${port}/admin/v1/networks/my-app/${path}`, { ...init, headers })
    const status = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
    expect([await status('/'), await status('/health'), await status('/admin/panel/')]).toEqual([200, 200, 403])
    const curl = /```sh\n(curl [^`]+)```/.exec(readme)?.[1]?.replace('4000', String(port)).replace('YOUR_API_KEY', String(token))
    expect(JSON.parse((await run('sh', ['-c', curl ?? 'exit 1'])).stdout)).toMatchObject({ email: 'grace@example.org' })
    await first.written('Received MemberJoinedHook')
    // A second app, which one process at a time may be here, takes nothing from the first.
    if (storage !== 'postgres') expect(await refused({ PORT: '0' })).toMatch(/^DATA: .*is held by process \d+.*\n$/)
    const [, words = ''] = /npx folkmoot (keys create) /.exec(readme) ?? []
    const create = () => folkmoot(...words.split(' '), '--name', 'Connector', '--scope', '*')
    if (storage === 'lowdb') await expect(create()).rejects.toThrow('is held by process')
    else expect(JSON.parse(await create())).toMatchObject({ name: 'Connector' })
    await end(first)
    const [registered] = await endpoints()
    expect(registered?.url).toBe(`http://127.0.0.1:${port}/webhooks`)
    expect(await refused({ FOLKMOOT_ENCRYPTION_KEYS: '' })).toMatch(/^FOLKMOOT_ENCRYPTION_KEYS: [^\n]+\n$/)

    // The panel lets in whom `authorize` knows, and has the deliveries of the app's relay.
    const serve = join(directory, `serve.${ext}`)
    const closed = await readFile(serve, 'utf8')
    const open = closed.replace('=> null', "=> ({ actor: 'me', networks: 'all', access: 'all' })")
    expect(open).not.toBe(closed)
    await writeFile(serve, open)
    // The endpoint of the app follows its address, and nothing is sent to the earlier one.
    port = await freePort()
    const second = start()
    await second.written('The API: ')
    const body = JSON.stringify({ email: 'ben@example.org', first_name: 'Ben', last_name: 'Ash' })
    await expect.poll(() => ask('members', { method: 'POST', body }).then(({ status }) => status)).toBe(201)
    await second.written('Received MemberJoinedHook')
    const { url: network } = await fetch(`http://127.0.0.1:${port}/admin/panel/`)
    const page = await fetch(new URL('deliveries', network))
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('MemberJoined')])
    await end(second)
    expect(await endpoints()).toEqual([
      { ...registered, url: `http://127.0.0.1:${port}/webhooks`, updated_at: expect.any(String) },
    ])
    const third = start({ PUBLIC_URL: 'https://api.example.org/' })
    await third.written('The API: https://api.example.org/admin/v1/networks/my-app\n')
    await end(third)
    expect((await endpoints()).map(({ id, url }) => [id, url])).toEqual([[registered?.id, 'https://api.example.org/webhooks']])
    for (const { out } of [second, third]) expect(out.stdout).not.toContain('only now')
    expect([first, second, third].map(({ out }) => out.stderr)).toEqual(['', '', ''])
  },
)

test('a project of a tarball has it, and installs and starts as its image does', async () => {
  const directory = join(temporaryDirectory(), 'my-app')
  await run(process.execPath, [bin, 'init', directory, ...first, '--title', 'Painters #1', '--yes'])
  const name = basename(tarball)
  expect(await readFile(join(directory, 'package.json'), 'utf8')).toContain(`"folkmoot": "file:${name}"`)
  const dockerfile = await readFile(join(directory, 'Dockerfile'), 'utf8')
  expect(dockerfile).toContain(`COPY package*.json ${name} ./`)
  const npm = (...words: readonly string[]) =>
    run('npm', [...words, '--no-audit', '--no-fund', '--prefer-offline'], { cwd: directory, env: environment })
  await npm('install', '--package-lock-only')
  await npm('ci', '--omit=dev')
  const words = JSON.parse(/^CMD (.+)$/m.exec(dockerfile)?.[1] ?? '[]') as readonly string[]
  expect(words).toEqual(['node', 'server.js'])
  const port = await freePort()
  // The image has no `.env`, and `docker run --env-file` passes its lines on as they are, with their quotes.
  const lines = (await readFile(join(directory, '.env'), 'utf8')).matchAll(/^([A-Z_]+)=(.*)$/gm)
  await rm(join(directory, '.env'))
  const unset = await run(process.execPath, words.slice(1), { cwd: directory, env: environment }).catch((error) => error)
  expect([unset.code, unset.stderr]).toEqual([
    1,
    expect.stringMatching(
      /^OWNER_NAME must be set .*\nThere is no file \.env here: copy \.env\.example, or set these in the environment\n$/s,
    ),
  ])
  // The container listens on the port that is published, whichever `.env` has.
  expect(await readFile(join(directory, 'README.md'), 'utf8')).toContain(
    '--env-file .env --env PORT=4000 --publish 127.0.0.1:4000:4000 ',
  )
  const env = { ...environment, ...Object.fromEntries([...lines].map(([, key, value]) => [key, value])), PORT: String(port) }
  const app = watched('app', spawn(process.execPath, words.slice(1), { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  await expect.poll(() => app.out.stdout).toMatch(tokenLine)
  const token = tokenLine.exec(app.out.stdout)?.[1]
  const response = await fetch(`http://127.0.0.1:${port}/admin/v1/networks/my-app/`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(await response.json()).toMatchObject({ title: 'Painters #1' })
  const [, ...check] = JSON.parse(/HEALTHCHECK .* CMD (.+)$/m.exec(dockerfile)?.[1] ?? '[]') as readonly string[]
  const health = (at: number) => run(process.execPath, check, { env: { ...env, PORT: String(at) } })
  await health(port)
  await expect(health(await freePort())).rejects.toMatchObject({ code: 1 })
})

test('create-folkmoot makes a project as init does', async () => {
  const made = temporaryDirectory()
  await cp(join(templates, '..', 'create'), made, { recursive: true })
  await symlink(join(shared, 'node_modules'), join(made, 'node_modules'), 'junction')
  const directory = join(temporaryDirectory(), 'paint-pals')
  const program = join(made, JSON.parse(await readFile(join(made, 'package.json'), 'utf8')).bin)
  const { stdout } = await run(process.execPath, [program, directory, ...first, '--typescript', '--json'], { env: environment })
  expect(JSON.parse(stdout)).toMatchObject({ directory, language: 'typescript', host: 'node', storage: 'sqlite' })
  expect(await readFile(join(directory, 'package.json'), 'utf8')).toContain('"name": "paint-pals"')
  // What npm calls it with goes on to init, wrong flags too.
  await expect(run(process.execPath, [program, directory, '--host', 'koa'], { env: environment })).rejects.toMatchObject({
    code: 2,
  })
})

test('a server that is installed in a project shows its commands with npx', async () => {
  const words = ['serve', '--storage', 'memory:', '--allow-http', '--port', '0']
  const started = spawn(process.execPath, [bin, ...words], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const greeting = await watched('folkmoot', started).written("--scope '*'")
  const commands = [...greeting.matchAll(/^ +(.*folkmoot (?:panel-link|networks create|keys create)) /gm)].map(
    ([, command]) => command,
  )
  expect(commands).toEqual(['npx folkmoot panel-link', 'npx folkmoot networks create', 'npx folkmoot keys create'])
  const [, url = ''] = /listens on (\S+)/.exec(greeting) ?? []
  expect(await (await fetch(`${url}/admin/panel/`)).text()).toContain('<code>npx folkmoot panel-link')
})
