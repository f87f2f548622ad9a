/** Connections through a proxy: HTTP CONNECT (RFC 9110, section 9.3.6) to an address that the guard has allowed. */
import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { systemClock } from '../clock.ts'
import type { Address, Resolve } from './guard.ts'
import { type HttpProxy, ProxyFailed } from './proxy.ts'
import { BadResponse, informationalFilter } from './responses.ts'

/** The most bytes of the response to a CONNECT. */
const maxHeadBytes = 16 * 1024
const mostAddresses = 8
/** The part of an attempt's time for reaching the proxy, and for its response while there are other addresses. */
const part = 1 / 4

export interface TunnelOptions {
  readonly resolve: Resolve
  readonly timeoutMs: number
  readonly localAddress: string | undefined
  /** PEM certificates to trust for a proxy that is spoken to in TLS. */
  readonly ca: string | undefined
  readonly signal: AbortSignal
}

/** @throws ProxyFailed; BadResponse for a receiver that is none */
export async function openTunnel(
  proxy: HttpProxy,
  addresses: readonly Address[],
  port: number,
  options: TunnelOptions,
): Promise<Socket> {
  const tried = addresses.slice(0, mostAddresses)
  for (const [place, address] of tried.entries()) {
    const isLast = place === tried.length - 1
    const socket = await reachProxy(proxy, options)
    try {
      const milliseconds = isLast ? options.timeoutMs : options.timeoutMs * part
      return await requestTunnel(socket, requestFor(address, port, proxy), milliseconds, options.signal)
    } catch (error) {
      if (isLast || !(error instanceof ProxyFailed) || error.fault !== 'endpoint') throw error
    }
  }
  throw new ProxyFailed('no address was requested from the proxy', 'endpoint')
}

function requestFor({ address, family }: Address, port: number, { authorization }: HttpProxy): string {
  const authority = `${family === 6 ? `[${address}]` : address}:${port}`
  const fields = [`Host: ${authority}`, ...(authorization === undefined ? [] : [`Proxy-Authorization: ${authorization}`])]
  return [`CONNECT ${authority} HTTP/1.1`, ...fields, '', ''].join('\r\n')
}

/** The names of proxies are the operator's: no rule holds for their addresses but the family of the source address. */
const lookupOf =
  ({ resolve, localAddress, signal }: TunnelOptions): LookupFunction =>
  (hostname, { all }, callback) => {
    const family = isIP(localAddress ?? '')
    resolve(hostname, signal, true)
      .then((found) => {
        const usable = found.filter((each) => family === 0 || each.family === family)
        const [first] = usable
        if (!first) throw new Error(`no IPv${family} address`)
        if (all) callback(null, [...usable])
        else callback(null, first.address, first.family)
      })
      .catch((error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ''))
  }

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : error.message)

/** Connects to the proxy itself. @throws ProxyFailed */
export function reachProxy({ host, port, isSecure }: HttpProxy, options: TunnelOptions): Promise<Socket> {
  const { localAddress, ca, timeoutMs, signal } = options
  const to = { host, port, lookup: lookupOf(options), ...(localAddress === undefined ? {} : { localAddress }) }
  const secure = { ...(isIP(host) === 0 ? { servername: host } : {}), ...(ca === undefined ? {} : { ca }) }
  return new Promise((resolve, reject) => {
    const socket: Socket = isSecure ? connectTls({ ...to, ...secure }) : connectPlain(to)
    const stopWaiting = systemClock.timer(timeoutMs * part, () => fail('no connection in time'))
    const aborted = (): void => fail('the relay is shutting down')
    const failed = (error: Error): void => fail(codeOf(error))

    function end(): void {
      stopWaiting()
      signal.removeEventListener('abort', aborted)
    }
    function fail(why: string): void {
      end()
      socket.destroy()
      reject(new ProxyFailed(`the proxy cannot be reached (${why})`, 'unreachable'))
    }

    signal.addEventListener('abort', aborted)
    // It stays: until the connection is handed on, nothing else listens.
    socket.on('error', failed)
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      end()
      resolve(socket)
    })
  })
}

/** What the beginning of a response to a CONNECT says: how long its head is, the failure that it is, or that more is to come. */
function headOf(begin: Buffer): number | ProxyFailed | 'more' {
  const line = begin.toString('latin1', 0, exampleLine.length)
  const isHttp = statusLine.test(line + exampleLine.slice(line.length))
  if (!isHttp) return new ProxyFailed('the proxy gave a response that is not HTTP', 'unusable')
  const end = begin.indexOf('\r\n\r\n')
  if ((end === -1 ? begin.length : end) > maxHeadBytes)
    return new ProxyFailed('the proxy gave a response without an end', 'unusable')
  if (end === -1) return 'more'
  const status = line.slice(statusAt, statusAt + 3)
  if (status.startsWith('2')) return end + 4
  if (status !== '407') return new ProxyFailed(`the proxy made no connection to the endpoint (${status})`, 'endpoint')
  return new ProxyFailed('the proxy refuses the credentials of the setting `proxy`, or the endpoint (407)', 'unusable')
}

const statusLine = /^HTTP\/1\.[01] \d{3}[ \r]/
const exampleLine = 'HTTP/1.1 200 '
const statusAt = 9

/** Sends a CONNECT and reads its response. @throws ProxyFailed, BadResponse */
function requestTunnel(socket: Socket, request: string, milliseconds: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let begin: Buffer = Buffer.alloc(0)
    const dropInformational = informationalFilter()
    const stopWaiting = systemClock.timer(milliseconds, () =>
      fail(new ProxyFailed('the proxy gave no response in time', 'endpoint')),
    )
    const closed = (): void => fail(new ProxyFailed('the proxy closed the connection without a response', 'endpoint'))

    function end(): void {
      stopWaiting()
      socket.off('readable', read)
      socket.off('close', closed)
      signal.removeEventListener('abort', closed)
    }
    function fail(error: Error): void {
      end()
      socket.destroy()
      reject(error)
    }

    function read(): void {
      const piece: Buffer | null = socket.read()
      if (piece === null) return
      try {
        begin = Buffer.concat([begin, dropInformational(piece)])
      } catch {
        fail(new ProxyFailed('the proxy gave informational responses without an end', 'unusable'))
        return
      }
      // The beginning of a status line, or an informational response alone.
      if (begin.length === 0) return
      const head = headOf(begin)
      if (head instanceof ProxyFailed) fail(head)
      else if (head !== 'more') {
        // Bytes after it are the receiver's, which speaks before the request.
        if (begin.length > head) fail(new BadResponse('bytes before the request'))
        else {
          end()
          resolve(socket)
        }
      }
    }

    socket.on('readable', read)
    socket.on('close', closed)
    signal.addEventListener('abort', closed)
    socket.write(request)
  })
}
