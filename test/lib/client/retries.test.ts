/** Which failures a client tries again, when, and with which key. */
import { expect, test } from 'vitest'
import { ConnectionError, RateLimited, ServerError, TimeoutError } from '../../../lib/client/index.ts'
import { json, type Scripted, scripted } from '../../support/scripted-server.ts'

const failing = (status: number, headers: Readonly<Record<string, string>> = {}) => json({ error: 'not now' }, status, headers)
const lost = () => new TypeError('fetch failed')
const tag = { title: 'Oil' }

type Call = (client: ReturnType<typeof scripted>['client']) => PromiseLike<unknown>
const calls: Readonly<Record<string, Call>> = {
  GET: (client) => client.tags.list(),
  POST: (client) => client.tags.create(tag),
  PATCH: (client) => client.tags.update(5, tag),
  PUT: (client) => client.tags.replace(5, tag),
  DELETE: (client) => client.tags.delete(5),
}
const done: Readonly<Record<string, () => Response>> = {
  GET: () => json({ items: [], links: { self: 'https://api.test', next: null } }),
  DELETE: () => new Response(null, { status: 204 }),
}
const success = (method: string): Response => (done[method] ?? (() => json({ id: '5' })))()

const kinds: readonly (readonly [what: string, make: () => Scripted, methods: string])[] = [
  ['a lost connection', lost, 'GET POST PATCH PUT DELETE'],
  ['408', () => failing(408), 'GET POST PATCH PUT DELETE'],
  ['409', () => failing(409), 'GET POST PATCH PUT DELETE'],
  ['429', () => failing(429), 'GET POST PATCH PUT DELETE'],
  ['503', () => failing(503), 'GET POST PATCH PUT DELETE'],
  ['500', () => failing(500), 'GET PATCH PUT DELETE'],
  ['502', () => failing(502), 'GET PATCH PUT DELETE'],
  ['504', () => failing(504), 'GET PATCH PUT DELETE'],
  ['400', () => failing(400), ''],
  ['401', () => failing(401), ''],
  ['403', () => failing(403), ''],
  ['404', () => failing(404), ''],
  ['422', () => failing(422), ''],
  ['501', () => failing(501), ''],
]

test.each(kinds)('%s is tried again for the right methods', async (_, make, methods) => {
  for (const [method, call] of Object.entries(calls)) {
    const { client, requests } = scripted([make(), make(), success(method)])
    const outcome = await call(client).then(
      () => 'done',
      () => 'failed',
    )
    const isRetried = methods.includes(method)
    expect({ method, outcome, requests: requests.length }).toEqual({
      method,
      outcome: isRetried ? 'done' : 'failed',
      requests: isRetried ? 3 : 1,
    })
  }
})

test('a 409 that an operation declares is a state, and not tried again', async () => {
  const { client, requests } = scripted([failing(409)])
  await expect(client.invites.delete(5)).rejects.toMatchObject({ name: 'Conflict', status: 409 })
  expect(requests.length).toBe(1)
})

test('the waits double, up to a limit', async () => {
  const { client, waits } = scripted(Array.from({ length: 8 }, lost), { maxRetries: 7 })
  await expect(client.me.show()).rejects.toThrow(ConnectionError)
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000])
})

test.each([
  ['seconds', { 'retry-after': '7' }, 7000],
  ['a date', { 'retry-after': 'Fri, 20 Nov 2026 10:00:09 GMT' }, 9000],
  ['a date in the past', { 'retry-after': 'Fri, 20 Nov 2026 09:00:00 GMT' }, 0],
  ['nothing that can be read', { 'retry-after': '-5' }, 250],
  ['the end of the minute', { 'ratelimit-remaining': '0', 'ratelimit-reset': '11' }, 11_000],
])('a 429 waits as long as the server asks for: %s', async (_, headers, wait) => {
  const { client, waits } = scripted([failing(429, headers), success('GET')])
  await client.tags.list()
  expect(waits).toEqual([wait])
})

test('a wait that is too long ends the call, with the wait in the headers', async () => {
  const { client, waits } = scripted([failing(429, { 'retry-after': '3600' })])
  const error = await client.tags.list().catch((error: unknown) => error)
  expect(error).toBeInstanceOf(RateLimited)
  expect(error instanceof RateLimited && error.headers.get('retry-after')).toBe('3600')
  expect(waits).toEqual([])
})

test('all tries of a POST have one Idempotency-Key, two calls have two, and other methods have none', async () => {
  const { client, requests } = scripted([lost(), failing(503), success('POST'), success('POST'), success('PATCH')])
  await client.tags.create(tag)
  await client.tags.create(tag)
  await client.tags.update(5, tag)
  const keys = requests.map(({ headers }) => headers.get('idempotency-key'))
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
  expect(new Set(keys.slice(0, 3)).size).toBe(1)
  expect(keys[3]).not.toBe(keys[0])
  expect(keys[4]).toBeNull()
  expect(requests.map(({ body }) => body)).toEqual(Array.from({ length: 5 }, () => JSON.stringify(tag)))
})

test('a call may bring its own key and its own number of retries', async () => {
  const { client, requests } = scripted([lost(), lost()])
  await expect(client.tags.create(tag, { idempotencyKey: 'order 7', maxRetries: 1 })).rejects.toThrow(ConnectionError)
  expect(requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['order 7', 'order 7'])
})

test('onRetry is notified of each retry', async () => {
  const heard: unknown[] = []
  const onRetry = ({ request, tries, waitMs, error }: { request: string; tries: number; waitMs: number; error: Error }) =>
    heard.push([request, tries, waitMs, error.name])
  const { client } = scripted([failing(503), lost(), success('GET')], { onRetry })
  await client.tags.list()
  expect(heard).toEqual([
    ['GET /admin/v1/networks/1/tags', 1, 250, 'ServerError'],
    ['GET /admin/v1/networks/1/tags', 2, 500, 'ConnectionError'],
  ])
})

test('a page in the middle of a list is tried again, and no record is missing or doubled', async () => {
  const page = (id: number, next: boolean) =>
    json({ items: [{ id }], links: { self: 'x', next: next ? `https://api.test/tags?page=${id + 1}` : null } })
  const { client, requests } = scripted([
    page(1, true),
    failing(429, { 'retry-after': '1' }),
    lost(),
    page(2, true),
    failing(500),
    page(3, false),
  ])
  const ids: unknown[] = []
  for await (const { id } of client.tags.list({ per_page: 1 })) ids.push(id)
  expect(ids).toEqual([1, 2, 3])
  expect(requests.map(({ url }) => new URL(url).search)).toEqual([
    '?per_page=1',
    '?page=2',
    '?page=2',
    '?page=2',
    '?page=3',
    '?page=3',
  ])
})

test('a signal ends a call immediately with its reason, also while it waits', async () => {
  const before = AbortSignal.abort('never')
  const first = scripted([])
  await expect(first.client.me.show({ signal: before })).rejects.toBe('never')
  expect(first.requests).toEqual([])

  const during = new AbortController()
  const hanging = () => new Promise<Response>(() => during.abort('enough'))
  await expect(scripted([hanging]).client.me.show({ signal: during.signal })).rejects.toBe('enough')

  const waiting = new AbortController()
  const timing = { now: () => 0, random: () => 0, after: () => () => {} }
  const onRetry = () => queueMicrotask(() => waiting.abort('stop'))
  const third = scripted([lost()], { timing, onRetry })
  await expect(third.client.me.show({ signal: waiting.signal })).rejects.toBe('stop')
})

test('a try that takes too long is a TimeoutError, and tried again', async () => {
  const limits: (() => void)[] = []
  const timing = {
    now: () => 0,
    random: () => 0,
    after(ms: number, run: () => void) {
      if (ms === 5000) limits.push(run)
      else queueMicrotask(run)
      return () => {}
    },
  }
  const never = () => new Promise<Response>(() => queueMicrotask(() => limits.at(-1)?.()))
  const { client, requests } = scripted([never, never, success('POST'), never], { timeout: 5000, timing })
  expect(await client.tags.create(tag)).toEqual({ id: '5' })
  expect(new Set(requests.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1)
  const late: unknown = await client.tags.delete(5, { maxRetries: 0 }).catch((error: unknown) => error)
  expect(late).toBeInstanceOf(TimeoutError)
  expect(String(late)).toBe('TimeoutError: DELETE /admin/v1/networks/1/tags/5/: no response within 5000 ms')
})

test('a response that stops in the middle is a lost connection', async () => {
  const torn = () => {
    const stream = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"id":')),
      pull: (controller) => controller.error(new TypeError('terminated')),
    })
    return new Response(stream)
  }
  const { client, requests } = scripted([torn, torn, success('GET')])
  expect((await client.tags.list()).items).toEqual([])
  expect(requests.length).toBe(3)
})

test('without retries the first failure is thrown', async () => {
  const { client, requests } = scripted([failing(503)], { maxRetries: 0 })
  await expect(client.tags.list()).rejects.toThrow(ServerError)
  expect(requests.length).toBe(1)
})
