import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BadResponse, informationalFilter } from '../../../../daemon/relay/send/responses.ts'
import { attempt, listening, ok, raw, say, senderWith } from './support.ts'

const early = (header: string): string => `HTTP/1.1 103 Early Hints\r\nLink: ${header}\r\n\r\n`
const goOn = 'HTTP/1.1 100 Continue\r\n\r\n'

/** What a filter leaves of pieces. */
function left(pieces: readonly string[]): string {
  const filter = informationalFilter()
  return pieces.map((piece) => filter(Buffer.from(piece, 'latin1')).toString('latin1')).join('')
}

/** Bytes of the receiver one by one, each in a packet of its own as far as the system goes along. */
async function bytewise(socket: Socket, text: string): Promise<void> {
  socket.setNoDelay(true)
  for (const byte of text) await new Promise<void>((done) => void socket.write(byte, () => setImmediate(done)))
}

describe('informational responses', () => {
  const informational = fc.oneof(
    fc.constantFrom(
      goOn,
      'HTTP/1.0 100 Continue\r\n\r\n',
      'HTTP/1.1 100\r\n\r\n',
      'HTTP/1.1 102 Processing\r\nConnection: close\r\n\r\n',
    ),
    fc
      .stringMatching(/^[ -~]{0,40}$/)
      .map((value) => `HTTP/1.1 1${value.length % 2}9 x\r\nX-Long: ${value}\r\nKeep-Alive: timeout=0\r\n\r\n`),
  )
  const response = fc.constantFrom(
    ok,
    `HTTP/1.1 200 OK\r\nContent-Length: ${goOn.length}\r\n\r\n${goOn}`,
    'HTTP/1.0 500 No\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 1000 Odd\r\n\r\n',
    'HTTP/1.1 100Continue\r\n\r\n',
    'HTTP/1.1 100\n\n',
    'HTTP/1',
    '<html>HTTP/1.1 100 Continue</html>',
  )

  test('are dropped before a response that is left as it is, wherever the pieces are cut', () => {
    fc.assert(
      fc.property(fc.array(informational, { maxLength: 16 }), response, fc.array(fc.nat(2000)), (before, final, cuts) => {
        const text = before.join('') + final
        const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
        const pieces = [0, ...places].map((place, index) => text.slice(place, places[index] ?? text.length))
        // The beginning of a status line stays back until the rest of it comes.
        expect(left(pieces)).toBe(final === 'HTTP/1' ? '' : final)
        expect(left([...text])).toBe(final === 'HTTP/1' ? '' : final)
      }),
    )
  })

  test('are dropped with the empty lines around them', () => {
    expect(left([`\r\n${goOn}\r\n\r\n${goOn}\n${ok}`])).toBe(ok)
  })

  test('are sixteen at most, of 64 KiB at most, with lines that end as they should', () => {
    expect(left([goOn.repeat(16), ok])).toBe(ok)
    expect(() => left([goOn.repeat(17)])).toThrow(BadResponse)
    expect(() => left([early('x'.repeat(64 * 1024))])).toThrow('endless informational responses')
    expect(() => left(['HTTP/1.1 100 Continue', ...Array<string>(1025).fill('x'.repeat(64))])).toThrow(
      'endless informational responses',
    )
    expect(() => left([`HTTP/1.1 100 Continue\n\n${ok}`])).toThrow('a line that ends without CR')
  })
})

describe('an attempt at a receiver that', () => {
  test.each([
    ['continues although nobody asked', goOn],
    ['continues as HTTP/1.0', 'HTTP/1.0 100 Continue\r\n\r\n'],
    ['continues with header fields', 'HTTP/1.1 100 Continue\r\nDate: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n'],
    ['continues several times', goOn.repeat(5)],
    ['hints, then continues, then processes', `${early('</a>')}${goOn}HTTP/1.1 102 Processing\r\n\r\n`],
    ['sends sixteen of them', early('</a>').repeat(16)],
  ])('%s is delivered, in one piece and byte by byte', async (_, before) => {
    expect(await attempt(await raw(say(before + ok)), { timeout: 10 })).toMatchObject({ result: 'delivered', status: 200 })
    const url = await raw((socket) => void bytewise(socket, before + ok))
    expect(await attempt(url, { timeout: 10 })).toMatchObject({ result: 'delivered', status: 200 })
  })

  test('continues before each response keeps its connection, and its failures are its own', async () => {
    let connections = 0
    let requests = 0
    const refusal = `HTTP/1.1 500 No\r\nContent-Length: ${goOn.length}\r\n\r\n${goOn}`
    const server = createServer((socket) => {
      connections++
      socket.on('data', (data) => {
        if (data.includes('POST ')) socket.write(goOn + (++requests % 2 === 0 ? refusal : ok))
      })
    })
    const url = `http://127.0.0.1:${await listening(server)}/`
    const send = senderWith({ timeout: 10 })
    for (let count = 0; count < 10; count++) {
      expect(await send(url)).toMatchObject({ result: 'delivered' })
      // What looks like one in a body is a body.
      expect(await send(url)).toMatchObject({ result: 'status', status: 500, responseBody: goOn })
    }
    expect(connections).toBeLessThan(3)
  })

  test('responds to a large event early, after a 100, is left alone with its body', async () => {
    const body = `HTTP/1.1 100 Continue\r\n\r\n`
    const url = await raw((socket) => {
      socket.pause()
      socket.write(`${goOn}HTTP/1.1 413 Large\r\nContent-Length: ${2 * body.length}\r\n\r\n`)
      setImmediate(() => socket.write(body, () => setImmediate(() => socket.write(body))))
    })
    const outcome = await senderWith({ timeout: 10 })(url, { body: 'x'.repeat(8_000_000) })
    expect(outcome).toMatchObject({ result: 'status', status: 413, responseBody: body + body })
  })

  test('sends too many or too long informational responses has failed', async () => {
    expect(await attempt(await raw(say(early('</a>').repeat(17) + ok)))).toMatchObject({ result: 'protocol', status: null })
    const long = await raw(say(early('x'.repeat(10_000)).repeat(7) + ok))
    expect(await attempt(long)).toMatchObject({ result: 'protocol', reason: 'endless informational responses' })
    const drips = await raw((socket) => {
      const more = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 5)
      socket.on('close', () => clearInterval(more))
    })
    expect(await attempt(drips, { timeout: 10 })).toMatchObject({ result: 'protocol' })
  })

  test('continues, and never responds, has its time-out', async () => {
    expect(await attempt(await raw(say(goOn)))).toMatchObject({ result: 'timeout', status: null })
    expect(await attempt(await raw(say(goOn, true)), { timeout: 10 })).toMatchObject({ result: 'reset', status: null })
  })
})

describe('a status of 2xx acknowledges, though its body', () => {
  const drip = (head: string) => (socket: Socket) => {
    socket.write(head)
    const more = setInterval(() => socket.write('x'), 20)
    socket.on('close', () => clearInterval(more))
  }
  test.each<[string, (socket: Socket) => void]>([
    ['breaks off', say('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc', true)],
    [
      'is reset',
      (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc', () => socket.resetAndDestroy()),
    ],
    ['never comes', say('HTTP/1.1 202 OK\r\nContent-Length: 5\r\n\r\n')],
    ['has no last chunk', say('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n', true)],
    ['has chunks that are none', say('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n')],
    ['never ends', say('HTTP/1.1 200 OK\r\n\r\nabc')],
    ['ends by the end of the connection', say('HTTP/1.0 200 OK\r\n\r\nabc', true)],
    ['is garbage that claims to be gzip', say('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc')],
    ['is on a 204', say('HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\nabc')],
    ['drips', drip('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n')],
    ['drips in a chunk’s extension', drip('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;')],
    ['drips after a 100', drip(`${goOn}HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n`)],
  ])('%s', async (_, behave) => {
    const { result, milliseconds, reason } = await attempt(await raw(behave), { timeout: 60 })
    expect({ result, reason }).toMatchObject({ result: 'delivered', reason: expect.stringMatching(/^2/) })
    expect(milliseconds).toBeLessThan(10_000)
  })

  test('floods: little of it is read', async () => {
    let written = 0
    const url = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;')
      const piece = Buffer.alloc(64 * 1024, 'x')
      const flood = (): void => {
        while (!socket.destroyed && written < 2 ** 28) {
          written += piece.length
          if (!socket.write(piece)) return
        }
      }
      socket.on('drain', flood)
      flood()
    })
    expect(await attempt(url, { timeout: 60 })).toMatchObject({ result: 'delivered' })
    expect(written).toBeLessThan(2 ** 26)
  })

  test('ends after the time-out: the time-out ends the attempt, which is delivered', async () => {
    const url = await raw(drip('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n'))
    const { result, milliseconds } = await attempt(url, { timeout: 2 })
    expect(result).toBe('delivered')
    expect(milliseconds).toBeLessThan(30_000)
  })

  test('does not end: its connection is closed, and the next event has another', async () => {
    const closed: Promise<unknown>[] = []
    const server = createServer((socket) => {
      closed.push(once(socket, 'close'))
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc'))
    })
    const url = `http://127.0.0.1:${await listening(server)}/`
    const send = senderWith({ timeout: 60 })
    for (let count = 0; count < 3; count++) expect(await send(url)).toMatchObject({ result: 'delivered' })
    await Promise.all(closed)
    expect(closed).toHaveLength(3)
  })

  test('comes a little later: its connection is kept', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.on('data', () =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab', () => setImmediate(() => socket.write('cde'))),
      )
    })
    const url = `http://127.0.0.1:${await listening(server)}/`
    const send = senderWith({ timeout: 60 })
    for (let count = 0; count < 20; count++) expect(await send(url)).toMatchObject({ result: 'delivered' })
    expect(connections).toBeLessThan(3)
  })
})
