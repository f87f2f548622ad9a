/**
 * The receiver: takes every delivery, remembers each id, and reports when it has all of them. It reads a request no further
 * than it must, and responds with ready bytes. So the sender is the limit, and not the receiver.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { type Received, warm } from './made.ts'

interface Expected {
  readonly expect: number
  /** Milliseconds that a response takes. */
  readonly respondAfter: number
}

const noContent = Buffer.from('HTTP/1.1 204 No Content\r\n\r\n')
const headEnd = Buffer.from('\r\n\r\n')
const sentAt = Buffer.from('"sent_at":')

let wanted = 0
let slowness = 0
let seen = new Uint8Array()
let distinct = 0
let deliveries = 0
let began = 0
let lags: number[] = []
let hundredths: number[] = []

function note(head: string, request: Buffer): void {
  const place = Number(/\r\nwebhook-id: [\w-]+-(\d{12})\r\n/i.exec(head)?.[1])
  if (deliveries === 0) began = performance.now()
  deliveries++
  const from = request.indexOf(sentAt) + sentAt.length
  lags.push(Date.now() - Number(request.toString('latin1', from, from + 13)))
  if (seen[place] !== 0) return
  seen[place] = 1
  distinct++
  while (hundredths.length < 100 && distinct * 100 >= wanted * (hundredths.length + 1)) {
    hundredths.push(performance.now() - began)
    if (hundredths.length === warm) process.send?.('warm')
  }
  if (distinct === wanted) report()
}

function report(): void {
  const sorted = Float64Array.from(lags).sort()
  const quantile = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  const received: Received = { at: Date.now(), distinct, deliveries, hundredths, p50: quantile(0.5), p99: quantile(0.99) }
  process.send?.(received)
}

function serve(socket: Socket): void {
  let kept: Buffer | undefined
  const respond = () => void socket.write(noContent)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    const bytes = kept ? Buffer.concat([kept, chunk]) : chunk
    kept = bytes
    const end = bytes.indexOf(headEnd)
    if (end < 0) return
    const head = bytes.toString('latin1', 0, end + 2)
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1])
    if (bytes.length < end + headEnd.length + length) return
    kept = undefined
    note(head, bytes)
    if (slowness === 0) respond()
    else setTimeout(respond, slowness)
  })
}

process.on('message', ({ expect, respondAfter }: Expected) => {
  wanted = expect
  slowness = respondAfter
  seen = new Uint8Array(expect)
  distinct = 0
  deliveries = 0
  lags = []
  hundredths = []
  process.send?.('expecting')
})
process.on('disconnect', () => process.exit(0))
const server = createServer({ noDelay: true }, serve)
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
