/** An HTTP proxy on loopback that makes connections by CONNECT, and can fail in many ways. */
import { connect, createServer as createPlain, type Socket } from 'node:net'
import { createServer as createSecure } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { Certificate } from './certificate.ts'

/** What it does with a CONNECT instead of connecting: responds with a text, says nothing, or closes. */
export type Misbehaviour = { readonly says: string | Buffer } | 'silent' | 'closes'

export interface ConnectProxy {
  readonly port: number
  /** With the credentials, if it demands them. */
  readonly url: string
  /** The heads of the requests it got. */
  readonly requests: readonly string[]
  /** The addresses that it made connections to. */
  readonly connected: readonly string[]
  /** The addresses that requests came from. */
  readonly sources: readonly (string | undefined)[]
  /** What it does with requests from now on; `undefined` connects. */
  behave: Misbehaviour | undefined
  /** What it does with requests for a port alone. */
  readonly toPort: Map<number, Misbehaviour>
  /** Written before the response that the connection is there. */
  before: string
  /** Connects to this port instead of the one that was requested. */
  target: number | undefined
  /** Ends every connection and listens no more; `start` listens on the same port again. */
  stop(): Promise<void>
  start(): Promise<void>
}

export interface ConnectProxyOptions {
  /** `user:password` that it demands. */
  readonly credentials?: string
  /** Makes it speak TLS. */
  readonly certificate?: Certificate
  readonly address?: string
}

export async function connectProxy({
  credentials,
  certificate,
  address = '127.0.0.1',
}: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const sockets = new Set<Socket>()
  const requests: string[] = []
  const connected: string[] = []
  const sources: (string | undefined)[] = []

  const hold = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
  }

  function serve(client: Socket): void {
    hold(client)
    sources.push(client.remoteAddress)
    let head = ''
    const read = (piece: Buffer): void => {
      head += piece.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      client.off('data', read)
      requests.push(head)
      response(client, head)
    }
    client.on('data', read)
  }

  function response(client: Socket, head: string): void {
    const [, host = '', port = ''] = /^CONNECT \[?([^\]\s]+?)\]?:(\d+) HTTP\/1\.1\r\n/.exec(head) ?? []
    const behave = proxy.behave ?? proxy.toPort.get(Number(port))
    if (behave === 'silent') return
    if (behave === 'closes') return void client.destroy()
    if (behave) return void client.write(behave.says)
    const given = /^proxy-authorization: basic (\S+)$/im.exec(head)?.[1] ?? ''
    if (credentials !== undefined && Buffer.from(given, 'base64').toString() !== credentials)
      return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="x"\r\n\r\n')
    const far = connect(proxy.target ?? Number(port), host)
    hold(far)
    far.once('connect', () => {
      connected.push(`${host}:${port}`)
      client.write(`${proxy.before}HTTP/1.1 200 Connection established\r\n\r\n`)
      client.pipe(far)
      far.pipe(client)
    })
    far.once('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'))
    far.once('close', () => client.destroy())
    client.once('close', () => far.destroy())
  }

  const server = certificate ? createSecure({ key: certificate.key, cert: certificate.cert }, serve) : createPlain(serve)
  const user = credentials === undefined ? '' : `${credentials.split(':').map(encodeURIComponent).join(':')}@`
  let port = 0

  async function start(): Promise<void> {
    await new Promise<void>((done) => server.listen(port, address, done))
    const bound = server.address()
    if (typeof bound === 'object' && bound) port = bound.port
  }
  async function stop(): Promise<void> {
    const closed = new Promise<void>((done) => server.close(() => done()))
    for (const socket of sockets) socket.destroy()
    await closed
  }

  const proxy: ConnectProxy = {
    get port() {
      return port
    },
    get url() {
      const host = address.includes(':') ? `[${address}]` : certificate ? 'localhost' : address
      return `http${certificate ? 's' : ''}://${user}${host}:${port}`
    },
    requests,
    connected,
    sources,
    behave: undefined,
    toPort: new Map(),
    before: '',
    target: undefined,
    stop,
    start,
  }
  await start()
  onTestFinished(() => stop())
  return proxy
}
