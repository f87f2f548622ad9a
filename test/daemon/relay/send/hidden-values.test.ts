/** Secrets of a request in what is kept of its response. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OpenEndpoint } from '../../../../daemon/relay/send/credentials.ts'
import { hiddenMark, hiderOf } from '../../../../daemon/relay/send/hidden-values.ts'
import { listening, openEndpoint, raw, say, senderWith } from './support.ts'

const until = new Date(Date.now() + 3_600_000).toISOString()
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const oldSecret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
const key = 'the/key+of"this<endpoint>&=%41'
const password = 'pass/wörd:1'
const basic = Buffer.from(`ada:${password}`).toString('base64')
const credentials = {
  key,
  old_keys: [{ value: 'the-key-before', until }],
  secrets: [secret],
  old_secrets: [{ value: oldSecret, until }],
  headers: [
    { name: 'X-Gateway', value: 'Token the-gateway-secret' },
    { name: 'x-proxy-auth', value: `Basic ${basic}` },
    { name: 'cookie', value: 'session=the-session-value; theme=dark-mode' },
    { name: 'x-stage', value: 'prod' },
    { name: 'X-Pin', value: '12' },
  ],
} satisfies Partial<OpenEndpoint>
const all = ['the-key-before', secret, oldSecret, 'the-gateway-secret', basic, 'the-session-value']
const hide = hiderOf(openEndpoint('https://example.org/', credentials), 'v1,c2lnbmF0dXJl v1,b3RoZXItb25l')
const hidden = (text: string): string => hide(text, 8192)

/** A receiver that responds with a 500 and what it makes of the request. */
async function echo(respond: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => respond(request, response))
  })
  return `http://127.0.0.1:${await listening(server)}/`
}
const send = (url: string) => senderWith({ timeout: 10 })(url, credentials)

describe('of a receiver that echoes the request', () => {
  test('no secret is kept, in the body or the headers', async () => {
    const signatures: string[] = []
    const url = await echo((request, response) => {
      signatures.push(...String(request.headers['webhook-signature']).split(' '))
      response.writeHead(500, { 'x-echo': JSON.stringify(request.headers), 'x-raw': String(request.headers.authorization) })
      response.end(JSON.stringify(request.rawHeaders, null, 2))
    })
    const outcome = await send(url)
    expect(outcome).toMatchObject({ result: 'status', status: 500, reason: '500' })
    expect(outcome.responseBody).toContain(`"authorization",\n  "${hiddenMark}"`)
    expect(outcome.responseHeaders).toContain(`x-raw: ${hiddenMark}`)
    expect(signatures).toHaveLength(2)
    for (const value of [...all, ...signatures, 'endpoint>', 'dark-mode', '"prod"']) {
      expect(outcome.responseBody).not.toContain(value)
      expect(outcome.responseHeaders).not.toContain(value)
    }
  })

  test('no secret is kept when it arrives byte by byte', async () => {
    const url = await echo(async (request, response) => {
      response.writeHead(502)
      for (const character of `before ${request.headers['x-gateway']} after`)
        await new Promise<void>((done) => void response.write(character, () => setImmediate(done)))
      response.end()
    })
    expect(await send(url)).toMatchObject({ responseBody: `before ${hiddenMark} after` })
  })

  test.each([8170, 8180, 8191, 8192])('no part of a secret that begins at byte %i is kept', async (length) => {
    const url = await echo((request, response) => {
      response.writeHead(500).end(`${'.'.repeat(length)}${request.headers['x-gateway']}${'.'.repeat(50_000)}`)
    })
    const { responseBody = '' } = await send(url)
    expect(responseBody.replace(/^\.+/, '')).toBe(hiddenMark.slice(0, 8192 - length))
  })

  test('no part of a secret is kept where the receiver cuts it off', async () => {
    for (const cut of [1, 5, 14]) {
      const url = await echo((request, response) => {
        response.writeHead(500).end(`got ${String(request.headers['x-gateway']).slice(0, -cut)}`)
      })
      expect(await send(url)).toMatchObject({ responseBody: `got ${hiddenMark}` })
    }
  })

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ])('a body in %s is kept as text, without the secrets', async (encoding, compress) => {
    const url = await echo((request, response) => {
      response.writeHead(500, { 'content-encoding': encoding })
      response.end(compress(`error: ${JSON.stringify(request.headers)}${'x'.repeat(100_000)}`))
    })
    const { responseBody = '' } = await send(url)
    expect(responseBody).toMatch(/^error: \{/)
    expect(responseBody.length).toBeLessThanOrEqual(8192)
    expect(responseBody).toMatch(/x{7000}$/)
    for (const value of all) expect(responseBody).not.toContain(value)
  })
})

describe('a compressed body that', () => {
  const kept = async (encoding: string, body: Buffer) => {
    const url = await echo((_, response) => void response.writeHead(500, { 'content-encoding': encoding }).end(body))
    return (await send(url)).responseBody
  }
  const noise = (length: number) => {
    let state = 1
    const next = (): number => {
      state = (state * 48271) % 2147483647
      return state & 0x7f
    }
    return Buffer.from(Array.from({ length }, next))
  }

  test('is longer than what is read is inflated as far as it goes', async () => {
    const text = noise(60_000)
    expect(await kept('gzip', gzipSync(text))).toBe(text.subarray(0, 8192).toString('latin1').replaceAll('\0', '\ufffd'))
  })
  test('inflates without end is named by its encoding and length', async () => {
    const bomb = gzipSync(Buffer.alloc(30_000_000))
    expect(await kept('gzip', bomb)).toBe(`(gzip, ${bomb.length} bytes)`)
    const worse = brotliCompressSync(Buffer.alloc(100_000_000))
    expect(await kept('br', worse)).toBe(`(br, ${worse.length} bytes)`)
  })
  test.each([
    ['gzip', Buffer.from('no gzip')],
    ['br', Buffer.from('\xff\xff\xff', 'latin1')],
    ['deflate', Buffer.from('xx')],
    ['gzip, br', gzipSync('twice')],
    ['zstd', Buffer.from('any')],
    ['the-gateway-secret', Buffer.from('any')],
  ])('cannot be inflated (%s) is named by its encoding and length', async (encoding, body) => {
    const name = encoding === 'the-gateway-secret' ? hiddenMark : encoding
    expect(await kept(encoding, body)).toBe(`(${name}, ${body.length} bytes)`)
  })
  test('is empty is not kept', async () => {
    expect(await kept('gzip', Buffer.alloc(0))).toBeUndefined()
  })
})

describe('a value', () => {
  const json = (text: string): string => JSON.stringify(text).slice(1, -1)
  const html = (text: string): string =>
    text.replace(
      /[&<>"'=/]/g,
      (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[each] ?? `&#${each.charCodeAt(0)};`,
    )
  const forms: readonly (readonly [string, (text: string) => string])[] = [
    ['plain', (text) => text],
    ['in JSON', json],
    [
      'in JSON of PHP',
      (text) =>
        json(text)
          .replaceAll('/', '\\/')
          .replace(/[<>&'=]/g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`),
    ],
    ['in a URL', encodeURIComponent],
    ['in a URL in lower case', (text) => encodeURIComponent(text).replace(/%../g, (each) => each.toLowerCase())],
    ['in a form', (text) => new URLSearchParams({ text }).toString().slice('text='.length)],
    ['in HTML', html],
    ['in HTML in hexadecimal', (text) => text.replace(/\W/g, (each) => `&#x${each.charCodeAt(0).toString(16)};`)],
    ['in JavaScript', (text) => text.replace(/\W/g, (each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, '0')}`)],
  ]
  const printable = fc.stringMatching(/^[!-~][ -~]{6,40}[!-~]$/)
  const cases = forms.flatMap(([inner, one]) =>
    forms.map(([outer, other]) => [inner, outer, (text: string) => other(one(text))] as const),
  )

  test.each(cases)('%s %s is hidden whole, also where the text ends within it', (_, __, written) => {
    fc.assert(
      fc.property(printable, fc.nat({ max: 100 }), (value, cut) => {
        const hides = hiderOf(openEndpoint('https://example.org/', { key: '', headers: [{ name: 'x-any', value }] }))
        const text = written(value)
        expect(hides(`a: ${text}; b`, 8192)).toBe(`a: ${hiddenMark}; b`)
        expect(hides(`a: ${[...text].join('\0')}; b`, 8192)).toBe(`a: ${hiddenMark}; b`)
        // Four of its eight or more characters are left.
        const beginning = written(value.slice(0, 4)).length + (cut % text.length)
        expect(hides(`a: ${text.slice(0, beginning)}`, 8192)).toBe(`a: ${hiddenMark}`)
      }),
      { numRuns: 30 },
    )
  })

  test.each([
    ['the password of Basic', password],
    ['user and password of Basic', `ada:${password}`],
    ['what follows the scheme', 'the-gateway-secret'],
    ['one of two signatures', 'b3RoZXItb25l'],
    ['a cookie', 'the-session-value'],
    ['an old key', 'the-key-before'],
    ['a signing secret', secret],
  ])('that is %s is hidden by itself', (_, value) => {
    expect(hidden(`<td>${value}</td>`)).toBe(`<td>${hiddenMark}</td>`)
  })

  test('of 4 to 7 characters is hidden where it stands alone', () => {
    expect(hidden('x-stage: prod, "prod" product reproduced prod_1 prod')).toBe(
      `x-stage: ${hiddenMark}, "${hiddenMark}" product reproduced prod_1 ${hiddenMark}`,
    )
  })
  test('of fewer characters is hidden behind the name of its header alone', () => {
    expect(hidden('{"x-pin":"12","retries":12,"HTTP_X_PIN":"12"} X-Pin => 12; 12 x-pin: 123')).toBe(
      `{"x-pin":"${hiddenMark}","retries":12,"HTTP_X_PIN":"${hiddenMark}"} X-Pin => ${hiddenMark}; 12 x-pin: 123`,
    )
  })
  test('leaves everything else as it is', () => {
    const text = 'Traceback: line 12 of "app.py" %s \\d+ &c. 100% \\'
    expect(hidden(text)).toBe(text)
    expect(hiderOf(openEndpoint('https://example.org/', { key: '' }))('Bearer of 12', 8192)).toBe('Bearer of 12')
  })
})

test('a response without a body that echoes is kept as before', async () => {
  const url = await raw(say('HTTP/1.1 503 the-gateway-secret\r\nContent-Length: 2\r\nX-A: b\r\n\r\nno'))
  const { milliseconds, ...rest } = await send(url)
  expect(milliseconds).toBeGreaterThanOrEqual(0)
  expect(rest).toEqual({
    result: 'status',
    status: 503,
    reason: '503',
    retryAfter: undefined,
    responseBody: 'no',
    responseHeaders: 'content-length: 2\nx-a: b',
  })
})
