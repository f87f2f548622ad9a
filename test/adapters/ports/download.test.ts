import { execFile } from 'node:child_process'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guardedDownloads } from '../../../adapters/ports/index.ts'
import { checkUrl, guardedLookup } from '../../../daemon/relay/send/guard.ts'
import { systemResolve } from '../../../daemon/relay/send/resolve.ts'
import { png } from '../../support/ports.ts'
import { programOf } from '../http/hosts/packages.ts'

const routes: Readonly<Record<string, RequestListener>> = {
  '/r%C3%B6schen.png': (_, response) => response.end(png),
  '/': (_, response) => response.end('index'),
  '/missing': (_, response) => response.writeHead(404).end('no'),
  '/moved': (_, response) => response.writeHead(302, { location: '/r%C3%B6schen.png' }).end(),
  '/circle': (_, response) => response.writeHead(302, { location: '/circle' }).end(),
  '/inside': (_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  '/endless': (_, response) => {
    const write = () => {
      while (response.write('x'.repeat(10_000)));
    }
    response.on('drain', write)
    write()
  },
  '/interim': ({ socket }) => flood(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  '/lines': ({ socket }) => flood(socket, '', '\r\n'),
  '/extension': ({ socket }) => flood(socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;', 'x'),
  '/chunks': (_, response) => {
    for (let index = 0; index < 40_000; index++) response.write('x')
    response.end()
  },
  '/silent': () => {},
  '/cut': (_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('x', () => response.destroy())
  },
}

/** The bytes that were written before the client left. */
let flooded = 0

/** Writes bytes that belong to no file, for ever. */
function flood(socket: Socket, begin: string, text: string): void {
  const block = text.repeat(65_536 / text.length)
  flooded = 0
  const write = () => {
    while (!socket.destroyed && socket.write(block));
  }
  socket.on('drain', write)
  socket.on('close', () => {
    flooded = socket.bytesWritten
  })
  socket.write(begin)
  write()
}

const server = createServer((request, response) => routes[request.url ?? '']?.(request, response))
let origin = ''

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  origin = `http://localhost:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const settings = { allowHttp: true, allowPrivate: true, allowAddresses: [], ports: [] }
const guard = (changes: Partial<typeof settings> = {}, timeout = 5) => {
  const rules = { ...settings, ...changes }
  const allows = (url: string) => checkUrl(url, rules).ok && !url.includes('169.254')
  return { allows, lookup: guardedLookup(systemResolve(), () => rules), timeout }
}

test('a file comes with its bytes and the last part of its address', async () => {
  const { get } = guardedDownloads(guard())
  for (const path of ['/r%C3%B6schen.png', '/moved'])
    expect(await get(origin + path, 1000)).toEqual({ ok: true, bytes: Buffer.from(png), name: 'röschen.png' })
  expect(await get(`${origin}/`, 1000)).toMatchObject({ ok: true, name: null })
})

test.each([
  ['/missing', 'failed'],
  ['/circle', 'failed'],
  ['/inside', 'refused'],
  ['/endless', 'too large'],
  ['/cut', 'failed'],
])('%s is %s', async (path, reason) => {
  expect(await guardedDownloads(guard()).get(origin + path, 50_000)).toEqual({ ok: false, reason })
})

test.each(['/interim', '/lines', '/extension'])(
  '%s: a server that sends anything but a file for ever is given up early',
  async (path) => {
    const began = performance.now()
    expect(await guardedDownloads(guard({}, 20)).get(origin + path, 25_000_000)).toEqual({ ok: false, reason: 'failed' })
    expect(performance.now() - began).toBeLessThan(10_000)
    await expect.poll(() => flooded).toBeGreaterThan(0)
    // The system's own buffers take some.
    expect(flooded).toBeLessThan(20_000_000)
  },
)

test('a file in chunks of one byte comes whole', async () => {
  expect(await guardedDownloads(guard()).get(`${origin}/chunks`, 50_000)).toMatchObject({ ok: true, bytes: { length: 40_000 } })
})

test('a server that does not respond times out', async () => {
  expect(await guardedDownloads(guard({}, 0.2)).get(`${origin}/silent`, 1000)).toEqual({ ok: false, reason: 'failed' })
})

test('the guard refuses by the address in a URL, and by what a name stands for', async () => {
  const { get } = guardedDownloads(guard({ allowPrivate: false }))
  const refused = { ok: false, reason: 'refused' }
  expect(await get(origin.replace('localhost', '127.0.0.1'), 1000)).toEqual(refused)
  expect(await get(origin.replace('localhost', '2130706433'), 1000)).toEqual(refused)
  expect(await get(origin, 1000)).toEqual(refused)
  expect(await guardedDownloads(guard({ allowHttp: false })).get(origin, 1000)).toEqual(refused)
  expect(await get('no address', 1000)).toEqual(refused)
})

test('progress is reported as bytes arrive, and the callback may end the download', async () => {
  const { get } = guardedDownloads(guard())
  let arrived = 0
  await get(`${origin}/r%C3%B6schen.png`, 1000, (bytes) => {
    arrived += bytes
  })
  expect(arrived).toBe(png.length)
  const enough = new Error('enough')
  const download = get(`${origin}/endless`, 1_000_000, () => {
    throw enough
  })
  await expect(download).rejects.toBe(enough)
})

test.for(['bun', 'deno'] as const)('the guard of names holds on %s', async (runtime, { skip }) => {
  const program = programOf(runtime)
  if (program === undefined) return skip('`npm run test:hosts` installs it')
  const run = runtime === 'deno' ? ['run', '--allow-all'] : []
  const script = join(import.meta.dirname, 'refused-download.ts')
  const { stdout } = await promisify(execFile)(program, [...run, script, `${origin}/`])
  expect(JSON.parse(stdout)).toEqual({ ok: false, reason: 'refused' })
})
