/** Plain HTTP on the port of a server that speaks TLS: a sentence in place of a connection that is cut without a word. */
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import { jsonResponse } from '../../../lib/http/exchange.ts'
import { httpsRequired } from '../../../lib/http/steps/https.ts'

/** The first byte of every TLS connection: a record of the kind `handshake`. */
const handshake = 0x16

/** How long a refused client may continue sending before its connection is cut, in milliseconds. */
const lingerMs = 2_000

/**
 * Reads the first byte of each connection, and passes TLS on.
 * @param firstByteMs how long a connection may take to its first byte
 */
export function refusePlainHttp(server: Server, firstByteMs: number): Server {
  const secure = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const cut = () => void socket.destroy()
    socket.on('error', cut)
    socket.setTimeout(firstByteMs, cut)
    socket.once('data', (first: Buffer) => {
      socket.off('error', cut)
      socket.setTimeout(0)
      socket.off('timeout', cut)
      if (first[0] !== handshake) {
        refuse(socket, first)
        return
      }
      socket.pause()
      socket.unshift(first)
      for (const listener of secure) listener.call(server, socket)
    })
  })
  return server
}

// Nothing is parsed: every request gets one response, and its connection closes.
function refuse(socket: Socket, first: Buffer): void {
  socket.on('error', () => {})
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  timer.unref()
  socket.once('close', () => clearTimeout(timer))
  const { body } = httpsRequired()
  const { headers, body: text } = jsonResponse(403, JSON.stringify(body))
  const all = { ...headers, 'content-length': Buffer.byteLength(text ?? ''), connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const isHead = first.toString('latin1', 0, 5) === 'HEAD '
  socket.end(`HTTP/1.1 403 Forbidden\r\n${lines.join('')}\r\n${isHead ? '' : text}`)
  socket.resume()
}
