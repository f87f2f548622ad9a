import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Resolve } from '../../../../daemon/relay/send/guard.ts'
import type { Outcome } from '../../../../daemon/relay/send/outcome.ts'
import { systemResolve } from '../../../../daemon/relay/send/resolve.ts'
import { certificateFor } from '../../../support/certificate.ts'
import { attempt, listening, local, ok, raw, say, senderWith } from './support.ts'

/** Unfolds to 50 MB. */
const bomb = gzipSync(Buffer.alloc(50_000_000))

describe('an attempt at a receiver that', () => {
  test.each<[string, (socket: Socket) => void, Partial<Outcome>]>([
    ['accepts and never answers', () => undefined, { result: 'timeout' }],
    ['closes at once', (socket) => socket.destroy(), { result: 'reset' }],
    ['resets the connection', (socket) => socket.resetAndDestroy(), { result: 'reset' }],
    ['half-closes without a response', (socket) => socket.end(), { result: 'reset' }],
    ['sends half of its headers', say('HTTP/1.1 200 OK\r\nContent-'), { result: 'timeout' }],
    ['sends half of its headers and closes', say('HTTP/1.1 200 OK\r\nContent-', true), { result: 'reset' }],
    [
      'promises a longer body than it sends',
      say('HTTP/1.1 404 No\r\nContent-Length: 10\r\n\r\nabc'),
      { result: 'timeout', status: 404 },
    ],
    [
      'promises a longer body and closes',
      say('HTTP/1.1 404 No\r\nContent-Length: 10\r\n\r\nabc', true),
      { result: 'reset', status: 404 },
    ],
    [
      'cuts a chunked body off',
      say('HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab', true),
      { result: 'reset', status: 404 },
    ],
    ['sends garbage', say('\u0000\u0001\u0002garbage\r\n\r\n'), { result: 'protocol' }],
    ['speaks HTTP/0.9', say('<html>hello</html>', true), { result: 'protocol' }],
    ['sends invalid headers', say('HTTP/1.1 200 OK\r\nbad header\u0000: x\r\n\r\n'), { result: 'protocol' }],
    ['sends headers of 100 KB', say(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`), { result: 'protocol' }],
    ['has two lengths', say('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na'), { result: 'protocol' }],
    [
      'sends a status that does not exist',
      say('HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'),
      { result: 'status', status: 999 },
    ],
    ['upgrades', say('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'), { result: 'protocol' }],
    ['sends the status 000', say('HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n'), { result: 'protocol' }],
    ['sends the status 099', say('HTTP/1.1 099 Less\r\nContent-Length: 0\r\n\r\n'), { result: 'protocol' }],
    ['sends a status of four digits', say('HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n'), { result: 'protocol' }],
    [
      'closes after its answer',
      say('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nyes', true),
      { result: 'delivered', status: 200 },
    ],
    [
      'answers with gzip that would unfold to 50 MB',
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
        socket.write(bomb)
      },
      { result: 'delivered', status: 200 },
    ],
    [
      'answers a redirect to inside',
      say('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n'),
      { result: 'redirect', status: 302 },
    ],
    [
      'asks twice for patience',
      say('HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n'),
      { result: 'status', status: 429, retryAfter: 7 },
    ],
    [
      'asks for patience and cuts its answer off',
      say('HTTP/1.1 503 No\r\nRetry-After: 120\r\nContent-Length: 5\r\n\r\nab', true),
      { result: 'reset', status: 503, retryAfter: 120 },
    ],
    [
      'asks for patience in an answer without an end',
      say('HTTP/1.1 429 Slow\r\nRetry-After: 120\r\nContent-Length: 5\r\n\r\nab'),
      { result: 'timeout', status: 429, retryAfter: 120 },
    ],
  ])('%s', async (_, behave, outcome) => {
    const timeout = outcome.result === 'timeout' ? 0.5 : 10
    expect(await attempt(await raw(behave), { timeout })).toMatchObject(outcome)
  })

  test.each([
    ['informational answers', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['header lines', 'HTTP/1.1 200 OK\r\n', 'X-More: xxxxxxxx\r\n'],
    ['a reason phrase', 'HTTP/1.1 200 ', 'and so on '],
    ['empty lines', '', '\r\n\r\n\r\n\r\n'],
    ['an extension of a chunk', 'HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n5;', 'more=and;'],
    ['a size of a chunk', 'HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n', '0000000000'],
    ['trailers', 'HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n', 'X-More: xxxxxxxx\r\n'],
  ])('floods with %s: little is read, and nothing is taken for an acknowledgement', async (_, head, more) => {
    let written = 0
    const url = await raw((socket) => {
      socket.write(head)
      const piece = Buffer.from(more.repeat(4000))
      const flood = (): void => {
        while (!socket.destroyed && written < 2 ** 28) {
          written += piece.length
          if (!socket.write(piece)) return
        }
      }
      socket.on('drain', flood)
      flood()
    })
    expect((await attempt(url, { timeout: 60 })).result).toBe('protocol')
    // The bytes that buffers of the system hold, not those that were offered.
    expect(written).toBeLessThan(2 ** 26)
  })

  test('sends its responses over one connection, a megabyte in all', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections++
      const response = `HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n${'x'.repeat(60_000)}`
      socket.on('data', (data) => void (data.includes('POST ') && socket.write(response)))
    })
    const url = `http://127.0.0.1:${await listening(server)}/`
    const send = senderWith({ timeout: 10 })
    for (let count = 0; count < 40; count++) expect(await send(url)).toMatchObject({ result: 'delivered' })
    expect(connections).toBeLessThan(3)
  })

  test('responds with a body of 1 GB, of which hardly anything is read', async () => {
    let written = 0
    const url = await raw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${2 ** 30}\r\n\r\n`)
      const piece = Buffer.alloc(64 * 1024)
      const write = (): void => {
        while (written < 2 ** 30 && !socket.destroyed) {
          written += piece.length
          if (!socket.write(piece)) return
        }
      }
      socket.on('drain', write)
      write()
    })
    expect(await attempt(url, { timeout: 10 })).toMatchObject({ result: 'delivered', status: 200 })
    // The bytes that buffers of the system hold, not those that were offered.
    expect(written).toBeLessThan(100 * 1024 * 1024)
  })

  /** A receiver in a process that is stopped: once `full` is over, no further connection is made to it. */
  async function stoppedReceiver() {
    const program = `require('node:http').createServer((_, answer) => answer.writeHead(204).end()).listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port) })`
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const port = Number(line.toString())
    child.kill('SIGSTOP')
    return {
      port,
      async full() {
        const waiting = Array.from({ length: 10 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
        onTestFinished(() => waiting.forEach((socket) => void socket.destroy()))
        await Promise.race(waiting.map((socket) => once(socket, 'connect')))
      },
      goOn: () => void child.kill('SIGCONT'),
    }
  }

  test('never accepts: at first the system does that for it, then its queue is full', async () => {
    const { port, full } = await stoppedReceiver()
    expect(await attempt(`http://127.0.0.1:${port}/`)).toMatchObject({ result: 'timeout', status: null })
    await full()
    expect(await attempt(`http://127.0.0.1:${port}/`)).toMatchObject({ result: 'timeout', status: null })
  })

  test('is far away, and has a second address that this machine does not reach', async () => {
    const { port, full, goOn } = await stoppedReceiver()
    await full()
    const both: Resolve = async () => {
      // The first packet is lost by then. The system sends it again after a second.
      setTimeout(goOn, 100)
      return [...(await local('')), { address: '::1', family: 6 }]
    }
    expect(await attempt(`http://far.example:${port}/`, { timeout: 60 }, both)).toMatchObject({ result: 'delivered' })
  })

  test('drips its headers', async () => {
    const url = await raw((socket) => {
      const text = `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(1000)}\r\n\r\n`
      let at = 0
      const more = setInterval(() => socket.write(text[at++] ?? 'x'), 10)
      socket.on('close', () => clearInterval(more))
    })
    expect(await attempt(url)).toMatchObject({ result: 'timeout' })
  })

  test('responds before the request was sent', async () => {
    const server = createServer((socket) => void socket.write(ok))
    const outcome = await attempt(`http://127.0.0.1:${await listening(server)}/`)
    expect(['delivered', 'reset', 'protocol']).toContain(outcome.result)
  })

  test('is not there', async () => {
    const server = createServer()
    const port = await listening(server)
    await new Promise((done) => server.close(done))
    expect(await attempt(`http://127.0.0.1:${port}/`)).toMatchObject({ result: 'refused' })
  })

  test('has a name that does not exist, that no server responds for, or that stands for inside', async () => {
    const failing =
      (code: string): Resolve =>
      () =>
        Promise.reject(Object.assign(new Error(code), { code }))
    expect(await attempt('http://name.example/', {}, failing('ENOTFOUND'))).toMatchObject({ result: 'dns', reason: 'ENOTFOUND' })
    expect(await attempt('http://name.example/', {}, failing('ESERVFAIL'))).toMatchObject({ result: 'dns' })
    expect(await attempt('http://name.example/', {}, () => new Promise(() => undefined))).toMatchObject({ result: 'timeout' })
    expect(await attempt('http://name.example/', { allowPrivate: false })).toMatchObject({ result: 'blocked' })
  })

  test('is called by a name of this machine', async () => {
    const url = await raw(say(ok))
    const name = url.replace('127.0.0.1', 'localhost')
    expect(await attempt(name, { timeout: 10 }, systemResolve())).toMatchObject({ result: 'delivered' })
    expect(await attempt(name, { timeout: 10, allowPrivate: false }, systemResolve())).toMatchObject({ result: 'blocked' })
  })

  test('wants a key that no header can carry', async () => {
    const url = await raw(say(ok))
    for (const key of ['a\r\nX-Evil: 1', 'a\u0000b', 'schlüssel–'])
      expect(['blocked', 'delivered']).toContain((await attempt(url, {}, local, key)).result)
    expect(await attempt(url, {}, local, 'a\r\nX-Evil: 1')).toMatchObject({ result: 'blocked' })
  })
})

describe('an attempt over TLS', () => {
  async function tls(options: TlsOptions): Promise<number> {
    const server = createTlsServer(options, (socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => void socket.write(ok))
    })
    server.on('tlsClientError', () => undefined)
    return listening(server)
  }

  test('is delivered to the name that the certificate is for, and to no other', async () => {
    const made = certificateFor('hook.example')
    const port = await tls(made)
    const trusting = { ca: made.cert.toString() }
    expect(await attempt(`https://hook.example:${port}/`, trusting)).toMatchObject({ result: 'delivered' })
    expect(await attempt(`https://other.example:${port}/`, trusting)).toMatchObject({ result: 'tls' })
  })

  test('fails with a certificate that no one vouches for, that has expired, or that the receiver wants from us', async () => {
    const made = certificateFor('hook.example')
    expect(await attempt(`https://hook.example:${await tls(made)}/`)).toMatchObject({ result: 'tls' })
    const expired = certificateFor('hook.example', { days: -1 })
    const outcome = await attempt(`https://hook.example:${await tls(expired)}/`, { ca: expired.cert.toString() })
    expect(outcome).toMatchObject({ result: 'tls', reason: 'CERT_HAS_EXPIRED' })
    const demanding = await tls({ ...made, requestCert: true, rejectUnauthorized: true })
    const refused = await attempt(`https://hook.example:${demanding}/`, { ca: made.cert.toString() })
    expect(['tls', 'reset']).toContain(refused.result)
  })

  test('fails with a certificate for another purpose, and names that', async () => {
    const forClients = certificateFor('hook.example', { extensions: 'extendedKeyUsage=clientAuth\n' })
    const purpose = await attempt(`https://hook.example:${await tls(forClients)}/`, { ca: forClients.cert.toString() })
    expect(purpose).toMatchObject({ result: 'tls', reason: 'INVALID_PURPOSE' })
  })

  test('fails with a short key, and names that', async ({ skip }) => {
    skip(Number.parseInt(process.versions.node, 10) < 24, 'Node 22 takes short keys')
    const short = certificateFor('hook.example', { newKey: ['rsa:1024'] })
    const port = await tls({ ...short, ciphers: 'DEFAULT@SECLEVEL=0' })
    const weak = await attempt(`https://hook.example:${port}/`, { ca: short.cert.toString() })
    expect(weak).toMatchObject({ result: 'tls', reason: expect.stringMatching(/key too weak/i) })
  })

  test('fails with an old protocol, with none, and with a handshake that stalls', async () => {
    const made = certificateFor('hook.example')
    const old = await tls({ ...made, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })
    const outcome = await attempt(`https://hook.example:${old}/`, { ca: made.cert.toString() })
    expect(['tls', 'reset']).toContain(outcome.result)
    const plain = await listening(createServer((socket) => void socket.once('data', () => void socket.write(ok))))
    expect((await attempt(`https://hook.example:${plain}/`)).result).toBe('tls')
    const silent = await listening(createServer(() => undefined))
    expect(await attempt(`https://hook.example:${silent}/`)).toMatchObject({ result: 'timeout' })
  })
})
