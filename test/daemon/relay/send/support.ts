/** Receivers on bare sockets, a name server, and attempts at them. */
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { attemptTimeout } from '../../../../daemon/relay/attempt-timeout.ts'
import { systemClock } from '../../../../daemon/relay/clock.ts'
import type { OpenEndpoint } from '../../../../daemon/relay/send/credentials.ts'
import type { Resolve } from '../../../../daemon/relay/send/guard.ts'
import type { Outcome } from '../../../../daemon/relay/send/outcome.ts'
import { systemResolve } from '../../../../daemon/relay/send/resolve.ts'
import { createSender } from '../../../../daemon/relay/send/sender.ts'
import { defaultSettings, type Settings } from '../../../../daemon/relay/settings.ts'
import { endpointOf } from '../../../../daemon/relay/store/endpoint/endpoint-row.ts'

export const local: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]

const row = { ref: 1, id: '7', network_id: '1', key: 'key', secrets: '[]', fresh_starts: 0 }

/** A whole endpoint, as attempts get it. */
export const openEndpoint = (url: string, change: Partial<OpenEndpoint> = {}): OpenEndpoint => ({
  ...endpointOf({ ...row, url, audience: 'integration', enabled: 1, order: 'none' }),
  ...change,
})

/** Makes one attempt after the other with one sender, each with half a second. */
export function senderWith(change: Partial<Settings> = {}, resolve: Resolve = local) {
  const settings = { ...defaultSettings, allowHttp: true, allowPrivate: true, timeout: 0.5, ...change }
  const sender = createSender(() => settings, systemClock, resolve, 'test')
  onTestFinished(() => sender.close())
  const timeout = attemptTimeout({ timeout: settings.timeout, lease: 2 * settings.timeout + 1 }, { id: '1' })
  return (
    url: string,
    { key = 'key', body = '{}', ...change }: Partial<OpenEndpoint> & { body?: string } = {},
  ): Promise<Outcome> =>
    sender.send({ endpoint: openEndpoint(url, { key, ...change }), event_id: 'a', body: Buffer.from(body), timeout })
}

/** One attempt at an address, with half a second for it. */
export const attempt = (url: string, change: Partial<Settings> = {}, resolve: Resolve = local, key = 'key'): Promise<Outcome> =>
  senderWith(change, resolve)(url, { key })

/** Listens for the time of the test. */
export async function listening(server: Server, address = '127.0.0.1', port = 0): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((done) => server.listen(port, address, done))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A server that does this with every connection once the request has come. */
export async function raw(behave: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => void socket.once('data', () => behave(socket)))
  return `http://127.0.0.1:${await listening(server)}/`
}

export const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

export const say =
  (text: string, end = false) =>
  (socket: Socket): void => {
    socket.write(text)
    if (end) socket.end()
  }

/** What a name server does with a question for one family: its addresses, an error by its code, or no response at all. */
export interface Reply {
  readonly addresses?: readonly string[]
  /** 2: SERVFAIL, 3: NXDOMAIN. */
  readonly code?: number
  readonly silent?: true
  /** Milliseconds. */
  readonly after?: number
}

/** The bytes of an address. */
function bytesOf(address: string): readonly number[] {
  if (!address.includes(':')) return address.split('.').map(Number)
  const [head = '', tail = ''] = address.split('::')
  const [front, back] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''))
  const groups = [...(front ?? []), ...Array<string>(8 - (front?.length ?? 0) - (back?.length ?? 0)).fill('0'), ...(back ?? [])]
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff])
}

/** A name server on loopback with one reply for each family, whatever the name; a reply may be changed. */
export async function nameServer(replies: { a: Reply; aaaa: Reply }) {
  const questions = { a: 0, aaaa: 0 }
  const socket = createSocket('udp4', (query, from) => {
    const asked = query.subarray(0, query.indexOf(0, 12) + 5)
    const family = asked.at(-3) === 1 ? 'a' : 'aaaa'
    questions[family]++
    const { addresses = [], code = 0, silent, after = 0 } = replies[family]
    if (silent) return
    const records = addresses.map((address) => {
      const bytes = bytesOf(address)
      return Buffer.from([0xc0, 12, 0, family === 'a' ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes])
    })
    const response = Buffer.concat([asked, ...records])
    Buffer.from([0x81, 0x80 | code, 0, 1, 0, addresses.length, 0, 0, 0, 0]).copy(response, 2)
    const late = setTimeout(() => socket.send(response, from.port, from.address), after)
    onTestFinished(() => clearTimeout(late))
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  const closed = once(socket, 'close')
  let isOpen = true
  async function close(): Promise<void> {
    if (isOpen) socket.close()
    isOpen = false
    await closed
  }
  onTestFinished(close)
  const resolve = systemResolve(() => {
    const resolver = new Resolver({ timeout: 2000, tries: 2 })
    resolver.setServers([`127.0.0.1:${port}`])
    return resolver
  })
  return { port, questions, replies, resolve, close }
}
