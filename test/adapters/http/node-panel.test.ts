import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import express from 'express'
import { expect, test } from 'vitest'
import { panelMiddleware } from '../../../adapters/http/node.ts'
import { catalogue } from '../../../lib/events/catalogue.ts'
import { createPanel } from '../../../lib/panel/index.ts'
import { createTestCommunity } from '../../support/community.ts'
import { onLoopback } from '../../support/on-loopback.ts'

async function createMounted(parser: express.RequestHandler[] = []) {
  const { community } = await createTestCommunity()
  const panel = createPanel(community, {
    authorize: ({ headers }) =>
      headers.get('cookie') === 'session=ada' ? { actor: 'ada', networks: 'all', access: 'all' } : null,
    basePath: '/settings/panel',
  })
  const app = express()
  app.use(...parser, panelMiddleware(panel))
  app.use(express.text({ type: '*/*' }), (request, response) => {
    response.send(`the application got ${request.body}`)
  })
  return { community, origin: await onLoopback(app) }
}

const headers = { cookie: 'session=ada', 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
const body = 'name=Express&access=*'

test.each([
  ['nothing parses bodies', []],
  ['the host parses forms', [express.urlencoded({ extended: false })]],
])('in Express a form makes a key where %s', async (_, parser) => {
  const { community, origin } = await createMounted(parser)
  const made = await fetch(`${origin}/settings/panel/1/keys`, { method: 'POST', headers, body })
  expect(made.status).toBe(201)
  expect((await community.keys.list('1')).map(({ name }) => name)).toContain('Express')
  expect((await fetch(`${origin}/settings/panel/1/keys`)).status).toBe(403)
})

test('a request for another path is left to the application, with its body', async () => {
  const { origin } = await createMounted()
  const response = await fetch(`${origin}/settings`, { method: 'POST', headers, body })
  expect(await response.text()).toBe(`the application got ${body}`)
})

test('a form that is too large is refused, and the server lives', async () => {
  const { origin } = await createMounted()
  const large = { method: 'POST', headers, body: `name=${'x'.repeat(200_000)}` }
  expect((await fetch(`${origin}/settings/panel/1/keys`, large)).status).toBe(413)
  expect((await fetch(`${origin}/settings/panel/1/keys`, { headers })).status).toBe(200)
})

test('in Express a form with a file of megabytes arrives', async () => {
  const { origin } = await createMounted()
  const body = new FormData()
  body.append(
    'file',
    new File(
      [`email,bio\n${Array.from({ length: 3 }, (_, row) => `m${row}@example.org,${'x'.repeat(900_000)}\n`).join('')}`],
      'a.csv',
    ),
  )
  const { cookie, 'sec-fetch-site': site } = headers
  const form = { method: 'POST', headers: { cookie, 'sec-fetch-site': site }, body }
  const response = await fetch(`${origin}/settings/panel/1/members/import`, form)
  expect([response.status, (await response.text()).includes('What are the columns?')]).toEqual([200, true])
})

test.each([20, 21, 47])('in Express, %i values of one field arrive, whatever its parser makes of them', async (count) => {
  const { community, origin } = await createMounted([express.urlencoded({ extended: true })])
  const events = Object.keys(catalogue).slice(0, count)
  const fields: [string, string][] = [
    ['url', 'https://hooks.example.org/a'],
    ['which', 'chosen'],
    ...events.map((name): [string, string] => ['events', `${name}Hook`]),
  ]
  const form = { method: 'POST', headers, body: new URLSearchParams(fields).toString() }
  expect((await fetch(`${origin}/settings/panel/1/webhooks`, form)).status).toBe(201)
  expect((await community.endpoints.list('1'))[0]?.events).toHaveLength(events.length)
})

/** Sends bytes as they are, and resolves with the response's first line, or with nothing if the connection was closed. */
function sendBytes(origin: string, bytes: string, end = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    let response = ''
    socket.on('data', (chunk) => {
      response += chunk
      if (response.includes('\r\n')) socket.destroy()
    })
    socket.on('close', () => resolve(response.split('\r\n')[0] ?? ''))
    socket.on('error', reject)
    socket.write(bytes, () => end && socket.destroy())
  })
}

const post = (path: string, lines: readonly string[] = [], length = body.length) =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Cookie: session=ada',
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${length}`,
    ...lines,
    '',
    body,
  ].join('\r\n')

test('a path that looks like a host is no host: on plain HTTP another origin would else be believed', async () => {
  const { community, origin } = await createMounted()
  const before = await community.keys.list('1')
  const forged = post('//evil.test/settings/panel/1/keys', ['Origin: http://evil.test'])
  expect(await sendBytes(origin, forged)).toBe('HTTP/1.1 200 OK')
  const absolute = post('http://evil.test/settings/panel/1/keys', ['Origin: http://evil.test'])
  expect(await sendBytes(origin, absolute)).toBe('HTTP/1.1 403 Forbidden')
  expect(await community.keys.list('1')).toEqual(before)
})

test.each([
  ['the method TRACE', 'TRACE /settings/panel/1/keys HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a Host that is none', 'GET /settings/panel/1/keys HTTP/1.1\r\nHost: a b/c@d\r\n\r\n'],
  ['a path that is none', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
])('%s is left to the application', async (_, bytes) => {
  const { origin } = await createMounted()
  expect(await sendBytes(origin, bytes)).toMatch(/^HTTP\/1\.1 (?:200|404)/)
  expect((await fetch(`${origin}/settings/panel/1/keys`, { headers })).status).toBe(200)
})

test.each([
  ['a Host with a path', '/', 'a/settings/panel/1/keys?'],
  ['a backslash', '/settings\\panel/1/keys', 'a'],
  ['dots', '/public/../settings/panel/1/keys', 'a'],
  ['dots in percent', '/settings/panel/%2e%2e/panel/1/keys', 'a'],
])('%s never leads into the panel past a guard of the host', async (_, path, host) => {
  const { origin } = await createMounted()
  const text = await new Promise<string>((resolve, reject) => {
    const request = httpRequest(origin, { path, headers: { host, cookie: headers.cookie } }, (response) => {
      response
        .setEncoding('utf8')
        .toArray()
        .then((parts) => resolve(parts.join('')), reject)
    })
    request.on('error', reject).end()
  })
  expect(text).toMatch(/^the application got/)
})

test('pipelined requests for pages are carried out one at a time', async () => {
  const { community } = await createTestCommunity()
  let running = 0
  let mostRunning = 0
  const panel = createPanel(community, {
    async authorize() {
      running += 1
      mostRunning = Math.max(mostRunning, running)
      await setTimeout(2)
      running -= 1
      return { actor: 'ada', networks: 'all', access: 'read' }
    },
  })
  const origin = await onLoopback(express().use(panelMiddleware(panel)))
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').setEncoding('utf8')
  const page = 'GET /admin/panel/1/keys HTTP/1.1\r\nHost: a\r\n\r\n'
  socket.write(page.repeat(19) + page.replace('Host', 'Connection: close\r\nHost'))
  const responses = (await socket.toArray()).join('')
  expect([responses.split('HTTP/1.1 200 OK').length - 1, mostRunning]).toEqual([20, 1])
})

test('a client that leaves in the midst of a form or of a page leaves the host unharmed, and changes nothing', async () => {
  const { community, origin } = await createMounted()
  const before = await community.keys.list('1')
  const own = ['Sec-Fetch-Site: same-origin']
  for (let round = 0; round < 5; round++) {
    await sendBytes(origin, post('/settings/panel/1/keys', own, 50_000), true)
    await sendBytes(origin, 'GET /settings/panel/1/reference HTTP/1.1\r\nHost: a\r\nCookie: session=ada\r\n\r\n', true)
  }
  expect((await fetch(`${origin}/settings/panel/1/keys`, { headers })).status).toBe(200)
  expect(await community.keys.list('1')).toEqual(before)
})
