/** The first look at a server: its root, its greeting, and the command for its panel, on every storage. */
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { begun } from '../../support/begun.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'
import { ended, folkmoot } from '../../support/program.ts'

const postgres = await testPostgres()

const storages: readonly (readonly [string, () => string])[] = [
  ['lowdb', () => `lowdb:${join(temporaryDirectory(), 'with blank', 'db.json')}`],
  ['sqlite', () => `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`],
  ['postgres', () => `${postgres.url}?schema=${postgres.newSchema()}`],
  ['memory', () => 'memory:'],
]

/** The words of a command as a shell takes them, after `folkmoot --`, by which a checkout runs. */
const words = (command: string): readonly string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(2)

/** Opens the link that a command prints. */
async function opens(args: readonly string[]): Promise<number> {
  const { lines, refused } = await folkmoot(...args)
  expect(refused).toBeUndefined()
  return (await fetch(lines[0] ?? '', { redirect: 'manual' })).status
}

test.each(storages)('on %s the commands that the server shows for its panel work as they stand', async (_, address) => {
  const storage = address()
  const server = begun('serve', '--allow-http', '--port', '0', '--storage', storage)
  const greeting = await server.written('folkmoot -- keys create')
  const [, inGreeting = ''] = /^ +npm run -s (folkmoot -- panel-link .*)$/m.exec(greeting) ?? []
  const [, url = ''] = /listens on (\S+)/.exec(greeting) ?? []
  const page = await (await fetch(`${url}/admin/panel/`)).text()
  const [, onPage = ''] = /<code>npm run -s (folkmoot -- panel-link [^<]*)<\/code>/.exec(page) ?? []
  expect(await opens(words(inGreeting))).toBe(303)
  expect(await opens(words(onPage))).toBe(303)
  // Other servers in memory may run.
  if (storage !== 'memory:') expect(await opens(['panel-link', '--storage', storage])).toBe(303)
  await server.stop()
  expect((await folkmoot(...words(onPage))).refused).toMatch(/^no server runs there: start `folkmoot serve`/)
})

test.each(storages)('an empty server on %s shows the commands that make a network and a key', async (_, address) => {
  const server = begun('serve', '--allow-http', '--port', '0', '--storage', address())
  const greeting = `${await server.written("--scope '*'")}--scope '*'`
  expect(greeting).toContain('There is no network yet.')
  const [, network = ''] = /^ +npm run -s (folkmoot -- networks create [\s\S]*?[^\\])\n/m.exec(greeting) ?? []
  const [, key = ''] = /^ +npm run -s (folkmoot -- keys create .*)$/m.exec(greeting) ?? []
  expect((await folkmoot(...words(network.replaceAll('\\\n', ' ')))).refused).toBeUndefined()
  const { lines } = await folkmoot(...words(key))
  const [, url = ''] = /listens on (\S+)/.exec(greeting) ?? []
  const me = await fetch(`${url}/admin/v1/networks/paint-pals/me`, { headers: { authorization: `Bearer ${lines[0]}` } })
  expect(me.status).toBe(200)
})

test('a server with a network says nothing about making one', async () => {
  const server = begun('serve', '--demo', '--allow-http', '--port', '0', '--storage', 'memory:')
  await server.written('Try it:')
  expect(server.out.stdout).not.toContain('There is no network yet')
})

test('the root of a server says where its panel, its API and the documentation are, to people and to programs', async () => {
  const server = begun('serve', '--demo', '--allow-http', '--json', '--port', '0', '--storage', 'memory:')
  const { url, token } = JSON.parse(await server.firstLine())
  const program = await fetch(`${url}/`)
  expect([program.status, program.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  expect(await program.json()).toEqual({
    name: 'folkmoot',
    panel: '/admin/panel/',
    api: '/admin/v1/networks/{network_id}/',
    openapi: '/admin/v1/spec.json',
    webhooks_openapi: '/webhooks/v1/spec.json',
    docs: 'https://github.com/folkmoot/folkmoot#readme',
  })
  const page = await fetch(`${url}/?from=bookmark`, { headers: { accept: 'text/html,*/*;q=0.8' } })
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const text = await page.text()
  expect(text).not.toContain(token)
  const links = [...text.matchAll(/href="([^":]+)"/g)].map(([, href]) => new URL(href ?? '', `${url}/`).href)
  expect(links).toHaveLength(3)
  const answers = await Promise.all(links.map(async (href) => (await fetch(href)).status))
  expect(answers).toEqual([403, 200, 200])
  expect((await fetch(`${url}/`, { method: 'HEAD' })).status).toBe(200)
  expect((await fetch(`${url}/`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${url}/nothing`)).status).toBe(404)
})

test('the root is refused on plain HTTP, as everything else is, unless that is accepted', async () => {
  const server = begun('serve', '--json', '--port', '0', '--trust-proxy', '--storage', 'memory:')
  const { url } = JSON.parse(await server.firstLine())
  expect((await fetch(`${url}/`)).status).toBe(403)
  expect((await fetch(`${url}/`, { headers: { 'x-forwarded-proto': 'https' } })).status).toBe(200)
})

test('the address of the API in place of a control file is named as that, with the control of that server', async () => {
  const storage = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
  const server = begun('serve', '--demo', '--allow-http', '--json', '--port', '0', '--storage', storage)
  const { url, control } = JSON.parse(await server.firstLine())
  for (const [address, command] of [
    [url, ['keys', 'list']],
    [`${url.replace('127.0.0.1', 'localhost')}/admin/v1`, ['panel-link']],
    [url, ['endpoints', 'list']],
  ] as const) {
    const { code, stderr } = await ended('folkmoot', ...command, '--server', address)
    expect(code).toBe(2)
    expect(stderr).toBe(
      `folkmoot: ${address} is the address of the API, and --server takes the control file of a server: give --server ${control}\n`,
    )
  }
  const other = await ended('folkmoot', 'keys', 'list', '--server', 'https://api.example.org')
  expect(other).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('take the `control` that `folkmoot serve --json` prints'),
  })
})

test('a port that another server has is a failure, and not a mistake in the command line', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const address = taken.address()
  const port = typeof address === 'object' ? String(address?.port) : ''
  const refused = await ended('folkmoot', 'serve', '--storage', 'memory:', '--port', port)
  taken.close()
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is taken: end the other server') })
})
