/** The server as those see it who operate it: health, figures, logs, what it prints and keeps to itself. */
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { mostUnread } from '../../../daemon/output.ts'
import { createFront } from '../../../daemon/server/http/front.ts'
import { createLog } from '../../../daemon/server/operate/log.ts'
import { begun } from '../../support/begun.ts'
import { run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { freePort } from '../../support/free-port.ts'
import type { Json } from '../../support/json.ts'
import { folkmoot } from '../../support/program.ts'

test('a server that starts responds 503, is alive and not ready; when its database is lost it ends with a sentence', async () => {
  // A database that takes the connection and never responds.
  const held: Socket[] = []
  const database = createServer((socket) => void held.push(socket))
  await new Promise<void>((listening) => database.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void database.close())
  const { port: databasePort } = database.address() as { port: number }
  const port = await freePort()
  const address = `postgres://user:hunter2@127.0.0.1:${databasePort}/db`
  const server = run('folkmoot', 'serve', '--storage', address, '--port', String(port), '--json', '--allow-http')
  const url = `http://127.0.0.1:${port}`
  const get = (path: string) => fetch(url + path)
  await vi.waitFor(async () => expect((await get('/livez')).status).toBe(200), { timeout: 60_000, interval: 20 })
  expect((await get('/readyz')).status).toBe(503)
  const early = await get('/admin/v1/networks/1/me')
  expect([early.status, early.headers.get('retry-after'), await early.json()]).toEqual([
    503,
    '1',
    { error: 'The server is starting: try again in a moment' },
  ])
  await vi.waitFor(() => expect(held.length).toBeGreaterThan(0), { timeout: 60_000, interval: 20 })
  database.close()
  for (const socket of held) socket.destroy()
  // Not 2, after which systemd would not start it again when the database is back.
  expect(await server.ended).toBe(1)
  expect(server.out.stdout).toBe('')
  expect(JSON.parse(server.out.stderr)).toEqual({ error: expect.stringMatching(/PostgreSQL|database/i) })
  expect(server.out.stderr).not.toContain('hunter2')
})

test('health, figures and one line for each request: never a token, a query or a body', async () => {
  const metricsPort = await freePort()
  const flags = ['--access-log', '--metrics-port', String(metricsPort), '--ids', 'number']
  const server = begun('serve', '--demo', '--allow-http', '--json', '--port', '0', '--storage', 'memory:', ...flags)
  const { url, token } = JSON.parse(await server.firstLine())
  const authorization = `Bearer ${token}`
  for (const path of ['/livez', '/readyz']) expect((await fetch(url + path)).status).toBe(200)
  expect((await fetch(`${url}/readyz`, { method: 'POST' })).status).toBe(405)
  const me = await fetch(`${url}/admin/v1/networks/1/me?private=question`, { headers: { authorization } })
  expect(await me.json()).toMatchObject({ id: 1001 })
  const headers = { authorization, 'content-type': 'application/json' }
  await fetch(`${url}/admin/v1/networks/1/tags`, { method: 'POST', headers, body: '{"title":"secret plan"}' })
  await fetch(`${url}/nowhere`)
  await vi.waitFor(() => expect(server.out.stdout.trim().split('\n')).toHaveLength(4), { timeout: 60_000, interval: 20 })
  const [, ...text] = server.out.stdout.trim().split('\n')
  const lines = text.map((line) => JSON.parse(line) as Json)
  expect(lines.map(({ method, path, status, operation }) => [method, path, status, operation])).toEqual([
    ['GET', '/admin/v1/networks/1/me', 200, 'me.show'],
    ['POST', '/admin/v1/networks/1/tags', 201, 'tags.create'],
    ['GET', '/nowhere', 404, null],
  ])
  for (const hidden of [token, 'private', 'question', 'secret plan']) expect(text.join('\n')).not.toContain(hidden)

  const figures = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  expect(figures).toContain('folkmoot_requests_total{operation="me.show",status="2xx"} 1')
  expect(figures).toContain('folkmoot_requests_total{operation="tags.create",status="2xx"} 1')
  expect(figures).toContain('folkmoot_requests_total{operation="none",status="4xx"} 1')
  expect(figures).toContain('folkmoot_requests_in_flight 0')
  expect(figures).toContain('folkmoot_ready 1')
})

test('behind a proxy a missing --public-url is reported at the start; a new member consents if the operator sets it', async () => {
  const flags = ['--trust-proxy', '--email-consent', '--storage', 'memory:', '--port', '0', '--demo', '--json']
  const server = begun('serve', ...flags)
  const { url, token } = JSON.parse(await server.firstLine())
  await vi.waitFor(() => expect(server.out.stderr).toContain('\n'), { timeout: 60_000, interval: 20 })
  expect(JSON.parse(server.out.stderr)).toMatchObject({
    level: 'warning',
    message: expect.stringMatching(/^--public-url is missing/),
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-forwarded-proto': 'https' }
  const body = JSON.stringify({ email: 'new@example.org', first_name: 'New', last_name: '' })
  const made = await fetch(`${url}/admin/v1/networks/1/members`, { method: 'POST', headers, body })
  expect([made.status, await made.json()]).toEqual([201, expect.objectContaining({ email: 'new@example.org' })])
})

test('the demo has one key that works, however often it starts', async () => {
  const storage = `lowdb:${join(temporaryDirectory(), 'db.json')}`
  for (let start = 0; start < 2; start++) {
    const server = begun('serve', '--demo', '--allow-http', '--json', '--port', '0', '--storage', storage)
    await server.firstLine()
    await server.stop()
  }
  const { lines } = await folkmoot('keys', 'list', '--storage', storage, '--json')
  const states = lines
    .flatMap((text) => text.split('\n'))
    .map((line) => JSON.parse(line) as Json)
    .map(({ status }) => status)
  expect(states.toSorted()).toEqual(['Active', 'Revoked'])
})

test('an ending server is alive and no longer ready', () => {
  const front = createFront()
  const responseTo = (path: string) => {
    const statuses: number[] = []
    const response = { writeHead: (given: number) => ({ end: () => statuses.push(given) }) }
    front.listener({ url: path, method: 'GET' } as never, response as never)
    return statuses[0]
  }
  const phases = (['starting', 'ready', 'ending'] as const).map((phase) => {
    front.phase = phase
    return [phase, responseTo('/livez'), responseTo('/readyz')]
  })
  expect(phases).toEqual([
    ['starting', 200, 503],
    ['ready', 200, 200],
    ['ending', 200, 503],
  ])
})

test('a fault is logged with its stack and its request, as one object under --json', () => {
  const written: string[] = []
  const out = { line: () => undefined, warn: (text: string) => void written.push(text) }
  createLog(out, true, () => 0).fault('in the API', new Error('no such table'), { request_id: 'r1', operation: 'tags.create' })
  expect(JSON.parse(written[0] ?? '')).toEqual({
    time: '1970-01-01T00:00:00.000Z',
    level: 'fault',
    what: 'in the API',
    request_id: 'r1',
    operation: 'tags.create',
    error: 'no such table',
    stack: expect.stringContaining('operating.test.ts'),
  })
  createLog(out, false).fault('in the API', new Error('no such table'), { request_id: 'r1' })
  expect(written[1]).toMatch(/^fault in the API request_id=r1: Error: no such table\n\s+at /)
})

test('access log pauses while its consumer is blocked, and resumes afterwards', () => {
  const written: string[] = []
  let unread = 0
  const out = { line: (text: string) => void written.push(text), warn: () => undefined, unread: () => unread }
  const log = createLog(out, true)
  for (const waiting of [0, mostUnread + 1, 0]) {
    unread = waiting
    log.access({ method: 'GET', path: `/${waiting}`, status: 200, operation: null, milliseconds: 1, from: null })
  }
  expect(written.map((line) => JSON.parse(line).path)).toEqual(['/0', '/0'])
})
