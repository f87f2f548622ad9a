import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer, request as httpRequest, IncomingMessage, ServerResponse } from 'node:http'
import { connect, Socket } from 'node:net'
import { createGzip, type Gzip } from 'node:zlib'
import express, { type RequestHandler } from 'express'
import { expect, onTestFinished, test, vi } from 'vitest'
import { communityMiddleware, toNodeListener } from '../../../adapters/http/node.ts'
import type { Options } from '../../../lib/index.ts'
import { createTestCommunity } from '../../support/community.ts'
import { onLoopback } from '../../support/on-loopback.ts'

async function hosted(options: Partial<Options> = {}) {
  const it = await createTestCommunity({ allowHttp: true, ...options })
  const headers = { authorization: `Bearer ${it.token}`, 'content-type': 'application/json' }
  return { ...it, headers }
}

const tags = '/admin/v1/networks/1/tags'
const tag = JSON.stringify({ title: 'Größe ✓' })

test('node:http: a body comes in and the record goes out, byte for byte', async () => {
  const { community, headers } = await hosted()
  const url = await onLoopback(toNodeListener(community))
  const posted = await fetch(url + tags, { method: 'POST', headers, body: tag })
  expect(posted.status).toBe(201)
  const record = await posted.json()
  expect(record).toMatchObject({ title: 'Größe ✓' })
  const listed = await fetch(url + tags, { headers })
  expect(listed.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(await listed.json()).toEqual({ items: [record], links: { self: url + tags, next: null } })
})

test('a text of any length and alphabet leaves as UTF-8, with its length', async () => {
  const texts = ['plain', 'Größe', 'Größe ✓ 🌱', 'half a pair \ud83c'].flatMap((text) => [
    text,
    text.repeat(600),
    text.repeat(20_000),
  ])
  const url = await onLoopback((request, response) => {
    const body = texts[Number(request.url?.slice(1))] ?? ''
    toNodeListener({ serve: async () => ({ status: 200, headers: {}, body }) })(request, response)
  })
  for (const [place, text] of texts.entries()) {
    const answer = await fetch(`${url}/${place}`)
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(bytes.equals(Buffer.from(text))).toBe(true)
    expect(answer.headers.get('content-length')).toBe(String(bytes.length))
  }
})

test('HEAD has the headers of GET and no body', async () => {
  const { community, headers } = await hosted()
  const url = await onLoopback(toNodeListener(community))
  const get = await fetch(url + tags, { headers })
  const head = await fetch(url + tags, { method: 'HEAD', headers })
  expect(head.status).toBe(200)
  expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
  expect(await head.text()).toBe('')
})

test('two Authorization or Host headers are refused, though Node hands on only the first', async () => {
  const { community, token } = await hosted()
  const url = new URL(await onLoopback(toNodeListener(community)))
  const statusOf = (...headers: readonly string[]) =>
    new Promise((resolve, reject) => {
      const request = httpRequest({ host: url.hostname, port: url.port, path: tags, headers })
      request.on('response', (response) => resolve(response.statusCode))
      request.on('error', reject)
      request.end()
    })
  const authorization = ['Authorization', `Bearer ${token}`]
  expect(await statusOf('Host', 'x', ...authorization, ...authorization)).toBe(401)
  expect(await statusOf('Host', 'x', 'Host', 'y', ...authorization)).toBe(400)
  expect(await statusOf('Host', 'x', ...authorization)).toBe(200)
})

test('a body that is too large gets a 413, announced or not', async () => {
  const { community, headers } = await hosted()
  const url = await onLoopback(toNodeListener(community))
  const large = JSON.stringify({ title: 'x'.repeat(2 * 1024 * 1024) })
  const announced = await fetch(url + tags, { method: 'POST', headers, body: large })
  expect(announced.status).toBe(413)
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let begin = 0; begin < large.length; begin += 65_536)
        controller.enqueue(Buffer.from(large.slice(begin, begin + 65_536)))
      controller.close()
    },
  })
  const chunked = await fetch(url + tags, { method: 'POST', headers, body: stream, duplex: 'half' } as RequestInit)
  expect(chunked.status).toBe(413)
  expect(await chunked.json()).toEqual({ error: 'The body is larger than 1048576 bytes' })
})

test.each([
  ['leaves it to the community', () => {}],
  ['has answered it', (response: ServerResponse) => response.writeContinue()],
])('`Expect: 100-continue` is answered once, where a listener of the host %s', async (_, listens) => {
  const { community, headers } = await hosted()
  const listener = toNodeListener(community)
  const server = createServer(listener)
  server.on('checkContinue', (request, response) => {
    listens(response)
    listener(request, response)
  })
  const { port } = new URL(await onLoopback(server))
  const request = httpRequest({ port, path: tags, method: 'POST', headers: { ...headers, expect: '100-continue' } })
  let continued = 0
  request.on('continue', () => {
    continued += 1
    request.end(tag)
  })
  request.flushHeaders()
  const [response] = await once(request, 'response')
  expect([response.resume().statusCode, continued]).toEqual([201, 1])
})

test('a connection that is cut in the middle of a body leaves nothing behind, and the server continues', async () => {
  const { community, headers, faults } = await hosted()
  const url = new URL(await onLoopback(toNodeListener(community)))
  const socket = connect(Number(url.port), url.hostname)
  socket.write(
    `POST ${tags} HTTP/1.1\r\nHost: x\r\nAuthorization: ${headers.authorization}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"title":`,
  )
  await expect.poll(() => community.inFlight().requests).toBe(1)
  socket.destroy()
  await expect.poll(() => community.inFlight().requests).toBe(0)
  const listed = await fetch(url.origin + tags, { headers })
  expect(await listed.json()).toMatchObject({ items: [] })
  expect(faults).toEqual([])
})

test('a caller who takes us for a proxy and sends the whole address is understood', async () => {
  const { community, headers } = await hosted()
  const url = new URL(await onLoopback(toNodeListener(community)))
  const status = await new Promise((resolve, reject) => {
    const request = httpRequest({ host: url.hostname, port: url.port, path: `http://${url.host}${tags}?page=1`, headers })
    request.on('response', (response) => resolve(response.statusCode))
    request.on('error', reject)
    request.end()
  })
  expect(status).toBe(200)
})

test('a path is used as it came: dot segments, fragments and backslashes lead to no other operation', async () => {
  const { community, headers } = await hosted()
  const { hostname, port } = new URL(await onLoopback(toNodeListener(community)))
  const statusOf = async (path: string) => {
    const [response] = await once(httpRequest({ host: hostname, port, path, headers }).end(), 'response')
    return response.resume().statusCode
  }
  for (const end of ['/./', '/x/..', '/x/%2E%2e/', '/../tags', '/.', '/%2e', '#', '/#x', '\\', '/..\\tags'])
    expect([end, await statusOf(tags + end)]).toEqual([end, 404])
  expect(await statusOf(tags)).toBe(200)
})

test('plain HTTP is refused, and so is a forwarded https that no one said to believe', async () => {
  const { community, headers } = await hosted({ allowHttp: false })
  const url = await onLoopback(toNodeListener(community))
  for (const extra of [{}, { 'x-forwarded-proto': 'https' }]) {
    const response = await fetch(url + tags, { headers: { ...headers, ...extra } })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: 'https_required', status: 403 })
  }
})

for (const [where, parser] of [
  ['before', undefined],
  ['after', express.json()],
] as const) {
  test(`Express, ${where} a body parser: ours is answered, the rest is the host's`, async () => {
    const { community, headers } = await hosted()
    const app = express()
    if (parser) app.use(parser)
    app.use(communityMiddleware(community))
    app.post('/own', express.json(), (request, response) => void response.json({ own: request.body }))
    const url = await onLoopback(app)
    const posted = await fetch(url + tags, { method: 'POST', headers, body: tag })
    expect(posted.status).toBe(201)
    const own = await fetch(`${url}/own`, { method: 'POST', headers, body: tag })
    expect(await own.json()).toEqual({ own: { title: 'Größe ✓' } })
    expect((await fetch(`${url}/admin/v2/unknown`)).status).toBe(404)
    expect((await fetch(`${url}/admin/v2/unknown`)).headers.get('x-powered-by')).toBe('Express')
  })
}

test('Express, below a path: links carry the path, and a form that a parser took is a 415', async () => {
  const { community, headers } = await hosted({ basePath: '/community' })
  const app = express()
  app.use(express.urlencoded())
  app.use('/community', communityMiddleware(community))
  const url = await onLoopback(app)
  const listed = await fetch(`${url}/community${tags}`, { headers })
  expect(await listed.json()).toEqual({ items: [], links: { self: `${url}/community${tags}`, next: null } })
  const form = await fetch(`${url}/community${tags}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'title=x',
  })
  expect(form.status).toBe(415)
})

/**
 * As the middleware `compression` does it: the response passes through a stream, and listeners for `drain` wait on that stream.
 */
const compressing =
  (kept: (gzip: Gzip) => void): RequestHandler =>
  (_request, response, next) => {
    const gzip = createGzip()
    kept(gzip)
    const [on, write, end, writeHead] = [response.on, response.write, response.end, response.writeHead]
    gzip.on('data', (part) => write.call(response, part, 'utf8'))
    gzip.on('end', () => end.call(response, undefined, 'utf8'))
    Object.assign(response, {
      on: (name: string, listener: () => void) =>
        name === 'drain' ? void gzip.on(name, listener) : on.call(response, name, listener),
      write: (part: string) => gzip.write(part),
      end: (part?: string) => gzip.end(part),
      writeHead: (status: number, headers: Record<string, string>) =>
        writeHead.call(response, status, { ...headers, 'content-encoding': 'gzip', 'content-length': [] as never }),
    })
    next()
  }

test('a long response passes through middleware that compresses, with one listener for its pauses', async () => {
  const { community, headers } = await hosted()
  const description = '🌱'.repeat(50_000)
  for (const title of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
    await community.call('tags.create', { network: '1', body: { title, description } })
  const gzips: Gzip[] = []
  const app = express()
  app.use(compressing((gzip) => gzips.push(gzip)))
  app.use(communityMiddleware(community))
  const url = await onLoopback(app)
  const listed = await fetch(url + tags, { headers })
  expect(await listed.json()).toMatchObject({ items: Array.from({ length: 8 }, () => ({ description })) })
  expect(gzips.map((gzip) => gzip.listenerCount('drain'))).toEqual([1])
})

/** Hands a request to a listener, as Node does when it is parsed. @param socket of its connection */
function arrive(listener: ReturnType<typeof toNodeListener>, method: string, url: string, socket = new Socket()): void {
  const request = Object.assign(new IncomingMessage(socket), { method, url, httpVersionMajor: 1, httpVersionMinor: 1 })
  listener(request, new ServerResponse(request))
}

test('writes that arrive in one turn of the event loop begin one straight after the other, and reads together', async () => {
  const steps: string[] = []
  const listener = toNodeListener({
    async serve({ method, path }) {
      steps.push(`${method} ${path}`)
      queueMicrotask(() => steps.push(`after ${path}`))
      return { status: 204, headers: {}, body: null }
    },
  })
  setImmediate(() => {
    arrive(listener, 'POST', '/one')
    steps.push('parsed')
    arrive(listener, 'POST', '/two')
    arrive(listener, 'GET', '/three')
  })
  await expect.poll(() => steps.length, { interval: 1 }).toBe(7)
  expect(steps).toEqual(['parsed', 'GET /three', 'after /three', 'POST /one', 'POST /two', 'after /one', 'after /two'])
})

/** A listener that notes which store of the host's each of its requests sees. */
function withStores() {
  const host = new AsyncLocalStorage<string>()
  const seen: (readonly [path: string, store: string | undefined])[] = []
  const listener = toNodeListener({
    async serve({ path }) {
      await undefined
      seen.push([path, host.getStore()])
      return { status: 204, headers: {}, body: null }
    },
  })
  return { host, seen, listener }
}

const paths = ['/one', '/two', '/three']

test('each of several writes that arrive together is carried out in the asynchronous context of its request', async () => {
  const { host, seen, listener } = withStores()
  for (const path of paths) host.run(path, () => arrive(listener, 'POST', path))
  await expect.poll(() => seen.length, { interval: 1 }).toBe(3)
  expect(seen).toEqual(paths.map((path) => [path, path]))
})

test.each(['POST', 'GET'])('so is each %s that waits for an earlier one of its connection', async (method) => {
  const { host, seen, listener } = withStores()
  const url = await onLoopback((request, response) => host.run(request.url ?? '', () => listener(request, response)))
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(paths.map((path) => `${method} ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n`).join(''))
  await expect.poll(() => seen.length, { interval: 1 }).toBe(3)
  socket.destroy()
  expect(seen).toEqual(paths.map((path) => [path, path]))
})

test.each(['POST', 'GET'])('a `serve` of the host that throws at a %s ends that connection alone', async (method) => {
  const url = await onLoopback(
    toNodeListener({
      serve({ path }) {
        if (path === '/two') throw new Error('a fault of a test')
        return Promise.resolve({ status: 204, headers: {}, body: null })
      },
    }),
  )
  const responses = await Promise.allSettled(paths.map((path) => fetch(url + path, { method })))
  expect(responses.map((response) => (response.status === 'fulfilled' ? response.value.status : 'ended'))).toEqual([
    204,
    'ended',
    204,
  ])
})

test('a middleware mounted below a path without basePath says so once, and leaves the response to the host', async () => {
  const said: string[] = []
  const spy = vi.spyOn(console, 'warn').mockImplementation((text: string) => void said.push(text))
  onTestFinished(() => spy.mockRestore())
  const { community, headers } = await hosted()
  const other = await hosted({ basePath: '/v2' })
  const right = await hosted({ basePath: '/right' })
  const app = express()
    .use('/community', communityMiddleware(community))
    .use('/other', communityMiddleware(other.community))
    .use('/right', communityMiddleware(right.community))
  const url = await onLoopback(app)
  const statusOf = async (path: string, given = headers) => (await fetch(url + path, { headers: given })).status
  expect(await statusOf('/community/elsewhere')).toBe(404)
  expect(await statusOf(`/right${tags}`, right.headers)).toBe(200)
  expect(await statusOf('/right/elsewhere')).toBe(404)
  expect(said).toEqual([])
  for (let times = 0; times < 2; times++) expect(await statusOf(`/community${tags}`)).toBe(404)
  expect(said).toEqual([
    'folkmoot: communityMiddleware is mounted below "/community", and the community has basePath "": give createCommunity basePath: "/community"',
  ])
  expect(await statusOf(`/other${tags}`)).toBe(404)
  expect(said[1]).toContain('is mounted below "/other", and the community has basePath "/v2"')
})
