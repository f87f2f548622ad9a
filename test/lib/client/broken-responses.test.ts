/** Responses that break on their way, over real connections: pages of proxies, halves of responses, responses that stop. */
import type { RequestListener, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import {
  type ClientOptions,
  ConnectionError,
  createClient,
  InvalidResponse,
  ServerError,
  TimeoutError,
} from '../../../lib/client/index.ts'
import { onLoopback } from '../../support/on-loopback.ts'

/** Waits are over at once, and time limits when the test ends them. */
function heldTiming() {
  const limits: (() => void)[] = []
  const timing = {
    now: () => 0,
    random: () => 0,
    after(ms: number, run: () => void) {
      if (ms === timeout) limits.push(run)
      else queueMicrotask(run)
      return () => {}
    },
  }
  return { timing, endTime: () => limits.at(-1)?.() }
}
const timeout = 5000

/** A server on loopback, and a client of it. */
async function served(listener: RequestListener, options: Partial<ClientOptions> = {}) {
  const seen: { readonly method: string | undefined; readonly key: string | undefined }[] = []
  const baseUrl = await onLoopback((request, response) => {
    seen.push({ method: request.method, key: request.headers['idempotency-key']?.toString() })
    listener(request, response)
  })
  const { timing, endTime } = heldTiming()
  const client = createClient({ baseUrl, network: '1', token: 'secret-token', timeout, timing, ...options })
  return { client, seen, endTime }
}

const good = '{"id":"5","title":"Oil"}'
const sendGood = (response: ServerResponse): unknown =>
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': good.length }).end(good)

/** Announces the whole response, and hangs up after half of it. */
const sendHalf = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': good.length })
  response.write(good.slice(0, 10), () => response.destroy())
}

const page = '<html><h1>502 Bad Gateway</h1></html>'
const sendPage = (response: ServerResponse): unknown =>
  response.writeHead(502, { 'content-type': 'text/html', 'x-request-id': 'proxy-7' }).end(page)

test('a page of a proxy is a ServerError with its text; a GET is tried again and a POST is not', async () => {
  let responses = 0
  const { client, seen } = await served((_, response) => (responses++ % 2 === 0 ? sendPage(response) : sendGood(response)))
  expect(await client.tags.show(5)).toEqual({ id: '5', title: 'Oil' })
  const error: unknown = await client.tags.create({ title: 'Oil' }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(ServerError)
  expect(error).toMatchObject({ status: 502, code: 'server_error', requestId: 'proxy-7', body: page })
  expect(seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST'])
})

test('half of a response is a lost connection, and the same request is sent again', async () => {
  let responses = 0
  const { client, seen } = await served((_, response) => (responses++ < 2 ? sendHalf(response) : sendGood(response)))
  expect(await client.tags.create({ title: 'Oil' })).toEqual({ id: '5', title: 'Oil' })
  expect(seen).toEqual(Array.from({ length: 3 }, () => ({ method: 'POST', key: seen[0]?.key })))
  expect(seen[0]?.key).toMatch(/^\w+$/)
  responses = 0
  const error: unknown = await client.tags.show(5, { maxRetries: 0 }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(ConnectionError)
  expect(error).toMatchObject({ code: 'connection_failed', status: undefined })
})

test('a whole response with half of the JSON is an InvalidResponse with its text', async () => {
  const half = good.slice(0, 10)
  const { client, seen } = await served((_, response) => response.end(half))
  const error: unknown = await client.tags.show(5).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(InvalidResponse)
  expect(error).toMatchObject({ code: 'invalid_response', status: 200, body: half })
  expect(seen.length).toBe(1)
})

test('the time-out covers the body, and its connection is dropped', async () => {
  let closed = 0
  const { client, endTime } = await served((_, response) => {
    response.on('close', () => closed++)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(good.slice(0, 10), () => endTime())
  })
  const error: unknown = await client.tags.show(5, { maxRetries: 0 }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(TimeoutError)
  expect(error).toMatchObject({ message: `GET /admin/v1/networks/1/tags/5/: no response within ${timeout} ms` })
  await expect.poll(() => closed, { timeout: 60_000 }).toBe(1)
})

test('a signal ends a call while its response arrives', async () => {
  const stopping = new AbortController()
  const { client, seen } = await served((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(good.slice(0, 10), () => stopping.abort('enough'))
  })
  await expect(client.tags.show(5, { signal: stopping.signal })).rejects.toBe('enough')
  expect(seen.length).toBe(1)
})

test('a 429 without Retry-After is tried again, in the middle of a list too', async () => {
  let responses = 0
  const { client, seen } = await served((request, response) => {
    const isRefused = responses++ % 2 === 1
    const number = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? 1)
    const next = number < 3 ? `http://127.0.0.1:1/tags?page=${number + 1}` : null
    const body = isRefused ? { error: 'rate limited' } : { items: [{ id: number }], links: { self: 'x', next } }
    response.writeHead(isRefused ? 429 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const ids: unknown[] = []
  for await (const { id } of client.tags.list({ per_page: 1 })) ids.push(id)
  expect(ids).toEqual([1, 2, 3])
  expect(seen.length).toBe(5)
})
