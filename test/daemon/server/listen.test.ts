import { once } from 'node:events'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { withAssets } from '../../../daemon/server/http/assets.ts'
import { listen, type ServerBounds, serverBounds } from '../../../daemon/server/http/listen.ts'
import { certificateFor } from '../../support/certificate.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'folkmoot-listen-'))
  certificateFor('localhost', {}, directory)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

async function started(tls: boolean, bounds: Partial<ServerBounds> = {}) {
  const files = tls ? { tlsCert: join(directory, 'cert.pem'), tlsKey: join(directory, 'key.pem') } : {}
  const listener = withAssets(directory, { allowHttp: false, trustProxy: false }, (request, response) => {
    request.resume().on('end', () => response.end('answered'))
  })
  const listening = await listen(listener, { port: 0, host: '127.0.0.1', ...files }, { ...serverBounds, ...bounds })
  onTestFinished(() => listening.close(0))
  return { ...listening, port: Number(new URL(listening.url).port) }
}

interface Got {
  readonly status: number | undefined
  readonly type: string | undefined
  readonly body: string
}

const got = (send: typeof httpRequest, options: RequestOptions, body?: string): Promise<Got> =>
  new Promise((resolve, reject) => {
    const request = send(
      { host: '127.0.0.1', agent: false, rejectUnauthorized: false, ...options } as RequestOptions,
      (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode, type: response.headers['content-type'], body: text }))
      },
    )
    request.on('error', reject)
    request.end(body)
  })

const refused = {
  status: 403,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify({
    error: 'https_required',
    message: 'Only HTTPS is accepted. Call the same address with https.',
    status: 403,
  }),
}

test('plain HTTP on the port of TLS is a 403 `https_required`, and TLS continues', async () => {
  const { port } = await started(true)
  expect(await got(httpRequest, { port, path: '/admin/v1/networks/1/tags' })).toEqual(refused)
  expect(await got(httpRequest, { port, method: 'POST' }, 'x'.repeat(200_000))).toEqual(refused)
  expect(await got(httpRequest, { port, method: 'HEAD' })).toEqual({ ...refused, body: '' })
  expect(await got(httpsRequest, { port, method: 'POST' }, 'x'.repeat(200_000))).toMatchObject({ status: 200, body: 'answered' })
})

test('files of uploads are refused over plain HTTP like everything else', async () => {
  const { port } = await started(false)
  expect(await got(httpRequest, { port, path: '/assets/wash.png' })).toEqual(refused)
  const secured = await started(true)
  expect(await got(httpsRequest, { port: secured.port, path: '/assets/cert.pem' })).toMatchObject({ status: 200 })
})

/** Resolves when the server ends a connection that sends no more than this. */
const closed = (port: number, sent = ''): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => void (sent && socket.write(sent)))
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })

const quick: Partial<ServerBounds> = { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 50, timeout: 300 }

test('connections that say nothing, half a header or half a body are closed', async () => {
  for (const tls of [false, true]) {
    const { port } = await started(tls, quick)
    expect(await closed(port)).toMatch(/^$|^HTTP\/1.1 408 Request Timeout\r\n/)
  }
  const { port } = await started(false, { ...quick, timeout: 10_000 })
  expect(await closed(port, 'GET / HTTP/1.1\r\nHost:')).toContain('408 Request Timeout')
  expect(await closed(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nx')).toContain('408 Request Timeout')
})

const get = 'GET / HTTP/1.1\r\nHost: x\r\n'
const post = 'POST / HTTP/1.1\r\nHost: x\r\n'

test.each([
  ['no HTTP', 'GARBAGE\r\n\r\n', '400 Bad Request', 'The request is not valid HTTP'],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', '400 Bad Request', 'The request is not valid HTTP'],
  ['a broken chunk', `${post}Transfer-Encoding: chunked\r\n\r\nZ\r\n`, '400 Bad Request', 'The request is not valid HTTP'],
  [
    'long headers',
    `${get}X: ${'x'.repeat(20_000)}\r\n\r\n`,
    '431 Request Header Fields Too Large',
    'The address and the headers are larger than 16384 bytes',
  ],
  ['a foreign Expect', `${get}Expect: 200-ok\r\n\r\n`, '417 Expectation Failed', 'Expect must be 100-continue, got 200-ok'],
  ['no Host', 'GET / HTTP/1.1\r\n\r\n', '400 Bad Request', 'A request must have a Host header'],
  ['half a header', 'GET / HTTP/1.1\r\nHost:', '408 Request Timeout', 'The request did not arrive in time. Send it again'],
])('a request with %s is refused with a body of JSON', async (_, sent, status, error) => {
  const { port } = await started(false, { ...quick, timeout: 10_000 })
  const [head = '', body] = (await closed(port, sent)).split('\r\n\r\n')
  expect(head.split('\r\n')).toEqual(
    expect.arrayContaining([`HTTP/1.1 ${status}`, 'content-type: application/json; charset=utf-8', 'cache-control: no-store']),
  )
  expect(body).toBe(JSON.stringify({ error }))
})

test('a refusal never takes the place of a response to an earlier request', async () => {
  let answerFirst = () => {}
  const first = new Promise<void>((begun) => {
    answerFirst = begun
  })
  const listening = await listen((_, response) => void first.then(() => response.end('first')), { port: 0, host: '127.0.0.1' })
  onTestFinished(() => listening.close(0))
  const port = Number(new URL(listening.url).port)
  expect(await closed(port, `${get}\r\nGARBAGE\r\n\r\n`)).toBe('')
  answerFirst()
})

test('a server that ends waits for the response of a kept connection, and not until its client closes it', async () => {
  const [asked, replies] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const listener = (_: unknown, response: ServerResponse) => {
    asked.resolve()
    void replies.promise.then(() => response.end('answered'))
  }
  const listening = await listen(listener, { port: 0, host: '127.0.0.1' })
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const reply = got(httpRequest, { port: Number(new URL(listening.url).port), agent })
  await asked.promise
  // Nothing is cut before the test would fail.
  const ended = listening.close(600_000)
  replies.resolve()
  expect(await reply).toMatchObject({ status: 200, body: 'answered' })
  await ended
})

test('a server that ends cuts no response off that its client is still reading', async () => {
  const bytes = 32 * 1024 * 1024
  const written = Promise.withResolvers<void>()
  const listening = await listen(
    (_, response) => {
      response.end(Buffer.alloc(bytes))
      written.resolve()
    },
    { port: 0, host: '127.0.0.1' },
  )
  const slow = connect(Number(new URL(listening.url).port), '127.0.0.1')
  onTestFinished(() => void slow.destroy())
  slow.pause().write(`${get}\r\n`)
  await written.promise
  const ended = listening.close(600_000)
  let received = 0
  for await (const piece of slow) received += piece.length
  expect(received).toBeGreaterThan(bytes)
  await ended
})

test('a server that ends waits for no connection on which nothing was asked', async () => {
  for (const tls of [false, true]) {
    const server = await started(tls)
    const silent = closed(server.port)
    const secured = tls ? connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false }) : undefined
    if (secured) await once(secured, 'secureConnect')
    const securedEnd =
      secured &&
      once(
        secured.resume().on('error', () => {}),
        'close',
      )
    await got(tls ? (httpsRequest as typeof httpRequest) : httpRequest, { port: server.port })
    // Nothing is cut before the test would fail.
    await server.close(600_000)
    expect(await silent).toBe('')
    await securedEnd
  }
})

test('pipelined requests for files open one file at a time', async () => {
  const file = join(directory, 'large.bin')
  writeFileSync(file, '')
  truncateSync(file, 64 * 1024 * 1024)
  const begun: ServerResponse[] = []
  const listener = withAssets(directory, { allowHttp: true, trustProxy: false }, (_, response) => response.end())
  const noted = (request: IncomingMessage, response: ServerResponse) => {
    begun.push(response)
    listener(request, response)
  }
  const listening = await listen(noted, { port: 0, host: '127.0.0.1' })
  onTestFinished(() => listening.close(0))
  // It reads nothing.
  const socket = connect(Number(new URL(listening.url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write('GET /assets/large.bin HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(40))
  await vi.waitFor(() => expect(begun.some(({ headersSent }) => headersSent)).toBe(true))
  await setTimeout(100)
  expect(begun.length).toBeGreaterThan(1)
  expect(begun.filter(({ headersSent }) => headersSent)).toHaveLength(1)
})
