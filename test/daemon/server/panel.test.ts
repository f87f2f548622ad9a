/** The panel of `folkmoot serve`: its one-time links, its cookie, and the way out. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createLogins, sessionMs } from '../../../daemon/server/panel/logins.ts'
import { mountPanel } from '../../../daemon/server/panel/mount.ts'
import { type Running, serve } from '../../../daemon/server/serve/serve.ts'
import type { ServeFlags } from '../../../daemon/server/serve/serve-flags.ts'
import { createTestCommunity } from '../../support/community.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import type { Json } from '../../support/json.ts'
import { onLoopback } from '../../support/on-loopback.ts'
import { folkmoot } from '../../support/program.ts'
import { virtualClock } from '../relay/virtual-clock.ts'

let server: Running & { readonly facts: Json }
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-panel-'))

/** Starts a server, and returns the first text that it prints. */
async function started(flags: Partial<ServeFlags>): Promise<Running & { readonly text: string }> {
  const lines: string[] = []
  const out = { line: (text: string) => void lines.push(text), warn: () => {} }
  const lists = { webhookUrl: [], webhookToken: [], webhookTokenFile: [], fault: [] }
  const running = await serve({ ...{ storage: 'memory:', port: 0, host: '127.0.0.1' }, ...lists, ...flags }, out)
  return { ...running, text: lines[0] ?? '' }
}

beforeAll(async () => {
  const storage = `sqlite:${join(directory, 'db.sqlite')}`
  const running = await started({ demo: true, allowHttp: true, trustProxy: true, json: true, storage })
  server = { ...running, facts: JSON.parse(running.text) }
})
afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true, force: true })
})

const get = (url: string, headers: Readonly<Record<string, string>> = {}) => fetch(url, { headers, redirect: 'manual' })
const at = (path: string): string => `${server.facts.url}/admin/panel/${path}`

/** A link as the command prints it. */
async function linkBy(...flags: readonly string[]): Promise<Json> {
  const { lines, refused } = await folkmoot('panel-link', '--server', server.facts.control, '--json', ...flags)
  expect(refused).toBeUndefined()
  return JSON.parse(lines[0] ?? '')
}

/** Opens a link and returns the cookie. */
async function enter(url: string): Promise<string> {
  const reply = await get(url)
  expect([reply.status, reply.headers.get('location')]).toEqual([303, './'])
  return (reply.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}

test('no one enters without a link, and the page names the command for one', async () => {
  const reply = await get(at(''))
  expect(reply.status).toBe(403)
  expect(await reply.text()).toContain('folkmoot -- panel-link')
  expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect((await get(at('1/keys'))).status).toBe(403)
  expect((await get(at(''), { cookie: `folkmoot-panel-${new URL(server.facts.url).port}=guess` })).status).toBe(403)
  expect((await get(at('login?code=guess'))).status).toBe(403)
})

test.each(['', '1', '1/keys', '1/webhooks/5/edit', 'no/such/page'])(
  'on the page %j a visitor without a session learns how to get in',
  async (page) => {
    for (const method of ['GET', 'POST']) {
      const reply = await fetch(at(page), { method, headers: { 'sec-fetch-site': 'same-origin' } })
      const text = await reply.text()
      expect([reply.status, text.includes('folkmoot -- panel-link'), text.includes('Sign in')]).toEqual([403, true, true])
      const style = /href="([^"]+\.css)"/.exec(text)?.[1] ?? ''
      expect((await get(new URL(style, at(page)).href)).status).toBe(200)
    }
  },
)

test('the link in the line of serve --json --demo works once, and its cookie is for this server alone', async () => {
  const reply = await get(server.facts.panel)
  const cookie = reply.headers.get('set-cookie') ?? ''
  expect(cookie).toMatch(/^folkmoot-panel-\d+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/)
  expect((await get(server.facts.panel)).status).toBe(403)
  const first = await get(at(''), { cookie: cookie.split(';')[0] ?? '' })
  expect([first.status, first.headers.get('location')]).toEqual([303, './1/overview'])
})

test('a look ahead does not use a link up, and on a page of another site it yields a page with the way in', async () => {
  const { url } = await linkBy()
  expect((await fetch(url, { method: 'HEAD' })).status).toBe(503)
  for (const ahead of [
    { 'sec-purpose': 'prefetch' },
    { purpose: 'prefetch' },
    { 'x-purpose': 'preview' },
    { 'x-moz': 'prefetch' },
  ])
    expect((await get(url, ahead)).status).toBe(503)
  const reply = await get(url, { 'sec-fetch-site': 'cross-site' })
  expect(reply.status).toBe(200)
  expect(reply.headers.get('set-cookie')).toContain('SameSite=Strict')
  expect(await reply.text()).toContain('href="./"')
})

test('behind a TLS proxy that is trusted the cookie has the prefix __Host- and is Secure', async () => {
  const { url } = await linkBy()
  const reply = await get(url, { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'panel.example.org' })
  expect(reply.headers.get('set-cookie')).toMatch(
    /^__Host-folkmoot-panel-\d+=[\w-]{43}; Path=\/; .*HttpOnly; SameSite=Strict; Secure$/,
  )
})

test('panel-link --read-only --network lets in, and every change is refused', async () => {
  const { url, expires_at } = await linkBy('--read-only', '--network', 'demo', '--expires', '30m')
  expect(Date.parse(expires_at)).toBeLessThanOrEqual(Date.now() + 1_800_000)
  const cookie = await enter(url)
  expect((await get(at('1/keys'), { cookie })).status).not.toBe(403)
  const change = (headers: Readonly<Record<string, string>>) =>
    fetch(at('1/keys/create'), { method: 'POST', headers: { cookie, ...headers }, body: new URLSearchParams({ name: 'x' }) })
  const refused = await change({ 'sec-fetch-site': 'same-origin' })
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('Read only')])
  expect((await change({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
})

test('signing out ends the session, and another site cannot sign anybody out', async () => {
  const cookie = await enter((await linkBy()).url)
  const out = (site: string) => fetch(at('logout'), { method: 'POST', headers: { cookie, 'sec-fetch-site': site } })
  expect((await out('cross-site')).status).toBe(403)
  expect((await get(at(''), { cookie })).status).toBe(303)
  expect(await (await get(at('logout'), { cookie })).text()).toContain('<form method="post">')
  const reply = await out('same-origin')
  expect(reply.headers.get('set-cookie')).toContain('Max-Age=0')
  expect((await get(at(''), { cookie })).status).toBe(403)
})

test('pages have a button to sign out, which posts to the login of this server', async () => {
  const cookie = await enter((await linkBy()).url)
  const page = await get(at(`${server.facts.network_id}/keys`), { cookie })
  expect(await page.text()).toContain('<form method="post" action="../logout"><button class="plain">Sign out</button></form>')
})

test('of many who open a link concurrently, one enters', async () => {
  const { url } = await linkBy()
  const statuses = (await Promise.all(Array.from({ length: 8 }, () => get(url)))).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([303, ...Array.from({ length: 7 }, () => 403)])
})

test.each([
  ['TRACE', '/admin/panel/', 'a', 405],
  ['GET', '/admin/panel/', 'a b/c@d', 400],
  ['GET', '/admin/panel/', '256.1.1.1:99999', 400],
  ['GET', '//evil.test/admin/panel/', 'a', 404],
  ['GET', '/admin/panel/assets/..%2f..%2fetc%2fpasswd', 'a', 403],
])('%s %s with the Host %j gets a response, with the headers of the panel', async (method, path, host, status) => {
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    request(server.facts.url, { method, path, headers: { host } }, resolve).on('error', reject).end()
  })
  reply.resume()
  expect(reply.statusCode).toBe(status)
  if (status !== 404) expect(reply.headers['x-frame-options']).toBe('DENY')
})

test('a body that is too large or no form is refused, and the server continues', async () => {
  const cookie = await enter((await linkBy()).url)
  const post = (body: string, type: string) =>
    fetch(at('logout'), { method: 'POST', headers: { cookie, 'sec-fetch-site': 'none', 'content-type': type }, body })
  expect((await post('x'.repeat(1_000_000), 'application/x-www-form-urlencoded')).status).toBe(403)
  expect((await post('{}', 'application/json')).status).toBe(403)
  expect((await get(at(''), { cookie })).status).toBe(303)
})

test('a form with a file is taken from a visitor who is signed in', async () => {
  const cookie = await enter((await linkBy()).url)
  const post = (headers: Record<string, string>) => {
    const body = new FormData()
    body.append('file', new File([`email,bio\nben@example.org,${'x'.repeat(200_000)}`], 'people.csv'))
    return fetch(at('1/members/import'), { method: 'POST', headers: { 'sec-fetch-site': 'same-origin', ...headers }, body })
  }
  expect((await post({ cookie })).status).toBe(200)
  expect((await post({})).status).toBe(403)
})

test('panel-link names what is wrong: a network that does not exist, a time without bounds, no server', async () => {
  const control = ['--server', server.facts.control]
  expect((await folkmoot('panel-link', ...control, '--network', 'nobody')).refused).toContain('there is no network "nobody"')
  expect((await folkmoot('panel-link', ...control, '--expires', '8d')).refused).toContain('from 1s to 7d')
  const nowhere = `lowdb:${join(temporaryDirectory(), 'db.json')}`
  expect((await folkmoot('panel-link', '--storage', nowhere)).refused).toContain('start `folkmoot serve`')
})

/** The link of a start, those of the command, and the response to a browser that opens the first one as it stands. */
async function linksOf(flags: Partial<ServeFlags>) {
  const [shown, running] = [await started(flags), await started({ ...flags, demo: true, json: true })]
  onTestFinished(() => Promise.all([shown.close(), running.close()]).then(() => undefined))
  const facts: Json = JSON.parse(running.text)
  const command = await folkmoot('panel-link', '--server', facts.control)
  const opened = facts.panel?.startsWith(running.url) ? (await get(facts.panel)).status : null
  return { banner: shown.text, link: facts.panel, opened, command }
}

test('a server that accepts no request gives no link to its panel, and the command names the remedy', async () => {
  for (const publicUrl of [undefined, 'https://api.example.org']) {
    const { banner, link, command } = await linksOf(publicUrl === undefined ? {} : { publicUrl })
    expect(link).toBeNull()
    expect(banner).not.toContain('Panel')
    expect(banner).toContain('Plain HTTP is refused with 403. Give --tls-cert')
    expect([command.lines, command.refused]).toEqual([[], expect.stringContaining('Start it with --tls-cert and --tls-key')])
  }
})

test('a link behind a proxy has the public address, or the hint that it needs one', async () => {
  const hint = 'The link opens at the https origin of the proxy alone: give that as --public-url.'
  const unnamed = await linksOf({ trustProxy: true })
  expect(unnamed.opened).toBe(403)
  expect(unnamed.banner).toContain(hint)
  expect(unnamed.command.warnings).toContain(hint)
  const named = await linksOf({ trustProxy: true, publicUrl: 'https://api.example.org' })
  expect(named.link).toMatch(/^https:\/\/api\.example\.org\/admin\/panel\/login\?code=/)
  for (const text of [named.banner, ...named.command.warnings]) expect(text).not.toContain(hint)
  const plain = await linksOf({ allowHttp: true })
  expect(plain.opened).toBe(303)
  expect(plain.banner).not.toContain(hint)
})

test('links and sessions end by themselves, and the oldest makes room', () => {
  const clock = virtualClock()
  const logins = createLogins(clock)
  const rights = { actor: 'somebody', networks: 'all', access: 'all' } as const
  const { code } = logins.link(rights, 1000)
  clock.advance(1000)
  expect(logins.enter(code)).toBeUndefined()
  const enterOne = () => logins.enter(logins.link(rights, 1000).code) ?? ''
  const session = enterOne()
  expect(logins.rightsOf(session)).toEqual(rights)
  clock.advance(sessionMs)
  expect(logins.rightsOf(session)).toBeUndefined()
  const many = Array.from({ length: 101 }, enterOne)
  expect(many.filter((each) => logins.rightsOf(each) !== undefined)).toEqual(many.slice(1))
})

test('a clock that is set back prolongs neither a link nor a session, and the end of a link is shown by that clock', () => {
  const clock = virtualClock()
  const logins = createLogins(clock)
  const rights = { actor: 'somebody', networks: 'all', access: 'all' } as const
  const { code } = logins.link(rights, 1000)
  const session = logins.enter(logins.link(rights, 1000).code) ?? ''
  clock.step(-3_600_000)
  expect(logins.link(rights, 1000).expiresAt).toBe(clock.now() + 1000)
  clock.advance(1000)
  expect(logins.enter(code)).toBeUndefined()
  clock.advance(sessionMs - 1001)
  expect(logins.rightsOf(session)).toEqual(rights)
  clock.advance(1)
  expect(logins.rightsOf(session)).toBeUndefined()
})

test('a path that a proxy in front may have read otherwise is refused', async () => {
  const { url } = await linkBy()
  const cookie = await enter(url)
  const port = new URL(server.facts.url).port
  const statusOf = async (path: string) => {
    const asked = request({ port, host: '127.0.0.1', path, headers: { cookie } }).end()
    const [reply] = (await once(asked, 'response')) as [IncomingMessage]
    return reply.resume().statusCode
  }
  expect(await statusOf('/admin/panel/1/keys')).toBe(200)
  for (const path of ['/admin/panel/%2e%2e/panel/1/keys', '/admin/panel/x/..\\1\\keys', '/admin/panel/../panel/1/keys'])
    expect([path, await statusOf(path)]).toEqual([path, 400])
})

test('pipelined requests for pages are carried out one at a time', async () => {
  const { community } = await createTestCommunity({ allowHttp: true })
  let running = 0
  let mostRunning = 0
  const counted = {
    ...community.networks,
    async find(name: string) {
      running += 1
      mostRunning = Math.max(mostRunning, running)
      await setTimeout(2)
      running -= 1
      return community.networks.find(name)
    },
  }
  const parts = { community: { ...community, networks: counted }, relay: undefined, port: 1, publicUrl: undefined }
  const rules = { allowHttp: true, trustProxy: false, onError: () => {} }
  const mounted = mountPanel({ ...parts, ...rules }, { url: '' }, (_, response) => response.end())
  const origin = await onLoopback(mounted.listener)
  const cookie = await enter(origin + mounted.link().url)
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').setEncoding('utf8')
  const page = `GET /admin/panel/1/keys HTTP/1.1\r\nHost: a\r\nCookie: ${cookie}\r\n\r\n`
  socket.write(page.repeat(19) + page.replace('Host', 'Connection: close\r\nHost'))
  const replies = (await socket.toArray()).join('')
  expect([replies.split('HTTP/1.1 200 OK').length - 1, mostRunning]).toEqual([20, 1])
})
