import { once } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import {
  type ClientHttp2Session,
  type ClientSessionRequestOptions,
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Settings,
} from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { panelMiddleware, type TransferBounds, toNodeListener } from '../../../adapters/http/node.ts'
import type { HttpResponse, Incoming, Options } from '../../../lib/index.ts'
import { createPanel } from '../../../lib/panel/index.ts'
import { createTestCommunity } from '../../support/community.ts'
import { heapInUse } from '../../support/heap.ts'
import { onLoopback } from '../../support/on-loopback.ts'

const MiB = 1024 * 1024
const tags = '/admin/v1/networks/1/tags'
const assets = '/admin/v1/networks/1/assets'

/** Waits for what clients see of it, for as long as a busy machine may take. */
const eventually = (condition: () => unknown) => vi.waitFor(condition, { timeout: 60_000 })

type Listener = ReturnType<typeof toNodeListener>

/** @param behind the work of a host before the listener */
async function hosted(options: Partial<Options> = {}, bounds?: TransferBounds, behind = (listener: Listener) => listener) {
  const it = await createTestCommunity({ allowHttp: true, ...options })
  let running = 0
  let mostRunning = 0
  const serve = async (incoming: Incoming): Promise<HttpResponse> => {
    running += 1
    mostRunning = Math.max(mostRunning, running)
    const response = await it.community.serve(incoming)
    running -= 1
    return response
  }
  const port = Number(new URL(await onLoopback(behind(toNodeListener({ serve }, bounds)))).port)
  return { ...it, port, url: `http://127.0.0.1:${port}`, mostRunning: () => mostRunning }
}

/** A connection to a server, and all that came back on it. */
async function open(port: number) {
  const socket: Socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  const closed = Promise.withResolvers<void>()
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('close', () => closed.resolve())
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  return { socket, closed: closed.promise, text: () => Buffer.concat(chunks).toString() }
}

const head = (method: string, path: string, token: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`

const countOf = (text: string, part: string): number => text.split(part).length - 1

/** A network with posts whose list is a large response. */
async function withLargeList(options: Partial<Options> = {}, bounds?: TransferBounds) {
  const it = await hosted(options, bounds)
  const description = 'ü'.repeat(90_000)
  for (let index = 0; index < 20; index++)
    await it.community.call('tags.create', { network: 'demo', body: { title: `Tag ${index}`, description } })
  return { ...it, description }
}

test('a large response arrives whole, letter by letter', async () => {
  const { url, token, description, community } = await withLargeList()
  const response = await fetch(url + tags, { headers: { authorization: `Bearer ${token}` } })
  const { items } = (await response.json()) as { items: { description: string }[] }
  expect(items.map((item) => item.description === description)).toEqual(Array(20).fill(true))
  await eventually(() => expect(community.inFlight()).toMatchObject({ requests: 0, bytes: 0 }))
})

test('letters outside the first plane are not cut in two where a large response is written in parts', async () => {
  const { url, token, community } = await hosted()
  const description = `x${'🌍'.repeat(49_999)}`
  for (let index = 0; index < 3; index++)
    await community.call('tags.create', { network: 'demo', body: { title: `Tag ${index}`, description } })
  const response = await fetch(url + tags, { headers: { authorization: `Bearer ${token}` } })
  const { items } = (await response.json()) as { items: { description: string }[] }
  expect(items.every((item) => item.description === description)).toBe(true)
})

test('pipelined requests of one connection are carried out one at a time, and get their responses in order', async () => {
  const { port, token, mostRunning } = await hosted()
  const { socket, text } = await open(port)
  const count = 3_000
  for (let index = 0; index < count; index++) socket.write(head('GET', `${tags}?per_page=1&n=${index}.`, token))
  await eventually(() => expect(countOf(text(), 'HTTP/1.1 200')).toBe(count))
  const order = [...text().matchAll(/&n=(\d+)\./g)].map(([, index]) => Number(index))
  expect(order).toEqual(Array.from({ length: count }, (_, index) => index))
  expect(mostRunning()).toBe(1)
})

test('a request over HTTP/1 that claims to be HTTP/2 is refused, and its connection closed', async () => {
  const { port, token, mostRunning } = await hosted()
  const { socket, text, closed } = await open(port)
  const request = head('GET', tags, token, 'Connection: keep-alive\r\n').replace('HTTP/1.1', 'HTTP/2.0')
  socket.write(request.repeat(100))
  await closed
  expect(text()).toMatch(/^HTTP\/1\.1 505 HTTP Version Not Supported\r\n.*{"error":"This connection is HTTP\/1\.1, /s)
  expect([countOf(text(), 'HTTP/1.1 505'), mostRunning()]).toEqual([1, 0])
})

test('the streams of one HTTP/2 connection all get a response, a bounded number at a time', async () => {
  const it = await createTestCommunity({ allowHttp: true })
  let running = 0
  let mostRunning = 0
  const listener = toNodeListener({
    async serve(incoming) {
      running += 1
      mostRunning = Math.max(mostRunning, running)
      await new Promise(setImmediate)
      running -= 1
      return it.community.serve(incoming)
    },
  })
  const server = createHttp2Server(listener as unknown as Parameters<typeof createHttp2Server>[1])
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  const ask = (method: string, body?: string) =>
    new Promise((resolve, reject) => {
      const stream = client.request({
        ':method': method,
        ':path': tags,
        authorization: `Bearer ${it.token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      })
      stream.on('response', (headers) => resolve(headers[':status']))
      stream.on('error', reject)
      stream.end(body)
    })
  const asked = Array.from({ length: 120 }, (_, index) =>
    index % 2 === 0 ? ask('GET') : ask('POST', `{"title":"Tag ${index}"}`),
  )
  expect(await Promise.all(asked)).toEqual(asked.map((_, index) => (index % 2 === 0 ? 200 : 201)))
  expect(mostRunning).toBe(32)
  expect(await ask('POST', 'x'.repeat(2 * MiB))).toBe(413)
  await eventually(() => expect(it.community.inFlight()).toMatchObject({ requests: 0, bytes: 0 }))
})

/** A server of HTTP/2, and a connection to it. */
async function openHttp2(listener: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createHttp2Server(listener as unknown as Parameters<typeof createHttp2Server>[1])
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clients: ClientHttp2Session[] = []
  onTestFinished(() => {
    for (const client of clients) client.destroy()
    server.close()
  })
  const session = async (settings: Settings = {}) => {
    const client = connectHttp2(origin, { settings }).on('error', () => {})
    clients.push(client)
    await once(client, 'remoteSettings')
    return client
  }
  return session
}

const asked = (client: ClientHttp2Session, headers: OutgoingHttpHeaders, options?: ClientSessionRequestOptions) =>
  client
    .request(headers, options)
    .on('error', () => {})
    .resume()

test('over HTTP/2 a Host other than the authority is refused, as a second Host is', async () => {
  const { community, token } = await createTestCommunity({ allowHttp: true })
  const client = await (await openHttp2(toNodeListener(community)))()
  const ask = async (host: string): Promise<string> => {
    const request = client.request({ ':path': tags, ':authority': 'api.test', host, authorization: `Bearer ${token}` })
    const [{ ':status': status }] = await once(request, 'response')
    return `${status} ${(await request.setEncoding('utf8').toArray()).join('')}`
  }
  expect(await ask('evil.test')).toBe('400 {"error":"A request must have one Host header, got several"}')
  expect(await ask('API.test')).toMatch(/^200 .*"self":"http:\/\/api\.test\//)
})

test('streams that are reset while they wait hold nothing, on their session or on others', async () => {
  const { community } = await createTestCommunity()
  const panel = panelMiddleware(
    createPanel(community, {
      async authorize() {
        await pause(30)
        return null
      },
    }),
  )
  const listener = (request: IncomingMessage, response: ServerResponse) => panel(request, response, () => response.end())
  const session = await openHttp2(listener)
  const page = { ':path': '/admin/panel/' }
  // Together more than may wait.
  for (let round = 0; round < 12; round++) {
    const client = await session()
    const first = Array.from({ length: 80 }, () => asked(client, page))
    await pause(5)
    // 32 of them are under way.
    for (const waiting of first.slice(32)) waiting.close(8)
    for (let index = 0; index < 850; index++) {
      asked(client, page).close(8)
      if (index % 90 === 89) await pause(2)
    }
    const [headers] = await once(asked(client, page), 'response')
    expect(headers[':status']).toBe(403)
    client.destroy()
  }
  const { socket, text } = await open(Number(new URL(await onLoopback(listener)).port))
  socket.write('GET /admin/panel/ HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3))
  await eventually(() => expect(countOf(text(), 'HTTP/1.1 403')).toBe(3))
})

const endlessFile = async () => {
  const file = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) })
  return new Response(file, { status: 403, headers: { 'content-disposition': 'attachment' } })
}

test.each(['pages', 'files'])(
  '%s of the panel that the client never reads are dropped, and give their turns back',
  async (what) => {
    const { community } = await createTestCommunity()
    const pages = panelMiddleware(createPanel(community, { authorize: () => null }))
    const panel = what === 'pages' ? pages : panelMiddleware(Object.assign(endlessFile, { owns: () => true }))
    const session = await openHttp2((request, response) => panel(request, response, () => response.end()))
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const client = await session({ initialWindowSize: 0 })
    const streams = Array.from({ length: 33 }, () => asked(client, { ':path': '/admin/panel/' }))
    const [first, last] = [streams[0], streams.at(-1)]
    if (!first || !last) throw new TypeError('no streams')
    const closed = once(first, 'close')
    const answered = once(last, 'response')
    await once(first, 'response')
    vi.advanceTimersByTime(60_000)
    await closed
    const [headers] = await answered
    expect(headers[':status']).toBe(403)
  },
)

test('a stream that is reset before its long response is there holds nothing of what may be in flight', async () => {
  const { community, token } = await withLargeList()
  const serve = async (incoming: Incoming) => {
    const response = await community.serve(incoming)
    await pause(20)
    return response
  }
  const session = await openHttp2(toNodeListener({ serve }, { responseStallMs: 60_000 }))
  const client = await session()
  for (let index = 0; index < 32; index++) asked(client, { ':path': tags, authorization: `Bearer ${token}` }).close(8)
  await eventually(() => expect(community.inFlight()).toMatchObject({ requests: 0, bytes: 0 }))
  const [headers] = await once(asked(client, { ':path': tags, authorization: `Bearer ${token}` }), 'response')
  expect(headers[':status']).toBe(200)
})

test('the stream of a body that stops arriving is closed behind its 408', async () => {
  const { community, token } = await createTestCommunity({ allowHttp: true })
  const session = await openHttp2(toNodeListener(community, { bodyStallMs: 100 }))
  const headers = { ':method': 'POST', ':path': tags, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const stream = asked(await session(), headers, { endStream: false })
  stream.write('{"ti')
  const closed = once(stream, 'close')
  const [answer] = await once(stream, 'response')
  expect(answer[':status']).toBe(408)
  await closed
})

test('a body behind a pipelined request arrives', async () => {
  const { port, token } = await hosted()
  const { socket, text } = await open(port)
  const post = (round: number) => {
    const body = JSON.stringify({ title: `Oil ${round}`, description: 'x'.repeat(90_000) })
    return head('POST', tags, token, `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`) + body
  }
  for (let round = 0; round < 3; round++) socket.write(head('GET', tags, token) + post(round))
  await eventually(() => expect([countOf(text(), 'HTTP/1.1 200'), countOf(text(), 'HTTP/1.1 201')]).toEqual([3, 3]))
})

test.each([[[1, 0]], [[2, 1, 0]], [[2, 3, 1, 0]]])(
  'pipelined requests that a host hands on in the order %j all get a response',
  async (order) => {
    const handOn: (() => void)[] = []
    const { port, token } = await hosted({}, {}, (listener) => (request, response) => {
      handOn.push(() => listener(request, response))
      if (handOn.length === order.length) for (const index of order) handOn[index]?.()
    })
    const { socket, text } = await open(port)
    socket.write(order.map((_, index) => head('GET', `${tags}?n=${index}`, token)).join(''))
    await eventually(() => expect([...text().matchAll(/\?n=(\d)/g)].map(([, n]) => Number(n))).toEqual(order.toSorted()))
  },
)

test('connections that pipeline and never read hold one response each, and are closed', async () => {
  const { port, token, community } = await withLargeList({}, { responseStallMs: 200 })
  const connections = await Promise.all(Array.from({ length: 10 }, () => open(port)))
  for (const { socket } of connections) {
    socket.pause()
    for (let index = 0; index < 50; index++) socket.write(head('GET', tags, token))
  }
  // A paused socket is notified of the end only when it reads again.
  await eventually(() => expect(community.inFlight().requests).toBeGreaterThan(0))
  await eventually(() => expect(community.inFlight()).toMatchObject({ requests: 0, bytes: 0 }))
  // 500 responses of nearly 2 million characters were requested.
  expect(community.inFlight().peakBytes).toBeLessThan(10 * 2 * MiB)
  for (const { socket } of connections) socket.resume()
  await Promise.all(connections.map(({ closed }) => closed))
})

test('what waits on all connections together has a bound, and is forgotten with them', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const response: HttpResponse = { status: 200, headers: {}, body: '{}' }
  const origin = await onLoopback(
    toNodeListener({ serve: ({ path }) => (path === '/held' ? held.then(() => response) : Promise.resolve(response)) }),
  )
  const port = Number(new URL(origin).port)
  const connections = await Promise.all(Array.from({ length: 30 }, () => open(port)))
  let cut = 0
  for (const { socket, closed } of connections) {
    void closed.then(() => {
      cut += 1
    })
    socket.write(`GET /held HTTP/1.1\r\nHost: a\r\n\r\n${'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2_000)}`)
  }
  await eventually(() => expect(cut).toBeGreaterThan(0))
  expect(cut).toBeLessThan(30)
  release()
  for (const { socket } of connections) socket.destroy()
  await Promise.all(connections.map(({ closed }) => closed))
  const { socket, text } = await open(port)
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2_000))
  await eventually(() => expect(countOf(text(), 'HTTP/1.1 200')).toBe(2_000))
})

test('a response that is taken drop by drop ends with its time', async () => {
  const { port, token, community } = await withLargeList({}, { responseStallMs: 50, responseTimeoutMs: 500 })
  const { socket, closed } = await open(port)
  socket.on('data', () => {
    socket.pause()
    setTimeout(() => socket.resume(), 20)
  })
  for (let index = 0; index < 50; index++) socket.write(head('GET', tags, token))
  await closed
  await eventually(() => expect(community.inFlight()).toMatchObject({ requests: 0, bytes: 0 }))
})

test('a body that stops arriving is a 408, and its connection is closed', async () => {
  const { port, token, community, faults } = await hosted({}, { bodyStallMs: 100 })
  const { socket, closed, text } = await open(port)
  socket.write(`${head('POST', tags, token, 'Content-Type: application/json\r\nContent-Length: 100\r\n')}{"title":`)
  await eventually(() => expect(text()).toContain('{"error":"The body did not arrive in time. Send it again"}'))
  expect(text()).toContain('HTTP/1.1 408 Request Timeout')
  socket.end()
  await closed
  await eventually(() => expect(community.inFlight()).toMatchObject({ requests: 0, bytes: 0 }))
  expect(faults).toEqual([])
})

test('a body that drips is a 408 when its time is over', async () => {
  const { port, token } = await hosted({}, { bodyStallMs: 100, bodyTimeoutMs: 400 })
  const { socket, text } = await open(port)
  socket.write(head('POST', tags, token, 'Content-Type: application/json\r\nContent-Length: 100000\r\n'))
  const drip = setInterval(() => socket.write(' '), 10)
  onTestFinished(() => clearInterval(drip))
  await eventually(() => expect(text()).toContain('HTTP/1.1 408'))
})

test('a body that comes in chunks of one byte takes little more memory than its bytes', async () => {
  const { port, token, community } = await hosted()
  const { socket, text } = await open(port)
  socket.write(head('POST', tags, token, 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n'))
  const chunks = Buffer.from('1\r\n \r\n'.repeat(10_000))
  const before = heapInUse()
  for (let round = 0; round < 30; round++) socket.write(chunks)
  await eventually(() => expect(community.inFlight().bytes).toBe(300_000))
  expect(heapInUse() - before).toBeLessThan(10 * MiB)
  socket.write('f\r\n{"title":"Oil"}\r\n0\r\n\r\n')
  await eventually(() => expect(text()).toContain('HTTP/1.1 201'))
})

const multipart = 'Content-Type: multipart/form-data; boundary=b\r\n'

test('uploads that stop half-way hold no more than the share of their network, and others continue', async () => {
  const limits = { inFlightBytes: 16 * MiB, assetBytes: 2 * MiB, bodyBytes: MiB }
  const { port, url, token, community } = await hosted({ limits })
  const { network } = await community.networks.create({
    subdomain: 'other',
    title: 'Other',
    service_plan: 'unlimited',
    owner: { email: 'other@example.org', first_name: 'Bo', last_name: 'Other' },
  })
  const other = await community.keys.create({ network: network.id, name: 'other', scopes: ['*'] })
  const uploads = await Promise.all(Array.from({ length: 40 }, () => open(port)))
  for (const { socket } of uploads) {
    socket.write(head('POST', assets, token, `${multipart}Content-Length: ${2 * MiB}\r\n`))
    socket.write(Buffer.alloc(MiB))
  }
  const refused = () => uploads.filter(({ text }) => text().includes('HTTP/1.1 503')).length
  await eventually(() => expect(refused()).toBeGreaterThanOrEqual(32))
  const [first] = uploads.filter(({ text }) => text().includes('503'))
  expect(first?.text()).toContain('Retry-After: 2'.toLowerCase())
  // Its body may come after its head.
  await eventually(() => expect(first?.text()).toContain('This network has too many bytes in flight'))
  const created = await fetch(`${url}/admin/v1/networks/${network.id}/tags`, {
    method: 'POST',
    headers: { authorization: `Bearer ${other.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Oil' }),
  })
  expect(created.status).toBe(201)
  // A response is never refused: on a busy machine all of those that refuse are on their way at the same moment.
  const responses = uploads.map(({ text }) => text().length).reduce((sum, length) => sum + length, 1000)
  expect(community.inFlight().peakBytes).toBeLessThanOrEqual(8 * MiB + responses)
  for (const { socket } of uploads) socket.destroy()
  await eventually(() => expect(community.inFlight()).toMatchObject({ requests: 0, bytes: 0 }))
})

test('an upload that would not fit any more is refused before it is read', async () => {
  const limits = { inFlightBytes: 6 * MiB, assetBytes: 2 * MiB, bodyBytes: MiB }
  const { port, token, community } = await hosted({ limits })
  const first = await open(port)
  first.socket.write(head('POST', assets, token, `${multipart}Content-Length: ${2.5 * MiB}\r\n`))
  first.socket.write(Buffer.alloc(2 * MiB))
  await eventually(() => expect(community.inFlight().bytes).toBe(2 * MiB))
  const second = await open(port)
  second.socket.write(head('POST', assets, token, `${multipart}Content-Length: ${2 * MiB}\r\n`))
  await eventually(() => expect(second.text()).toContain('HTTP/1.1 503'))
  expect(community.inFlight().bytes).toBeLessThan(2 * MiB + 1000)
})

test('over the ceiling every request is a 503 with Retry-After, and under it again all is well', async () => {
  const limits = { inFlightBytes: MiB, assetBytes: MiB, bodyBytes: MiB }
  const { port, url, token, community } = await withLargeList({ limits }, { responseStallMs: 1_000 })
  const slow = await open(port)
  slow.socket.pause()
  for (let index = 0; index < 20; index++) slow.socket.write(head('GET', tags, token))
  await eventually(() => expect(community.inFlight().bytes).toBeGreaterThan(MiB))
  const refused = await fetch(`${url}/admin/v1/spec.json`)
  expect({ status: refused.status, after: refused.headers.get('retry-after'), body: await refused.json() }).toEqual({
    status: 503,
    after: '2',
    body: { error: 'The server has too much in flight. Try again in 2 seconds' },
  })
  await eventually(async () => expect((await fetch(`${url}/admin/v1/spec.json`)).status).toBe(200))
})

test('a body that is too large gets its 413 also where the client only reads when it has written', async () => {
  const { port, token } = await hosted()
  for (const framing of [`Content-Length: ${4 * MiB}\r\n`, 'Transfer-Encoding: chunked\r\n']) {
    const { socket, closed, text } = await open(port)
    socket.pause()
    socket.write(head('POST', tags, token, `Content-Type: application/json\r\n${framing}`))
    for (let index = 0; index < 4; index++) {
      const bytes = Buffer.alloc(MiB, 0x20)
      const chunk = framing.startsWith('Content') ? bytes : Buffer.concat([Buffer.from('100000\r\n'), bytes, Buffer.from('\r\n')])
      await new Promise<void>((resolve, reject) => socket.write(chunk, (error) => (error ? reject(error) : resolve())))
    }
    if (framing.startsWith('Transfer')) socket.write('0\r\n\r\n')
    socket.resume()
    await closed
    expect(text()).toContain('HTTP/1.1 413')
    expect(text()).toContain('{"error":"The body is larger than 1048576 bytes"}')
  }
})

test('a bound that is no number of milliseconds is named', async () => {
  const { community } = await createTestCommunity()
  expect(() => toNodeListener(community, { responseStallMs: 0 })).toThrow(
    'toNodeListener: option `responseStallMs` must be a whole number of milliseconds from 1 to 2147483647, got 0',
  )
})

test('a `fetch` host whose client goes away in the middle of a body is a 400, no fault', async () => {
  const { community, token, faults } = await createTestCommunity()
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"title":'))
    },
    pull: () => Promise.reject(new DOMException('The connection was closed', 'AbortError')),
  })
  const request = new Request(`https://api.test${tags}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
    duplex: 'half',
  } as RequestInit)
  const response = await community.fetch(request)
  expect([response.status, await response.json()]).toEqual([400, { error: 'The body ended before it was complete' }])
  expect(faults).toEqual([])
})
