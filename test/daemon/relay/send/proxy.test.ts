/** Deliveries through an HTTP proxy: by CONNECT to an address that the guard has allowed, and its failures are never the endpoint's. */
import { createServer as createHttps } from 'node:https'
import { createServer as createNet } from 'node:net'
import { describe, expect, test } from 'vitest'
import { certificateFor } from '../../../support/certificate.ts'
import { connectProxy, type Misbehaviour } from '../../../support/connect-proxy.ts'
import { bench, endpoint, event, events, pass, receiver, until } from '../support.ts'
import { listening, senderWith } from './support.ts'

const named = (url: string): string => url.replace('127.0.0.1', 'name.example')

describe('an attempt through a proxy', () => {
  test.each([
    ['without credentials', undefined],
    ['with credentials', 'relay:p@ss:word/ü'],
  ])('goes to the address of a name, %s, and names the host itself', async (_, credentials) => {
    const hook = await receiver()
    const proxy = await connectProxy(credentials === undefined ? {} : { credentials })
    const url = credentials === undefined ? proxy.url : proxy.url.replace(/(?<=\/\/).*(?=@)/, 'relay:p%40ss%3Aword%2F%C3%BC')
    const send = senderWith({ proxy: url, timeout: 5 })
    expect(await send(named(hook.url))).toMatchObject({ result: 'delivered' })
    await until(() => proxy.requests.length === 1, 'the connection is idle')
    await pass(20)
    expect(await send(named(hook.url))).toMatchObject({ result: 'delivered' })
    expect(proxy.connected).toEqual([`127.0.0.1:${hook.port}`])
    expect(hook.received.map(({ headers }) => headers.host)).toEqual(Array(2).fill(`name.example:${hook.port}`))
    expect(hook.received[0]?.headers).not.toHaveProperty('proxy-authorization')
  })

  test.each(['http', 'https'])('speaks TLS with the name of the endpoint through an %s proxy', async (scheme) => {
    const certificate = certificateFor('name.example', { extensions: 'basicConstraints=CA:TRUE' })
    const own = certificateFor('localhost')
    const names: unknown[] = []
    const server = createHttps({ key: certificate.key, cert: certificate.cert }, (request, response) => {
      names.push([Reflect.get(request.socket, 'servername'), request.headers.host])
      response.end()
    })
    const port = await listening(server)
    const proxy = await connectProxy(scheme === 'https' ? { certificate: own } : {})
    const ca = `${certificate.cert}${own.cert}`
    const send = senderWith({ proxy: proxy.url, ca, timeout: 5 })
    expect(await send(`https://name.example:${port}/`)).toMatchObject({ result: 'delivered' })
    expect(names).toEqual([['name.example', `name.example:${port}`]])
    expect(await send(`https://other.example:${port}/`)).toMatchObject({ result: 'tls', reason: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  })

  test('reaches IPv6, and the next address of a name when the proxy does not reach the first', async () => {
    const server = createNet((socket) => void socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n')))
    const port = await listening(server, '::1')
    const proxy = await connectProxy()
    const both = async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]
    expect(await senderWith({ proxy: proxy.url, timeout: 5 }, both)(`http://name.example:${port}/`)).toMatchObject({
      result: 'delivered',
    })
    expect(proxy.requests.map((head) => head.split('\r\n').slice(0, 2))).toEqual([
      [`CONNECT 127.0.0.1:${port} HTTP/1.1`, `Host: 127.0.0.1:${port}`],
      [`CONNECT [::1]:${port} HTTP/1.1`, `Host: [::1]:${port}`],
    ])
    expect(proxy.connected).toEqual([`::1:${port}`])
  })

  test('is refused for private addresses, and for those that the endpoint does not allow, before the proxy is asked', async () => {
    const hook = await receiver()
    const proxy = await connectProxy()
    const strict = senderWith({ proxy: proxy.url, allowPrivate: false })
    expect(await strict(hook.url)).toMatchObject({ result: 'blocked' })
    expect(await strict(named(hook.url))).toMatchObject({ result: 'blocked' })
    const send = senderWith({ proxy: proxy.url })
    expect(await send(named(hook.url), { allow_addresses: ['198.51.100.7'] })).toMatchObject({ result: 'blocked' })
    expect(proxy.requests).toEqual([])
  })

  test('passes over informational responses before the 200 of the proxy', async () => {
    const hook = await receiver()
    const proxy = await connectProxy()
    for (const before of ['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(3)]) {
      proxy.before = before
      expect(await senderWith({ proxy: proxy.url, timeout: 5 })(named(hook.url))).toMatchObject({ result: 'delivered' })
    }
    proxy.before = 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(17)
    expect(await senderWith({ proxy: proxy.url, timeout: 5 })(named(hook.url))).toMatchObject({ result: 'proxy_failed' })
    proxy.before = 'HTTP/1.1 101 Switching Protocols\r\n\r\n'
    expect(await senderWith({ proxy: proxy.url, timeout: 5 })(named(hook.url))).toMatchObject({
      result: 'proxy_failed',
      reason: 'the proxy made no connection to the endpoint (101)',
    })
  })

  const long = `HTTP/1.1 200 OK\r\nX-Filler: ${'a'.repeat(20_000)}`
  test.each<readonly [string, Misbehaviour, string]>([
    ['demands other credentials', { says: 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n' }, 'refuses the credentials'],
    ['answers 502', { says: 'HTTP/1.1 502 Bad Gateway\r\n\r\n' }, 'made no connection to the endpoint (502)'],
    ['answers 504', { says: 'HTTP/1.0 504 Gateway Timeout\r\n\r\n' }, 'made no connection to the endpoint (504)'],
    ['answers 403', { says: 'HTTP/1.1 403 Forbidden\r\n\r\n' }, 'made no connection to the endpoint (403)'],
    ['answers with garbage', { says: 'SSH-2.0-OpenSSH\r\n' }, 'not HTTP'],
    ['answers with bytes', { says: Buffer.from([22, 3, 1, 0, 0]) }, 'not HTTP'],
    ['answers without an end', { says: long }, 'without an end'],
    ['never responds', 'silent', 'no response in time'],
    ['begins a response', { says: 'HTTP/1.1 200 O' }, 'no response in time'],
    ['closes the connection', 'closes', 'closed the connection'],
  ])('fails by the proxy if that %s', async (_, behave, reason) => {
    const hook = await receiver()
    const proxy = await connectProxy()
    proxy.behave = behave
    const outcome = await senderWith({ proxy: proxy.url })(named(hook.url))
    expect(outcome).toMatchObject({ result: 'proxy_failed', status: null, reason: expect.stringContaining(reason) })
    expect(outcome.milliseconds).toBeLessThan(3000)
    expect(hook.received).toEqual([])
  })

  test('fails by the proxy if that is not there, or its name is not', async () => {
    const proxy = await connectProxy()
    await proxy.stop()
    const reason = 'the proxy cannot be reached (ECONNREFUSED)'
    expect(await senderWith({ proxy: proxy.url })('https://name.example/')).toMatchObject({ result: 'proxy_failed', reason })
    const nowhere = async (name: string) => {
      if (name !== 'proxy.example') return [{ address: '127.0.0.1', family: 4 }]
      throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    }
    expect(await senderWith({ proxy: 'http://proxy.example:3128' }, nowhere)('https://name.example/')).toMatchObject({
      result: 'proxy_failed',
      reason: 'the proxy cannot be reached (ENOTFOUND)',
    })
  })

  test('fails by the endpoint if that is silent behind the proxy, speaks no TLS, or has no name', async () => {
    const proxy = await connectProxy()
    const port = await listening(createNet(() => undefined))
    const first = await listening(createNet((socket) => void socket.write('220 mail.example ESMTP\r\n')))
    const send = senderWith({ proxy: proxy.url })
    expect(await send(`https://name.example:${port}/`)).toMatchObject({ result: 'timeout' })
    expect(await send(`http://name.example:${port}/`)).toMatchObject({ result: 'timeout' })
    expect((await send(`https://name.example:${first}/`)).result).toMatch(/^(?:tls|protocol)$/)
    expect(await send(`http://name.example:${first}/`)).toMatchObject({ result: 'protocol' })
    const unknown = async () => {
      throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    }
    expect(await senderWith({ proxy: proxy.url }, unknown)('https://name.example/')).toMatchObject({ result: 'dns' })
  })

  test('goes directly to the hosts that are to be reached without it', async () => {
    const hook = await receiver()
    const proxy = await connectProxy()
    const send = senderWith({ proxy: proxy.url, noProxy: 'other.example, .name.example', timeout: 5 })
    expect(await send(named(hook.url))).toMatchObject({ result: 'delivered' })
    expect(proxy.requests).toHaveLength(0)
    expect(await send(hook.url)).toMatchObject({ result: 'delivered' })
    expect(proxy.requests).toHaveLength(1)
  })
})

describe('a relay whose proxy', () => {
  test('is down loses nothing, charges no endpoint, and goes on when it is back', async () => {
    const [one, two] = [await receiver(), await receiver()]
    const proxy = await connectProxy()
    const all = await bench({ proxy: proxy.url, retrySchedule: [0], breakerThreshold: 1 })
    await all.append(endpoint(one.url), endpoint(two.url, { id: '8' }), event('before'))
    // One whose answer the end of the proxy cuts off comes again.
    const different = () => new Set(one.received.map(({ id }) => id)).size + new Set(two.received.map(({ id }) => id)).size
    await until(() => different() === 2, 'both have the first event')
    await proxy.stop()
    await all.append(...events('e', 20))
    await until(() => all.notices.some(({ kind }) => kind === 'proxy.failed'), 'the failure is told')
    await proxy.start()
    await until(() => different() === 42, 'everything is delivered')
    expect(all.attempts.filter(({ outcome }) => !['delivered', 'proxy_failed'].includes(outcome))).toEqual([])
    expect(all.attempts.every(({ attempt, breaker }) => attempt === 1 && breaker === 'closed')).toBe(true)
    expect(all.notices.map(({ kind, endpoint_id }) => [kind, endpoint_id])).toEqual([
      ['proxy.failed', null],
      ['proxy.recovered', null],
    ])
    expect(JSON.stringify([all.notices, all.attempts])).not.toContain(String(proxy.port))
    expect(all.faults).toEqual([])
  })

  test('refuses the password waits for another one, which a reload brings', async () => {
    const hook = await receiver()
    const proxy = await connectProxy({ credentials: 'relay:right' })
    const wrong = proxy.url.replace('right', 'wrong-secret')
    const all = await bench({ proxy: wrong, retrySchedule: [0] })
    await all.append(endpoint(hook.url), ...events('e', 3))
    await until(() => all.notices.length > 0, 'the failure is told')
    expect(all.relay.proxyWorks).toBe(false)
    all.relay.reconfigure({ allowHttp: true, allowPrivate: true, proxy: proxy.url, retrySchedule: [0] })
    await until(() => hook.received.length === 3, 'everything is delivered')
    expect(all.relay.proxyWorks).toBe(true)
    expect(JSON.stringify([all.notices, all.attempts, all.faults])).not.toContain('wrong-secret')
  })

  test('does not reach one endpoint puts that one off alone, and charges nothing as long as it connects to no other', async () => {
    const hook = await receiver()
    const dead = await receiver()
    const proxy = await connectProxy()
    const all = await bench({ proxy: proxy.url, retrySchedule: [0], breakerThreshold: 1 })
    const closed = await connectProxy()
    await closed.stop()
    const url = `http://127.0.0.1:${closed.port}/`
    await all.append(endpoint(hook.url), ...events('e', 5))
    await until(() => hook.received.length === 5, 'the other endpoint gets everything')
    const others = events('o', 5).map((each) => ({ ...each, network_id: '2' }))
    await all.append(endpoint(url, { id: '8', network_id: '2' }), ...others)
    await until(() => all.attempts.filter(({ outcome }) => outcome === 'proxy_failed').length > 1, 'it is tried again')
    expect(all.relay.proxyWorks).toBe(true)
    expect(all.notices.map(({ kind, endpoint_id }) => [kind, endpoint_id])).toEqual([['proxy.failed', '8']])
    const failed = all.attempts.filter(({ outcome }) => outcome === 'proxy_failed')
    expect(failed.every(({ state, breaker, attempt }) => state === 'pending' && breaker === 'closed' && attempt === 1)).toBe(true)
    proxy.target = dead.port
    await until(() => dead.received.length === 5, 'it gets everything when the proxy reaches it')
    expect(all.notices).toHaveLength(1)
  })
})

describe('an attempt from a source address', () => {
  test('comes from there, directly and to the proxy, and to its family alone', async () => {
    const seen: (string | undefined)[] = []
    const server = createNet((socket) => {
      seen.push(socket.remoteAddress)
      socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'))
    })
    const port = await listening(server, '127.0.0.1')
    const proxy = await connectProxy()
    const both = async () => [
      { address: '::1', family: 6 },
      { address: '127.0.0.1', family: 4 },
    ]
    const sourceAddress = '127.0.0.2'
    const send = senderWith({ sourceAddress, timeout: 5 }, both)
    expect(await send(`http://name.example:${port}/`)).toMatchObject({ result: 'delivered' })
    expect(await send(`http://[::1]:${port}/`)).toMatchObject({
      result: 'blocked',
      reason: '::1 is not an IPv4 address, as the setting `sourceAddress` is',
    })
    const six = async () => [{ address: '::1', family: 6 }]
    expect(await senderWith({ sourceAddress }, six)(`http://name.example:${port}/`)).toMatchObject({
      result: 'blocked',
      reason: 'name.example has no IPv4 address, as the setting `sourceAddress` is',
    })
    expect(await senderWith({ sourceAddress, proxy: proxy.url, timeout: 5 })(`http://name.example:${port}/`)).toMatchObject({
      result: 'delivered',
    })
    expect(seen).toEqual(['127.0.0.2', '127.0.0.1'])
    expect(proxy.sources).toEqual(['127.0.0.2'])
  })

  test('that this machine does not have is refused at the start', async () => {
    await expect(bench({ sourceAddress: '192.0.2.1' })).rejects.toThrow(
      'setting `sourceAddress` is not an address of this machine (EADDRNOTAVAIL)',
    )
    await expect(bench({ sourceAddress: 'localhost' })).rejects.toThrow('setting `sourceAddress` must be an IPv4 or IPv6 address')
  })
})
