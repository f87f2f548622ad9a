import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { guardedDownloads } from '../../../../adapters/ports/download.ts'
import { certificateFor } from '../../../support/certificate.ts'
import { bench, endpoint, events, until } from '../support.ts'
import { attempt, listening, nameServer, ok, senderWith } from './support.ts'

/** Answers requests on bare sockets: calls with the number of the request on its connection, from 1, and its place among all. */
function serving(respond: (socket: Socket, onConnection: number, number: number) => void) {
  const seen = { requests: 0, connections: 0 }
  const server = createServer((socket) => {
    seen.connections++
    let onConnection = 0
    socket.on('data', (data) => {
      if (data.includes('POST ')) respond(socket, ++onConnection, ++seen.requests)
    })
  })
  return { server, seen }
}

/** Undici takes a connection again some turns after its response. */
async function untilFree(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise<void>((done) => setImmediate(done))
}

const at = async (server: Server): Promise<string> => `http://127.0.0.1:${await listening(server)}/`

describe('a connection that was kept, and', () => {
  const breaks: [string, (socket: Socket) => void][] = [
    ['is reset at its second request', (socket) => void socket.resetAndDestroy()],
    ['is closed at its second request', (socket) => void socket.end()],
  ]
  test.each(breaks)('%s: the request is repeated immediately on a new one, within the attempt', async (_, end) => {
    const { server, seen } = serving((socket, onConnection) => void (onConnection === 1 ? socket.write(ok) : end(socket)))
    const url = await at(server)
    const send = senderWith({ timeout: 60 })
    const outcomes = []
    for (let count = 0; count < 6; count++) outcomes.push(await send(url))
    expect(outcomes.map(({ result }) => result)).toEqual(Array(6).fill('delivered'))
    expect(outcomes.filter(({ repeated }) => repeated).length).toBeGreaterThan(0)
    expect(outcomes[0]).not.toHaveProperty('repeated')
    expect(seen.requests).toBe(6 + outcomes.filter(({ repeated }) => repeated).length)
  })

  test('is reset, as those of eight concurrent events are: each event is delivered', async () => {
    const { server } = serving((socket, onConnection) => void (onConnection === 1 ? socket.write(ok) : socket.resetAndDestroy()))
    const url = await at(server)
    const send = senderWith({ timeout: 60 })
    for (let round = 0; round < 4; round++) {
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => send(url)))
      expect(outcomes.map(({ result }) => result)).toEqual(Array(8).fill('delivered'))
    }
  })

  test('is reset, as the new one is: the attempt fails after two requests', async () => {
    const { server, seen } = serving((socket, _, number) => void (number === 1 ? socket.write(ok) : socket.resetAndDestroy()))
    const url = await at(server)
    const send = senderWith({ timeout: 60 })
    expect(await send(url)).toMatchObject({ result: 'delivered' })
    await untilFree()
    expect(await send(url)).toMatchObject({ result: 'reset', repeated: true })
    expect(seen).toEqual({ requests: 3, connections: 2 })
    // There is none that was kept: a new one that is reset is a failure, as it always was.
    const fresh = await send(url)
    expect(fresh).toMatchObject({ result: 'reset' })
    expect(fresh).not.toHaveProperty('repeated')
    expect(seen).toEqual({ requests: 4, connections: 3 })
  })

  test('breaks after a byte of its response, is not repeated', async () => {
    for (const beginning of ['H', 'HTTP/1.1 1', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 500 No\r\n']) {
      const { server, seen } = serving((socket, _, number) => {
        if (number === 1) socket.write(ok)
        else socket.write(beginning, () => socket.end())
      })
      const send = senderWith({ timeout: 60 })
      const url = await at(server)
      expect(await send(url)).toMatchObject({ result: 'delivered' })
      await untilFree()
      const broken = await send(url)
      expect(broken).toMatchObject({ result: 'reset' })
      expect(broken).not.toHaveProperty('repeated')
      expect(seen.requests).toBe(2)
    }
  })

  test('is reset while the new one hangs: the attempt has one time-out', async () => {
    const { server, seen } = serving((socket, _, number) => {
      if (number === 1) socket.write(ok)
      else if (number === 2) socket.resetAndDestroy()
    })
    const url = await at(server)
    const send = senderWith({ timeout: 1 })
    expect(await send(url)).toMatchObject({ result: 'delivered' })
    await untilFree()
    const outcome = await send(url)
    expect(outcome).toMatchObject({ result: 'timeout', repeated: true })
    expect(outcome.milliseconds).toBeLessThan(1900)
    expect(seen.requests).toBe(3)
  })

  const timedOut = 'HTTP/1.1 408 Request Timeout\r\nContent-Length: 3\r\nConnection: close\r\n\r\nold'
  const pieces: [string, readonly string[]][] = [
    ['in one piece', [timedOut]],
    ['after a 100', [`HTTP/1.1 100 Continue\r\n\r\n${timedOut}`]],
    ['byte by byte', [...timedOut]],
    ['with other letters', [timedOut.replace('Connection: close', 'connection:Close')]],
  ]
  test.each(pieces)('had timed out, as a 408 says that closes it, %s: the request is repeated once', async (_, parts) => {
    const { server, seen } = serving((socket, onConnection) => {
      if (onConnection === 1) return void socket.write(ok)
      socket.setNoDelay(true)
      for (const part of parts) socket.write(part)
      socket.end()
    })
    const url = await at(server)
    const send = senderWith({ timeout: 60 })
    expect(await send(url)).toMatchObject({ result: 'delivered' })
    await untilFree()
    expect(await send(url)).toMatchObject({ result: 'delivered', repeated: true })
    expect(seen).toEqual({ requests: 3, connections: 2 })
  })

  test('gets a 408 twice, or one that keeps the connection, or another status: that is the response', async () => {
    const again = serving((socket, _, number) => void (number === 1 ? socket.write(ok) : socket.end(timedOut)))
    const url = await at(again.server)
    const send = senderWith({ timeout: 60 })
    expect(await send(url)).toMatchObject({ result: 'delivered' })
    await untilFree()
    expect(await send(url)).toMatchObject({ result: 'status', status: 408, responseBody: 'old', repeated: true })
    expect(again.seen).toEqual({ requests: 3, connections: 2 })
    const others = [
      timedOut.replace('Connection: close\r\n', ''),
      timedOut.replace('408', '409'),
      timedOut.replace('close', 'upgrade'),
    ]
    for (const other of others) {
      const { server, seen } = serving((socket, _, number) => void socket.write(number === 1 ? ok : other))
      const sendOther = senderWith({ timeout: 60 })
      const address = await at(server)
      expect(await sendOther(address)).toMatchObject({ result: 'delivered' })
      await untilFree()
      const outcome = await sendOther(address)
      expect(outcome).toMatchObject({ result: 'status', responseBody: 'old' })
      expect(outcome).not.toHaveProperty('repeated')
      expect(seen.requests).toBe(2)
    }
  })

  test('gets a 408 as the first response on it: that is the response', async () => {
    const { server, seen } = serving((socket) => void socket.end(timedOut))
    const outcome = await senderWith({ timeout: 60 })(await at(server))
    expect(outcome).toMatchObject({ result: 'status', status: 408 })
    expect(outcome).not.toHaveProperty('repeated')
    expect(seen.requests).toBe(1)
  })

  test('is reset over TLS is repeated too', async () => {
    const made = certificateFor('hook.example')
    let requests = 0
    const server = createTlsServer(made, (socket) => {
      let onConnection = 0
      socket.on('error', () => undefined)
      socket.on('data', (data) => {
        if (!data.includes('POST ')) return
        requests++
        if (++onConnection === 1) socket.write(ok)
        else socket.destroy()
      })
    })
    const port = await listening(server)
    const send = senderWith({ timeout: 60, ca: made.cert.toString() })
    for (let count = 0; count < 4; count++)
      expect(await send(`https://hook.example:${port}/`)).toMatchObject({ result: 'delivered' })
    expect(requests).toBeGreaterThan(4)
  })
})

test.each(['none', 'fifo', 'subject'] as const)(
  'with order %s, a receiver that resets each kept connection gets every event in its first attempt',
  async (order) => {
    const { server } = serving((socket, onConnection) => void (onConnection === 1 ? socket.write(ok) : socket.resetAndDestroy()))
    const { append, attempts } = await bench({ timeout: 60, lease: 120, retrySchedule: [0, 600] })
    await append(endpoint(await at(server), { order }), ...events('e', 24))
    await until(() => attempts.length >= 24, 'each event was attempted')
    expect(attempts.map(({ outcome, attempt: number, state }) => ({ outcome, number, state }))).toEqual(
      Array(24).fill({ outcome: 'delivered', number: 1, state: 'delivered' }),
    )
    expect(attempts.filter(({ repeated }) => repeated).length).toBeGreaterThan(0)
  },
)

describe('a connection of some age', () => {
  /** Two receivers at one port of two addresses, and the name server that says which is meant. */
  async function twoReceivers(respond: (socket: Socket) => void) {
    const old = serving(respond)
    const port = await listening(old.server, '127.0.0.1')
    const next = serving(respond)
    await listening(next.server, '127.0.0.2', port)
    const names = await nameServer({ a: { addresses: ['127.0.0.1'] }, aaaa: {} })
    return { url: `http://name.example:${port}/`, old: old.seen, next: next.seen, names }
  }

  test('takes no further request, so a busy receiver that moves in DNS is followed', async () => {
    const { url, old, next, names } = await twoReceivers((socket) => void socket.write(ok))
    const send = senderWith({ timeout: 60, maxConnectionAge: 0.3 }, names.resolve)
    for (let count = 0; count < 5; count++) await send(url)
    expect(next.requests).toBe(0)
    names.replies.a = { addresses: ['127.0.0.2'] }
    const begin = performance.now()
    const results = new Set<string>()
    // One event after another, without a pause in which a connection would be idle.
    while (next.requests < 5 && performance.now() - begin < 60_000) results.add((await send(url)).result)
    expect(next.requests).toBe(5)
    expect(old.connections).toBeLessThan(10)
    expect([...results]).toEqual(['delivered'])
  })

  test('is kept until then, however many requests it takes', async () => {
    const { url, old, next, names } = await twoReceivers((socket) => void socket.write(ok))
    const send = senderWith({ timeout: 60 }, names.resolve)
    await send(url)
    names.replies.a = { addresses: ['127.0.0.2'] }
    for (let count = 0; count < 100; count++) await send(url)
    // The second request may come before the first connection is free.
    expect(old.connections + next.connections).toBeLessThan(3)
  })

  test('ends no request that is in flight', async () => {
    const held: Socket[] = []
    const { url, next, names } = await twoReceivers((socket) => {
      if (held.length === 0) held.push(socket)
      else socket.write(ok)
    })
    const send = senderWith({ timeout: 60, maxConnectionAge: 0.1 }, names.resolve)
    const slow = send(url)
    await until(() => held.length === 1, 'the first request is held')
    names.replies.a = { addresses: ['127.0.0.2'] }
    while (next.requests < 20) expect(await send(url)).toMatchObject({ result: 'delivered' })
    held[0]?.write(ok)
    const outcome = await slow
    expect(outcome).toMatchObject({ result: 'delivered' })
    expect(outcome).not.toHaveProperty('repeated')
  })
})

describe('the name in TLS', () => {
  /** A server with a certificate for `hook.example`, and the names for which it was requested. */
  async function tls() {
    const made = certificateFor('hook.example')
    const asked: string[] = []
    const heads: string[] = []
    const server = createTlsServer(
      {
        ...made,
        SNICallback(name, done) {
          asked.push(name)
          done(null)
        },
      },
      (socket) => {
        socket.on('error', () => undefined)
        socket.once('data', (data) => {
          heads.push(data.toString('latin1'))
          socket.write(ok)
        })
      },
    )
    server.on('tlsClientError', () => undefined)
    return { port: await listening(server), ca: made.cert.toString(), asked, heads }
  }

  test('has no dot at its end, and the certificate is for the name without it; the request has the dot', async () => {
    const { port, ca, asked, heads } = await tls()
    expect(await attempt(`https://hook.example.:${port}/`, { ca, timeout: 60 })).toMatchObject({ result: 'delivered' })
    expect(asked).toEqual(['hook.example'])
    expect(heads.join('')).toContain(`\r\nhost: hook.example.:${port}\r\n`)
    expect(await attempt(`https://other.example.:${port}/`, { ca, timeout: 60 })).toMatchObject({ result: 'tls' })
  })

  test('has no dot at its end for a download either', async () => {
    const { port, asked } = await tls()
    const { get } = guardedDownloads({
      allows: () => true,
      lookup: (_, options, done) =>
        options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
    })
    // The certificate is no one's; the name has been sent by then.
    expect(await get(`https://hook.example.:${port}/`, 1000)).toMatchObject({ ok: false })
    expect(asked).toEqual(['hook.example'])
  })

  test('is none for an address', async () => {
    const { port, ca, asked } = await tls()
    expect(await attempt(`https://127.0.0.1:${port}/`, { ca, timeout: 60 })).toMatchObject({ result: 'tls' })
    expect(asked).toEqual([])
  })
})
