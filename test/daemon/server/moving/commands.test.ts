/** `folkmoot pull` and `folkmoot diff` between servers that really listen, and as processes that are killed. */

import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { toNodeListener } from '../../../../adapters/http/node.ts'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { scoped } from '../../../../lib/storage/scoped.ts'
import { members } from '../../../../lib/storage/tables/members.ts'
import { begun } from '../../../support/begun.ts'
import { run } from '../../../support/command.ts'
import { createTestCommunity } from '../../../support/community.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { ended, folkmoot } from '../../../support/program.ts'
import { soaking } from '../../../support/rounds.ts'
import { everything } from './support.ts'

async function demo(): Promise<{ url: string; token: string }> {
  const api = begun('serve', '--storage', 'memory:', '--demo', '--allow-http', '--json', '--port', '0')
  return JSON.parse(await api.firstLine())
}

/** A server over a storage that was pulled, with a key of the first host. */
async function serve(storage: string): Promise<{ url: string; token: string }> {
  const made = await folkmoot(
    'keys',
    'create',
    '--storage',
    storage,
    '--network',
    'demo',
    '--name',
    'diff',
    '--scope',
    '*',
    '--json',
  )
  const api = begun('serve', '--storage', storage, '--allow-http', '--json', '--port', '0')
  const { url } = JSON.parse(await api.firstLine())
  return { url, token: JSON.parse(made.lines.join('')).token }
}

test('a demo network that was pulled and served again does not differ, until somebody changes it', async () => {
  const source = await demo()
  const directory = temporaryDirectory()
  const [storage, tokenFile] = [`sqlite:${join(directory, 'db.sqlite')}`, join(directory, 'token')]
  writeFileSync(tokenFile, `${source.token}\n`)
  const from = ['--from', source.url, '--network', 'demo']
  const pulled = await folkmoot('pull', ...from, '--token-file', tokenFile, '--to', storage)
  expect([pulled.refused, pulled.failed]).toEqual([undefined, false])
  const shown = pulled.lines.join('\n')
  expect(shown).toMatch(/^members +60 +60 +0 +0$/m)
  expect(shown).toMatch(/^ {2}mutes: all of it$/m)
  expect(Math.max(...shown.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)

  const copy = await serve(storage)
  const sides = ['--a', source.url, '--a-token', source.token, '--b', copy.url, '--b-token', copy.token, '--network', 'demo']
  const same = await ended('folkmoot', 'diff', ...sides, '--sample', '3')
  expect([same.code, same.stdout]).toEqual([0, expect.stringMatching(/^No difference in \d{3,} responses\.\n$/)])

  // A server that cannot be asked is neither a difference nor none.
  const nowhere = await closedPort()
  const token = (which: 'a' | 'b') => [`--${which}-token`, 'fmt_unknown']
  const wrong = [['--b', nowhere], ['--a', nowhere], token('a'), token('b'), ['--b-network', 'nobody']]
  const asked = await Promise.all(wrong.map((side) => ended('folkmoot', 'diff', ...sides, ...side)))
  for (const [place, { code, stdout }] of asked.entries()) expect([wrong[place], code, stdout]).toEqual([wrong[place], 2, ''])

  const renamed = await fetch(`${copy.url}/admin/v1/networks/demo/members/${await firstMember(copy)}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${copy.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ first_name: 'Somebody else' }),
  })
  expect(renamed.status).toBe(200)
  const different = await ended('folkmoot', 'diff', ...sides, '--sample', '3')
  expect(different.code).toBe(1)
  const lines = different.stdout.split('\n')
  expect(lines[0]).toMatch(/^path +field +a +b$/)
  expect(different.stdout).toContain('"Somebody else"')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
  const json = await ended('folkmoot', 'diff', ...sides, '--sample', '3', '--json', '--ignore', 'updated_at', '--ignore', 'name')
  expect(json.code).toBe(1)
  const objects = json.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(new Set(objects.map(({ b }) => b))).toEqual(new Set(['Somebody else']))
})

async function firstMember({ url, token }: { url: string; token: string }): Promise<string> {
  const reply = await fetch(`${url}/admin/v1/networks/demo/members?per_page=1`, {
    headers: { authorization: `Bearer ${token}` },
  })
  return JSON.parse(await reply.text()).items[0].id
}

test('wrong options name themselves and the remedy', async () => {
  const target = ['--to', `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`]
  const pull = async (...args: readonly string[]) => (await folkmoot('pull', '--network', 'demo', ...args)).refused
  expect(await pull('--from', 'example.org', '--token', 't', ...target)).toMatch(
    /--from must be the address of a server, such as/,
  )
  expect(await pull('--from', 'https://example.org', ...target)).toBe(
    'give a token by --token or --token-file; - is standard input',
  )
  expect(await pull('--from', 'https://example.org', '--token', 't', '--to', 'memory:')).toMatch(/give a storage that stays/)
  expect(await pull('--from', 'https://example.org', '--token', 't', ...target, '--only', 'people')).toMatch(
    /--only must name some of members, /,
  )
  for (const since of ['lately', '2026-02-31'])
    expect(await pull('--from', 'https://example.org', '--token', 't', ...target, '--since', since)).toMatch(
      /--since must be a time in ISO 8601 that exists/,
    )
  expect(await pull('--from', 'https://example.org', '--network', '../x', '--token', 'two lines', ...target)).toBe(
    'the server of --from: the network must be the id or the subdomain of a network; the token must be the API token: a text of printable ASCII without blanks',
  )
  const both = ['--a', 'https://a.test', '--a-token', '-', '--b', 'https://b.test', '--b-token-file', '-', '--network', '1']
  expect((await folkmoot('diff', ...both)).refused).toBe('only one of the two tokens can come from standard input')
  const closed = await closedPort()
  const nobody = await ended(
    'folkmoot',
    'diff',
    '--a',
    closed,
    '--a-token',
    't',
    '--b',
    closed,
    '--b-token',
    't',
    '--network',
    '1',
  )
  expect(nobody.code).toBe(2)
})

test('messages name the options of the command, and end without two full stops', async () => {
  const answers: Readonly<Record<string, [number, Record<string, string>, string]>> = {
    moved: [302, { location: 'https://new.example/x' }, ''],
    wrong: [401, {}, '{"error":"unauthorized","message":"This is not an API token.","status":401}'],
  }
  const server = createServer((request, response) => {
    const [status, headers, body] = answers[request.url?.split('/')[4] ?? ''] ?? [404, {}, '']
    response.writeHead(status, headers).end(body)
  })
  const url = await listening(server)
  onTestFinished(() => void server.close())
  const at = (network: string) => ['--network', network, '--token', 'fmt_wrong']
  const target = ['--to', `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`]
  const pulled = async (...args: readonly string[]) => (await folkmoot('pull', '--from', url, ...args)).refused
  expect(await pulled(...at('moved'), ...target)).toContain('redirects to https://new.example. Set --from to the final address. ')
  expect(await pulled(...at('wrong'), ...target)).toContain('401 This is not an API token. What came so far')
  expect(await pulled(...at('wrong'), '--to', 'mysql://db/x')).toMatch(/^--to must be lowdb:PATH/)
})

/** An address at which no one listens. */
async function closedPort(): Promise<string> {
  const server = createServer()
  const url = await listening(server)
  await new Promise((resolve) => server.close(resolve))
  return url
}

const listening = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })

/** The soak pulls as many as a large community has. */
const count = soaking ? 10_000 : 3_000

test(`${count} members arrive whole through 429s, 503s and lost connections, with the pull killed on the way`, async () => {
  const source = await createTestCommunity({ storage: memoryStorage(), allowHttp: true })
  await source.storage.transaction(async (tx) => {
    const here = scoped(tx, '1')
    const at = new Date(source.clock.now()).toISOString()
    for (let number = 1; number <= count; number++) {
      const email = `member${number}@example.org`
      const names = { first_name: `Member ${number}`, last_name: 'Of many', commercial_email_consent: true }
      await here.insert(members, { id: String(number), created_at: at, updated_at: at, email, email_key: email, ...names })
    }
  })
  let requests = 0
  let onRequest = (): void => {}
  const respond = toNodeListener(source.community)
  const server = createServer((request, response) => {
    requests++
    onRequest()
    if (requests % 17 === 0) return void response.writeHead(429, { 'retry-after': '0' }).end('{}')
    if (requests % 23 === 0) return void response.writeHead(503, { 'retry-after': '0' }).end('{}')
    if (requests % 41 === 0) return void request.destroy()
    respond(request, response)
  })
  const url = await listening(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const path = join(temporaryDirectory(), 'db.sqlite')
  const pull = () =>
    run('folkmoot', 'pull', '--from', url, '--network', '1', '--token', source.token, '--to', `sqlite:${path}`, '--json')
  // Chance decides where; each run gets further, because every page that was written counts.
  for (const pages of [count / 300, count / 150]) {
    const killed = pull()
    const at = requests + 5 + Math.floor(Math.random() * pages)
    onRequest = () => void (requests === at && killed.child.kill('SIGKILL'))
    expect(await killed.ended).toBe(null)
  }
  onRequest = () => {}
  const last = pull()
  expect([await last.ended, last.out.stderr.includes('folkmoot:')]).toEqual([0, false])
  const { lists } = JSON.parse(last.out.stdout)
  expect(lists.find(({ list }: { list: string }) => list === 'members')).toMatchObject({
    read: count + 1,
    added: count + 1,
    changed: 0,
  })
  const target = await sqliteStorage({ path })
  const rows = await everything(target)
  await target.close()
  const names = (rows['members'] ?? []).map((row) => Object(row).email)
  expect(names.length).toBe(count + 1)
  expect(new Set(names).size).toBe(count + 1)
})
