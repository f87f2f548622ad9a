/** The receiver: takes every delivery, remembers each id, and says when it has all of them. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let wanted = 0
/** Milliseconds that an answer takes. */
let slowness = 0
let seen = new Set<string>()
let deliveries = 0
let lags: number[] = []

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const now = Date.now()
    if (slowness === 0) response.writeHead(204).end()
    else setTimeout(() => response.writeHead(204).end(), slowness)
    const { event_id, payload } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    deliveries++
    seen.add(event_id)
    lags.push(now - payload.sent_at)
    if (seen.size === wanted) report(now)
  })
})

function report(at: number): void {
  const sorted = lags.toSorted((a, b) => a - b)
  const quantile = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
  process.send?.({ at, distinct: seen.size, deliveries, p50: quantile(0.5), p99: quantile(0.99) })
}

process.on('message', ({ expect, answerAfter = 0 }: { expect: number; answerAfter?: number }) => {
  wanted = expect
  slowness = answerAfter
  seen = new Set()
  deliveries = 0
  lags = []
  process.send?.('expecting')
})
process.on('disconnect', () => process.exit(0))
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
