/**
 * The programs of docs/operating/scale.md, unchanged but for their ports: networks over two real PostgreSQL servers, with keys, panel,
 * metrics and relays, and what happens while one of the two is down.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { type Community, createCommunity } from '../../lib/index.ts'
import { receiver, status, until } from '../daemon/relay/support.ts'
import { certificateFor } from '../support/certificate.ts'
import { type Command, end, run, watched } from '../support/command.ts'
import { freePort } from '../support/free-port.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { proxyTo } from '../support/proxy.ts'
import { shared } from '../support/shared.ts'

const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'operating', 'scale.md'), 'utf8')
const { 'create-network.js': creating = expect.fail(), 'host.js': hosting = expect.fail() } = Object.fromEntries(
  [...page.matchAll(/```js\n(\/\/ (\S+)\n.*?)```/gs)].map(([, code, name]) => [name, code]),
)
const nginxOfPage = /```nginx\n(.*?)```/s.exec(page)?.[1] ?? expect.fail()
const mapOfPage = /```text\n(.*?)```/s.exec(page)?.[1] ?? expect.fail()

let servers: Readonly<Record<Name, PostgresServer>>
beforeAll(async () => {
  const [a, b] = await Promise.all([startPostgres(), startPostgres({ synced: true })])
  servers = { a, b }
  return () => Promise.all([a.stop(), b.stop()])
})

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(await shared('package'), 'scale-'))
  onTestFinished(() => rm(directory, { recursive: true }))
})
const map = () => readFile(join(directory, 'networks.map'), 'utf8')

type Name = 'a' | 'b'
type Databases = Readonly<Record<Name, string>>

/** An empty database on each server, which goes with the server. */
let made = 0
async function databases(): Promise<Databases> {
  const name = `scale_${++made}`
  const create = async ({ url }: PostgresServer): Promise<string> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`CREATE DATABASE ${name}`)
    await client.end()
    return Object.assign(new URL(url), { pathname: `/${name}` }).href
  }
  const [a, b] = await Promise.all([create(servers.a), create(servers.b)])
  return { a, b }
}

/** A program of the page, in its directory. */
async function start(of: Databases, name: string, code: string, ...args: readonly string[]): Promise<Command> {
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  await writeFile(join(directory, name), code)
  const env = { ...process.env, DATABASES: JSON.stringify(of) }
  return watched(name, spawn(process.execPath, [name, ...args], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] }))
}
const create = async (of: Databases, ...args: readonly string[]) => {
  const { ended, out } = await start(of, 'create-network.js', creating, ...args)
  return { code: await ended, stderr: out.stderr }
}

/** What a test does in a database by itself, as the product would. */
async function inside<T>(url: string, work: (community: Community) => Promise<T>): Promise<T> {
  const community = createCommunity({ storage: await postgresStorage({ url }) })
  return work(community).finally(() => community.close())
}

interface Sent {
  readonly token?: string
  readonly user?: string
  readonly post?: Readonly<Record<string, string>>
}
interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Relays of tests try again soon. */
const soon = [0, ...Array.from({ length: 40 }, () => 0.5)]

/** A host of the page on free ports. Its relays may send to this machine. */
async function startHost(of: Databases) {
  const [port, metricsPort] = [await freePort(), await freePort()]
  const code = hosting
    .replace('listen(4000,', `listen(${port},`)
    .replace('listen(9465,', `listen(${metricsPort},`)
    .replace(
      'startRelay({ ',
      `startRelay({ allowHttp: true, allowPrivate: true, breakerCooldown: 0.5, retrySchedule: ${JSON.stringify(soon)}, `,
    )
  expect(code.length).toBeGreaterThan(hosting.length)
  const host = await start(of, 'host.js', code)
  const url = `http://127.0.0.1:${port}`
  await until(
    () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    'the host listens',
  )
  return {
    host,
    url,
    readyz: async () => {
      const response = await fetch(`${url}/readyz`)
      return { status: response.status, ...((await response.json()) as Readonly<Record<Name, string>>) }
    },
    metrics: async (path: string) => (await fetch(`http://127.0.0.1:${metricsPort}${path}`)).text(),
  }
}

/** Sends a request as the proxy that terminates TLS hands it on, or over TLS to nginx. */
function send(url: string, path: string, { token = '', user = '', post }: Sent = {}): Promise<Answer> {
  const body = post && JSON.stringify(post)
  const headers = {
    host: 'api.example.org',
    'x-forwarded-proto': 'https',
    ...(token && { authorization: `Bearer ${token}` }),
    ...(user && { 'x-user': user }),
    ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  }
  const request = url.startsWith('https:') ? httpsRequest : httpRequest
  const options = { method: body ? 'POST' : 'GET', headers, rejectUnauthorized: false }
  return new Promise((resolve, reject) => {
    request(new URL(path, url), options, (response) => {
      const { statusCode: status = 0, headers } = response
      text(response).then((read) => resolve({ status, headers, text: read }), reject)
    })
      .on('error', reject)
      .end(body)
  })
}
const api = (network: string, below = '/me') => `/admin/v1/networks/${network}${below}`
const statusOf = async (answer: Promise<Answer>) => (await answer).status

/** A network in each database as the page makes them, each with a key and an endpoint at this receiver. */
async function twoNetworks(of: Databases, hook: string) {
  await writeFile(join(directory, 'networks.map'), '')
  expect(await create(of, 'a', 'paint-pals', 'Paint Pals', 'ada@example.org', 'Ada', 'Ash')).toEqual({ code: 0, stderr: '' })
  expect(await create(of, 'b', 'chess-club', 'Chess Club', 'ben@example.org', 'Ben', 'Oak')).toEqual({ code: 0, stderr: '' })
  const entries = [
    ['a', 'paint-pals'],
    ['b', 'chess-club'],
  ] as const
  const tokens = { a: '', b: '' }
  const spaces = { a: '', b: '' }
  for (const [name, network] of entries)
    await inside(of[name], async ({ keys, endpoints, call }) => {
      tokens[name] = (await keys.create({ network, name: 'test', scopes: ['*'] })).token
      spaces[name] = (await call('spaces.create', { network, body: { name: 'News' } })).id
      await endpoints.upsert({ network, url: `${hook}/${name}`, token: true, events: ['PostCreatedHook'] })
    })
  /** A post in a network, by its key. */
  const post = (url: string, name: Name, title: string) =>
    send(url, api(name === 'a' ? '1' : 'chess-club', '/posts'), { token: tokens[name], post: { title, space_id: spaces[name] } })
  return { tokens, post }
}

test('each network has its lines in the map, and an id that no other has', async () => {
  const of = await databases()
  const hook = await receiver()
  await twoNetworks(of, hook.url)
  expect(await map()).toBe(mapOfPage)
  const refused = await create(of, 'b', 'paint-pals', 'Others', 'eve@example.org', 'Eve', 'Elm')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('Error: paint-pals is taken')
  expect(await map()).toBe(mapOfPage)
  expect(await inside(of.b, ({ networks }) => networks.find('paint-pals'))).toBeUndefined()

  // The id of a network that its database refuses is not given again.
  expect((await create(of, 'a', 'book-club', 'Books', 'nobody', 'Eve', 'Elm')).code).toBe(1)
  expect(await create(of, 'b', 'book-club', 'Books', 'eve@example.org', 'Eve', 'Elm')).toEqual({ code: 0, stderr: '' })
  expect(await map()).toBe(`${mapOfPage}3 a;\n4 b;\nbook-club b;\n`)
  expect(await inside(of.b, async ({ networks }) => (await networks.show('book-club')).id)).toBe('4')
})

test('a host keeps its map when the next one has a network twice or names a missing database', async () => {
  const of = await databases()
  const hook = await receiver()
  const { tokens } = await twoNetworks(of, hook.url)
  const { host, url } = await startHost(of)
  await until(async () => (await statusOf(send(url, api('2'), { token: tokens.b }))) === 200, 'b is open')
  for (const wrong of ['2 a;\n', '3 c;\n']) {
    await writeFile(join(directory, 'networks.map'), mapOfPage + wrong)
    const before = host.out.stderr.length
    host.child.kill('SIGHUP')
    await until(() => host.out.stderr.slice(before).includes('networks.map has a network twice'), 'the map is refused')
    expect(await statusOf(send(url, api('2'), { token: tokens.b }))).toBe(200)
  }
  await writeFile(join(directory, 'networks.map'), `${mapOfPage}3 b;\n`)
  host.child.kill('SIGHUP')
  // Until then it is a network of a.
  await until(async () => (await statusOf(send(url, api('3'), { token: tokens.b }))) === 404, 'the new line is read')
})

test('keys, panel, metrics and relays of two databases in one host', async () => {
  const of = await databases()
  const hook = await receiver()
  const { tokens, post } = await twoNetworks(of, hook.url)
  await inside(of.b, ({ networks }) =>
    networks.create({
      id: '3',
      subdomain: 'book-club',
      title: 'Books',
      owner: { email: 'b@example.org', first_name: 'B', last_name: 'O' },
    }),
  )
  await writeFile(join(directory, 'networks.map'), `${mapOfPage}3 b;\nbook-club b;\n`)
  const { url, readyz, metrics } = await startHost(of)
  await until(async () => (await readyz()).b === 'ready' && (await readyz()).a === 'ready', 'both are open')
  expect(await readyz()).toEqual({ status: 200, a: 'ready', b: 'ready' })

  // A key works on its own database, by id and by subdomain, and nowhere else.
  const statuses = (token: string) =>
    Promise.all(
      ['1', 'paint-pals', '2', 'chess-club', 'book-club', 'nobody'].map((name) => statusOf(send(url, api(name), { token }))),
    )
  expect(await statuses(tokens.a)).toEqual([200, 200, 401, 401, 401, 404])
  expect(await statuses(tokens.b)).toEqual([401, 401, 200, 200, 404, 401])
  expect(await statusOf(send(url, '/admin/v1/spec.json'))).toBe(200)

  // One list of networks, by what `authorize` says, and each leads to its panel.
  expect(await statusOf(send(url, '/admin/panel/'))).toBe(403)
  const list = await send(url, '/admin/panel/', { user: 'ada' })
  const links = [...list.text.matchAll(/href="\.\/([^"]*)"/g)].map(([, link]) => link)
  expect(links).toEqual(['paint-pals/', 'chess-club/'])
  for (const [link, id, title] of [
    ['paint-pals/', '1', 'Paint Pals'],
    ['chess-club/', '2', 'Chess Club'],
  ] as const) {
    expect((await send(url, `/admin/panel/${link}`, { user: 'ada' })).headers.location).toBe(`../${id}/overview`)
    const overview = await send(url, `/admin/panel/${id}/overview`, { user: 'ada' })
    expect(overview.status).toBe(200)
    expect(overview.text).toContain(title)
    const [, style = expect.fail()] = /href="\.\.\/([^"]+\.css)"/.exec(overview.text) ?? []
    expect(await statusOf(send(url, `/admin/panel/${style}`))).toBe(200)
    expect(await statusOf(send(url, `/admin/panel/${id}/overview`))).toBe(403)
  }
  expect(await statusOf(send(url, '/admin/panel/3/overview', { user: 'ada' }))).toBe(404)

  // Each database has its relay, and its own counts.
  for (const [name, title] of [
    ['a', 'Oil'],
    ['b', 'Openings'],
    ['b', 'Endings'],
  ] as const)
    expect(await statusOf(post(url, name, title))).toBe(201)
  const arrived = () => hook.received.map(({ path, body }) => `${path} ${JSON.parse(body).payload.title}`).toSorted()
  await expect.poll(arrived).toEqual(['/hook/a Oil', '/hook/b Endings', '/hook/b Openings'])
  const created = 'folkmoot_requests_total{operation="posts.create",status="2xx"}'
  expect(await metrics('/folkmoot/a')).toContain(`${created} 1\n`)
  expect(await metrics('/folkmoot/b')).toContain(`${created} 2\n`)
  await expect.poll(() => metrics('/folkmoot-relay/a')).toMatch(/^relay_events_ingested_total 1$/m)
  await expect.poll(() => metrics('/folkmoot-relay/b')).toMatch(/^relay_events_ingested_total 2$/m)
})

test('while one database is down or silent, the other half goes on, and afterwards both do', async () => {
  const of = await databases()
  const hook = await receiver()
  const { tokens, post } = await twoNetworks(of, hook.url)
  const network = await proxyTo(of.b)
  const through = { a: of.a, b: network.url }
  let { host, url, readyz } = await startHost(through)
  const bothReady = () => until(async () => Object.values(await readyz()).join() === '200,ready,ready', 'both are open')
  const titles = (path: string, from = 0) =>
    hook.received
      .slice(from)
      .filter((each) => each.path === path)
      .map(({ body }) => JSON.parse(body).payload.title)
  /** A request for each database, of which only that of b is refused. */
  async function expectHalf(title: string): Promise<void> {
    expect(await statusOf(post(url, 'a', title))).toBe(201)
    await expect.poll(() => titles('/hook/a')).toContain(title)
    const refused = await post(url, 'b', title)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5'])
    expect(JSON.parse(refused.text).error).toMatch(/cannot be reached.*othing was (?:saved|written)/)
    expect(await readyz()).toEqual({ status: 200, a: 'ready', b: 'unreachable' })
    expect((await send(url, '/admin/panel/', { user: 'ada' })).text).toContain('chess-club')
    expect(await statusOf(send(url, '/admin/panel/1/overview', { user: 'ada' }))).toBe(200)
    expect(await statusOf(send(url, '/admin/panel/2/overview', { user: 'ada' }))).toBe(503)
  }
  await bothReady()

  // A network that swallows everything: while a request for b waits, those for a are done.
  network.silence()
  let isWaiting = true
  const waiting = post(url, 'b', 'silent').finally(() => {
    isWaiting = false
  })
  expect(await statusOf(post(url, 'a', 'beside'))).toBe(201)
  expect(await statusOf(send(url, api('paint-pals'), { token: tokens.a }))).toBe(200)
  expect(isWaiting).toBe(true)
  network.cut()
  expect((await waiting).status).toBe(503)
  network.mend()
  await bothReady()

  // A server that is killed with an event that is not delivered yet, and that is down while the host starts.
  hook.respond = ({ path }, response) => void response.writeHead(path === '/hook/b' ? 503 : 204).end()
  expect(await statusOf(post(url, 'b', 'before'))).toBe(201)
  await expect.poll(() => titles('/hook/b')).toContain('before')
  await servers.b.crash()
  await expectHalf('down')
  host.child.kill('SIGTERM')
  expect(await host.ended).toBe(0)
  ;({ host, url, readyz } = await startHost(through))
  await until(async () => (await readyz()).a === 'ready', 'a is open')
  await expectHalf('started')
  const refused = hook.received.length
  hook.respond = status(204)
  await servers.b.start()
  await bothReady()
  expect(await statusOf(post(url, 'b', 'back'))).toBe(201)
  await expect.poll(() => titles('/hook/b', refused).toSorted()).toEqual(['back', 'before'])
})

const nginx = '/usr/sbin/nginx'
if (!existsSync(nginx)) process.stderr.write('SKIPPED: nginx.conf of docs/operating/scale.md, because nginx is not installed\n')

test.skipIf(!existsSync(nginx))('nginx sends each request to the server of its database by the same map', async () => {
  const of = await databases()
  const hook = await receiver()
  const { tokens, post } = await twoNetworks(of, hook.url)
  const { url: host, readyz } = await startHost(of)
  const serve = async (storage: string) => {
    const server = run('folkmoot', 'serve', '--storage', storage, '--port', '0', '--trust-proxy', '--json')
    return { server, port: new URL(JSON.parse(await server.firstLine()).url).port }
  }
  const [a, b] = await Promise.all([serve(of.a), serve(of.b)])
  const port = await freePort()
  certificateFor('api.example.org', {}, directory)
  const configuration = nginxOfPage
    .replace('listen 443 ', `listen 127.0.0.1:${port} `)
    .replace('127.0.0.1:4001', `127.0.0.1:${a.port}`)
    .replace('127.0.0.1:4002', `127.0.0.1:${b.port}`)
    .replaceAll('http://127.0.0.1:4000', host)
  await writeFile(join(directory, 'nginx.conf'), configuration)
  const globals = 'daemon off; error_log stderr; pid nginx.pid;'
  watched('nginx', spawn(nginx, ['-p', directory, '-c', 'nginx.conf', '-g', globals], { stdio: ['ignore', 'pipe', 'pipe'] }))
  const url = `https://127.0.0.1:${port}`
  const isThere = () =>
    statusOf(send(url, '/readyz'))
      .then((code) => code === 200)
      .catch(() => false)
  await until(isThere, 'nginx listens')
  await until(async () => Object.values(await readyz()).join() === '200,ready,ready', 'both are open')

  const statuses = (token: string) =>
    Promise.all(['1', 'paint-pals', '2', 'chess-club', 'nobody'].map((name) => statusOf(send(url, api(name), { token }))))
  expect(await statuses(tokens.a)).toEqual([200, 200, 401, 401, 404])
  expect(await statuses(tokens.b)).toEqual([401, 401, 200, 200, 401])
  const created = await post(url, 'b', 'Openings')
  expect(created.status).toBe(201)
  expect(JSON.parse(created.text).permalink).toMatch(/^https:/)
  await expect.poll(() => hook.received.map(({ path }) => path)).toEqual(['/hook/b'])
  const list = await send(url, '/admin/panel/', { user: 'ada' })
  expect([list.status, list.text.match(/href="[^"]*"/g)]).toEqual([200, ['href="./paint-pals/"', 'href="./chess-club/"']])
  expect(await statusOf(send(url, '/admin/panel/2/overview', { user: 'ada' }))).toBe(200)

  // The server of b ends, and then that of a alone responds.
  await end(b.server)
  const refused = await send(url, api('chess-club'), { token: tokens.b })
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5'])
  expect(JSON.parse(refused.text)).toEqual({ error: expect.stringContaining('does not respond') })
  expect(await statusOf(send(url, api('paint-pals'), { token: tokens.a }))).toBe(200)

  // A map that has a network twice is no configuration.
  await writeFile(join(directory, 'networks.map'), `${mapOfPage}2 a;\n`)
  const checked = watched(
    'nginx -t',
    spawn(nginx, ['-t', '-p', directory, '-c', 'nginx.conf', '-g', globals], { stdio: ['ignore', 'pipe', 'pipe'] }),
  )
  expect(await checked.ended).toBe(1)
  expect(checked.out.stderr).toContain('conflicting parameter "2"')
})
