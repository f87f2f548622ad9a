/** The receiver: takes every delivery, remembers each id, and says when it has all of them. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let wanted = 0
let seen = new Set<string>()
let deliveries = 0
let lags: number[] = []

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const now = Date.now()
    response.writeHead(204).end()
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

process.on('message', ({ expect }: { expect: number }) => {
  wanted = expect
  seen = new Set()
  deliveries = 0
  lags = []
  process.send?.('expecting')
})
process.on('disconnect', () => process.exit(0))
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
