/** The questions that every host is tried with, each of which is a column of the table in `docs/hosts.md`. */
import { readdirSync, statSync } from 'node:fs'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { type Running, until } from './running.ts'

/** A host under test. */
export interface HostUnderTest {
  /** With the API at the root. */
  readonly host: Running
  /** Starts another process, with the API below `/community`. */
  below(): Promise<Running>
  readonly token: string
  /** Whether its community is in memory, so that no test can break its storage. */
  readonly isInMemory: boolean
  /** Whether it drops the length of responses and sends them in chunks. */
  readonly sendsChunks: boolean
  /** The status for a body that is still arriving when the host is shut down. */
  readonly statusAtStop: number
  /** The exit code of a host that was shut down. */
  readonly exitCode: number
}

export interface Question {
  /** The heading of its column. */
  readonly column: string
  readonly title: string
  /** Whether it needs another process of the host. Those take half of the time: `npm test` leaves them to the soak. */
  readonly needsAnother?: true
  run(host: HostUnderTest): Promise<void>
}

interface Sent {
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface HostResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const network = '/admin/v1/networks/paint-pals'
const tags = `${network}/tags`

/** Sends a request as the proxy of the examples does. A redirect would be a response: the API has none. */
async function call(token: string, url: string, { method = 'GET', body, headers }: Sent = {}): Promise<HostResponse> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${token}`,
      'x-forwarded-proto': 'https',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** The announced length; `NaN` for a response in chunks. */
const lengthOf = ({ headers }: HostResponse): number => Number(headers.get('content-length') ?? Number.NaN)
const idOf = ({ text }: HostResponse): string => (JSON.parse(text) as { id: string }).id
const nextOf = ({ text }: HostResponse): string => (JSON.parse(text) as { links: { next: string } }).links.next

/** The figures of requests in flight, which the example's own route shows. */
async function inFlight({ origin }: Running): Promise<number> {
  const { inFlight } = (await (await fetch(`${origin}/about`)).json()) as { inFlight: { requests: number } }
  return inFlight.requests
}

/** The beginning of the response to an unknown key, read after the whole body was sent; or the error, if sending broke before. */
async function refusedLate({ port }: Running): Promise<string> {
  const [parts, length] = [100, 4096]
  let text = ''
  const socket = connect(port, '127.0.0.1')
  socket.on('data', (part) => (text += part))
  socket.on('error', (error) => (text = String(error)))
  const headers = `Host: x\r\nAuthorization: Bearer nobody\r\nX-Forwarded-Proto: https\r\nContent-Type: application/json`
  socket.write(`POST ${tags} HTTP/1.1\r\n${headers}\r\nContent-Length: ${parts * length}\r\n\r\n`)
  for (let sent = 0; sent < parts; sent++)
    await new Promise<void>((done) => void socket.write(Buffer.alloc(length), () => setImmediate(done)))
  await until(
    async () => text !== '',
    () => 'the refusal does not come',
  )
  socket.destroy()
  return text.slice(0, 'HTTP/1.1 401'.length)
}

const responds: Question = {
  column: 'API',
  title: 'responds to every kind of request as the API does',
  async run({ host, token, sendsChunks }) {
    const { origin } = host
    const made = await call(token, origin + tags, { method: 'POST', body: '{"title":"Größe ✓"}' })
    const tag = `${origin}${tags}/${idOf(made)}`
    const list = await call(token, origin + tags)
    const head = await call(token, origin + tags, { method: 'HEAD' })
    const wrongMethod = await call(token, `${origin}${network}/me`, { method: 'DELETE' })
    const sent: Readonly<Record<string, HostResponse>> = {
      made,
      list,
      head,
      wrongMethod,
      changed: await call(token, tag, { method: 'PATCH', body: '{"title":"Ink"}' }),
      replaced: await call(token, `${tag}/`, { method: 'PUT', body: '{"title":"Ink"}' }),
      shown: await call(token, `${tag}/`),
      slashed: await call(token, `${origin}${tags}/`, { method: 'POST', body: '{"title":"Slash"}' }),
      options: await call(token, origin + tags, { method: 'OPTIONS' }),
      empty: await call(token, origin + tags, { method: 'POST', body: '{}' }),
      without: await call(token, origin + tags, { method: 'POST' }),
      broken: await call(token, origin + tags, { method: 'POST', body: '{"title":' }),
      otherType: await call(token, origin + tags, { method: 'POST', body: 'a', headers: { 'content-type': 'text/plain' } }),
      stranger: await call('nobody', origin + tags),
      unknown: await call(token, `${origin}${network}/nothing`),
      document: await call(token, `${origin}/webhooks/v1/spec.json`),
      removed: await call(token, tag, { method: 'DELETE' }),
    }
    expect(Object.fromEntries(Object.entries(sent).map(([name, { status }]) => [name, status]))).toEqual({
      made: 201,
      list: 200,
      head: 200,
      wrongMethod: 405,
      changed: 200,
      replaced: 200,
      shown: 200,
      slashed: 201,
      options: 405,
      empty: 422,
      without: 422,
      broken: 400,
      otherType: 415,
      stranger: 401,
      unknown: 404,
      document: 200,
      removed: 204,
    })
    expect(await refusedLate(host)).toBe('HTTP/1.1 401')
    expect(JSON.parse(made.text)).toMatchObject({ title: 'Größe ✓' })
    const post = (place: number) => call(token, origin + tags, { method: 'POST', body: `{"title":"at once ${place}"}` })
    const atOnce = await Promise.all(Array.from({ length: 20 }, (_, place) => post(place)))
    expect(atOnce.map(({ status }) => status)).toEqual(atOnce.map(() => 201))
    expect([head.text, sent['removed']?.text]).toEqual(['', ''])
    expect(wrongMethod.headers.get('allow')).toContain('GET')
    for (const { headers, text } of Object.values(sent))
      if (text !== '') expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    for (const response of [made, list, wrongMethod])
      expect(lengthOf(response)).toBe(sendsChunks ? Number.NaN : Buffer.byteLength(response.text))
    expect(lengthOf(head)).toBe(lengthOf(list))
  },
}

const below: Question = {
  column: 'below a path',
  title: 'mounts the API below a path, with links to that path',
  needsAnother: true,
  async run({ below, token }) {
    const { origin, port } = await below()
    const list = await call(token, `${origin}/community${tags}?per_page=1`)
    expect([list.status, nextOf(list)]).toEqual([
      200,
      expect.stringMatching(`^https://127.0.0.1:${port}/community${tags}\\?.*page=2`),
    ])
    const made = await call(token, `${origin}/community${tags}`, { method: 'POST', body: '{"title":"Ink"}' })
    expect([made.status, JSON.parse(made.text)]).toMatchObject([201, { title: 'Ink' }])
    expect((await call(token, `${origin}/community${network}/nothing`)).text).toContain('There is no path')
    const outside = await call(token, origin + tags)
    expect([outside.status, outside.text]).toEqual([404, expect.stringContaining('your 404')])
  },
}

const ownRoutes: Question = {
  column: 'own routes',
  title: 'keeps its own routes, its body parser and its 404',
  async run({ host: { origin }, token }) {
    const own = await call(token, `${origin}/own`, { method: 'POST', body: '{"title":"yours ✓"}' })
    expect([own.status, JSON.parse(own.text)]).toEqual([200, { title: 'yours ✓' }])
    const missing = await call(token, `${origin}/nothing`)
    expect([missing.status, missing.text]).toEqual([404, expect.stringContaining('your 404')])
  },
}

/** Waits until lines of the log that have an id also have all these texts. */
async function inLog(host: Running, id: string, ...texts: readonly string[]): Promise<void> {
  const lines = () =>
    host
      .log()
      .split('\n')
      .filter((line) => line.includes(id))
      .join('\n')
  await until(
    async () => texts.every((text) => lines().includes(text)),
    () => `the log has no line with ${[id, ...texts].join(', ')}:\n${host.log()}`,
  )
}

/** A request while the storage has lost a table. */
async function requestBroken(host: Running, token: string, headers: Readonly<Record<string, string>>): Promise<HostResponse> {
  const database = new DatabaseSync(join(host.data, 'community.sqlite'), { timeout: 30_000 })
  try {
    database.exec('ALTER TABLE folkmoot_segments RENAME TO away')
    return await call(token, host.origin + tags, { headers })
  } finally {
    database.exec('ALTER TABLE away RENAME TO folkmoot_segments')
    database.close()
  }
}

const logged: Question = {
  column: 'request id and log',
  title: 'puts its request id on the responses of the API and writes them into its log, faults too',
  async run({ host, token, isInMemory }) {
    const id = `request-${crypto.randomUUID()}`
    const path = `${network}/nothing`
    const response = await call(token, host.origin + path, { headers: { 'x-request-id': id } })
    expect([response.status, response.headers.get('x-request-id')]).toEqual([404, id])
    await inLog(host, id, path, '404')
    if (isInMemory) return
    const broken = `broken-${crypto.randomUUID()}`
    const fault = await requestBroken(host, token, { 'x-request-id': broken })
    expect([fault.status, fault.headers.get('x-request-id'), JSON.parse(fault.text)]).toEqual([
      500,
      broken,
      { error: 'Internal server error', request_id: broken },
    ])
    await inLog(host, broken, tags, '500', '"fault"', 'tags.list')
  },
}

const proxied: Question = {
  column: 'HTTPS by a proxy',
  title: 'refuses plain HTTP, and makes links as the proxy of HTTPS was called',
  async run({ host: { origin }, token }) {
    const plain = await call(token, origin + tags, { headers: { 'x-forwarded-proto': 'http' } })
    expect([plain.status, JSON.parse(plain.text)]).toMatchObject([403, { error: 'https_required' }])
    const list = (headers: Readonly<Record<string, string>>) => call(token, `${origin}${tags}?per_page=1`, { headers })
    const named = { 'x-forwarded-host': 'api.example.org' }
    expect(nextOf(await list(named))).toMatch(`https://api.example.org${tags}?`)
    expect(nextOf(await list({ ...named, 'x-forwarded-prefix': '/cut' }))).toMatch(`https://api.example.org/cut${tags}?`)
  },
}

const boundary = 'folkmoot-hosts'
const mebibyte = 1024 * 1024

/** Begins a request whose body is written part by part. */
function begin({ port }: Running, token: string, path: string, type: string): ClientRequest {
  const headers = { authorization: `Bearer ${token}`, 'x-forwarded-proto': 'https', 'content-type': type }
  return httpRequest({ host: '127.0.0.1', port, path, method: 'POST', headers, agent: false })
}

/** The response to a request; a client that is cut off while it writes may have got it before. */
async function responseTo(request: ClientRequest): Promise<{ status: number; text: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
  })
  let text = ''
  for await (const part of response) text += part
  return { status: response.statusCode ?? 0, text }
}

/** Uploads a file in parts of a mebibyte, in chunks, without an announced length. */
async function upload(host: Running, token: string, mebibytes: number) {
  const request = begin(host, token, `${network}/assets`, `multipart/form-data; boundary=${boundary}`)
  const response = responseTo(request)
  let isDone = false
  void response.catch(() => {}).then(() => (isDone = true))
  const field = `--${boundary}\r\nContent-Disposition: form-data; name="asset_style"\r\n\r\npost\r\n`
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="asset_file"; filename="wash.bin"\r\n\r\n`
  request.write(field + file)
  const part = Buffer.alloc(mebibyte, 7)
  for (let sent = 0; sent < mebibytes && !isDone; sent++)
    if (!request.write(part)) await Promise.race([new Promise((drained) => request.once('drain', drained)), response])
  request.end(`\r\n--${boundary}--\r\n`)
  return response
}

const uploads: Question = {
  column: '25 MiB upload',
  title: 'passes a streamed upload of 25 MiB on, serves it at its address, and passes on the 413 of a larger one',
  async run({ host, token }) {
    const stored = await upload(host, token, 25)
    expect([stored.status, JSON.parse(stored.text)]).toMatchObject([201, { name: 'wash.bin' }])
    const files = readdirSync(join(host.data, 'assets')).map((name) => statSync(join(host.data, 'assets', name)).size)
    expect(files).toEqual([25 * mebibyte])
    const { pathname } = new URL((JSON.parse(stored.text) as { url: string }).url)
    const served = await fetch(host.origin + pathname)
    expect([served.status, served.headers.get('x-content-type-options')]).toEqual([200, 'nosniff'])
    expect(Buffer.from(await served.arrayBuffer()).equals(Buffer.alloc(25 * mebibyte, 7))).toBe(true)
    for (const path of ['/assets/nothing.bin', '/assets/..%2fcommunity.sqlite', `${pathname}.part`]) {
      const missing = await fetch(host.origin + path)
      expect([path, missing.status, await missing.text()]).toEqual([path, 404, expect.stringContaining('your 404')])
    }
    const refused = await upload(host, token, 40)
    expect([refused.status, JSON.parse(refused.text)]).toEqual([413, { error: expect.stringContaining('larger than') }])
  },
}

const clientLeaves: Question = {
  column: 'client leaves',
  title: 'lets a client leave in the middle of a body, without a fault and with nothing in flight',
  async run({ host, token }) {
    const before = host.log()
    const request = begin(host, token, tags, 'application/json')
    request.on('error', () => {})
    request.write('{"title":"')
    await until(
      async () => (await inFlight(host)) === 1,
      () => 'the request is not in flight',
    )
    request.destroy()
    await until(
      async () => (await inFlight(host)) === 0,
      () => `the request remains in flight:\n${host.log()}`,
    )
    expect(host.log().slice(before.length)).not.toContain('"fault"')
    expect((await call(token, host.origin + tags)).status).toBe(200)
  },
}

const isRefused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(false))
    socket.on('error', () => resolve(true))
    socket.on('connect', () => socket.destroy())
  })

const stops: Question = {
  column: 'graceful stop',
  title: 'finishes its requests when it is shut down, and exits',
  async run({ host, token, statusAtStop, exitCode }) {
    const request = begin(host, token, tags, 'application/json')
    const response = responseTo(request)
    request.write('{"title":"')
    await until(
      async () => (await inFlight(host)) === 1,
      () => 'the request is not in flight',
    )
    host.terminate()
    await until(
      () => isRefused(host.port),
      () => `the host still accepts connections:\n${host.log()}`,
    )
    request.end('Last"}')
    const text = statusAtStop === 201 ? '"title":"Last"' : 'The body ended before it was complete'
    expect(await response).toEqual({ status: statusAtStop, text: expect.stringContaining(text) })
    expect(await host.ended).toBe(exitCode)
  },
}

/** In the order in which they run: the last one stops the host. */
export const questions: readonly Question[] = [responds, below, ownRoutes, logged, proxied, uploads, clientLeaves, stops]
