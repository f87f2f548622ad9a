/**
 * `npm run bench:isolation`: how much bad endpoints slow down 97 healthy ones. In their own network, one is dead, one drips
 * its response, and one responds with 500. In other networks, 200 and 1,000 accept and never respond: all in one network, and
 * each in another. Groups of rounds, interleaved in one run; the same 97 endpoints get the same events at the same rate. The lag
 * is from handing an event over to its arrival at the receiver.
 */
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { openOutbox } from '../adapters/outbox/file.ts'
import { startRelay } from '../daemon/relay/relay.ts'
import type { EndpointUpsert } from '../lib/outbox/record.ts'
import { atRate, eventOf, key } from './relay/made.ts'
import { whole } from './support/figures.ts'
import { optionsOf } from './support/options.ts'
import { machine, printReport } from './support/report.ts'

const healthy = 97

/** The receivers, in a separate process: `/good` takes the time, `/drip` and `/fail` do as they are called. */
async function receive(): Promise<void> {
  let lags: number[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.url === '/good') {
        const { payload } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
        lags.push(Date.now() - payload.sent_at)
        response.writeHead(204).end()
      } else if (request.url === '/drip') {
        response.writeHead(200, { 'content-length': '100000' })
        const drip = setInterval(() => response.write('x'), 500)
        response.on('close', () => clearInterval(drip))
      } else if (request.url !== '/hang') response.writeHead(500).end()
    })
  })
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening))
  process.on('message', (wanted: number) => {
    const look = setInterval(() => {
      if (lags.length < wanted) return
      clearInterval(look)
      process.send?.(lags)
      lags = []
    }, 20)
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.((server.address() as AddressInfo).port)
}

const endpoint = (id: number, url: string, network_id = '1'): EndpointUpsert => ({
  ...{ kind: 'endpoint', action: 'upsert', id: String(id), network_id, url, key, secrets: [], events: null },
  ...{ audience: 'integration', enabled: true, order: 'none', rate_per_second: null },
})

const quantile = (lags: readonly number[], part: number): number => {
  const sorted = lags.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}
const median = (numbers: readonly number[]): number => quantile(numbers, 0.5)

async function main(): Promise<void> {
  const values = optionsOf('npm run bench:isolation', 'Measures how much bad endpoints slow down healthy ones.', {
    rounds: { default: '5', means: 'rounds of each group; medians are shown' },
    rate: { default: '10', means: 'events a second, each to every endpoint' },
    seconds: { default: '10', means: 'seconds of a round' },
    json: { default: '', means: 'a file that gets all figures as JSON' },
  })
  const [rounds, rate, seconds] = [Number(values.rounds), Number(values.rate), Number(values.seconds)]
  const receivers = fork(import.meta.filename, ['receive'])
  const next = <T>(): Promise<T> => new Promise((resolve) => void receivers.once('message', (message) => resolve(message as T)))
  const origin = `http://127.0.0.1:${await next<number>()}`
  // No one listens on the last one.
  const bad = [`${origin}/drip`, `${origin}/fail`, 'http://127.0.0.1:1/'].map((url, index) => endpoint(index + 1, url))
  const good = Array.from({ length: healthy }, (_, index) => endpoint(100 + index, `${origin}/good`))

  const hanging = (count: number, networkOf: (index: number) => string): EndpointUpsert[] =>
    Array.from({ length: count }, (_, index) => endpoint(10_000 + index, `${origin}/hang`, networkOf(index)))
  const groups: readonly (readonly [name: string, others: readonly EndpointUpsert[]])[] = [
    ['alone', []],
    ['next to three bad ones', bad],
    ['200 of another network hang', hanging(200, () => '2')],
    ['1,000 of another network hang', hanging(1000, () => '2')],
    ['one hangs in each of 1,000 networks', hanging(1000, (index) => String(2 + index))],
  ]

  async function round(others: readonly EndpointUpsert[]): Promise<readonly number[]> {
    const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-isolation-'))
    const outbox = await openOutbox({ directory })
    await outbox.append([[...others, ...good]])
    const relay = await startRelay({ outbox: directory, settings: { allowHttp: true, allowPrivate: true } })
    try {
      // Connections are made and code is warm before the clock runs.
      const warm = 2 * rate
      const warmed = next<readonly number[]>()
      receivers.send(warm * healthy)
      await atRate(warm, rate, (places) => outbox.append(places.map((place) => [eventOf(place)])))
      await warmed
      // For those of other networks there is more to do than they will ever do.
      const networks = [...new Set(others.map(({ network_id }) => network_id))].filter((network_id) => network_id !== '1')
      const more = networks.length === 1 ? 20 : 2
      await outbox.append(
        networks.map((network_id, at) =>
          Array.from({ length: more }, (_, step) => ({ ...eventOf(10_000_000 + at * more + step), network_id })),
        ),
      )
      if (networks.length > 0) await new Promise((resolve) => setTimeout(resolve, 2000))
      const count = rate * seconds
      const lags = next<readonly number[]>()
      receivers.send(count * healthy)
      await atRate(count, rate, (places) => outbox.append(places.map((place) => [eventOf(warm + place)])))
      return await lags
    } finally {
      await relay.close(0)
      await outbox.close()
      rmSync(directory, { recursive: true, force: true })
    }
  }

  try {
    const lags = groups.map((): (readonly number[])[] => [])
    for (let index = 0; index < rounds; index++) {
      // Another one comes first each time.
      for (let step = 0; step < groups.length; step++) {
        const which = (index + step) % groups.length
        lags[which]?.push(await round(groups[which]?.[1] ?? []))
      }
      console.log(`round ${index + 1} of ${rounds} done`)
    }
    const at = (found: readonly (readonly number[])[], part: number): number => median(found.map((each) => quantile(each, part)))
    const alone = at(lags[0] ?? [], 0.99)
    const rows = groups.map(([name], which) => {
      const found = lags[which] ?? []
      return [
        name,
        ...[0.5, 0.9, 0.99].map((part) => at(found, part).toFixed(0)),
        `${((at(found, 0.99) / alone - 1) * 100).toFixed(1)} %`,
        found.map((each) => quantile(each, 0.99)).join(', '),
      ]
    })
    const conditions = {
      ...machine('the relay shares all cores with the receivers'),
      offered: `${whole(rate * healthy)} deliveries/s of 1 KiB`,
      rounds,
      seconds,
    }
    const columns = ['other endpoints', 'p50 ms', 'p90 ms', 'p99 ms', 'p99 moves by', 'p99 of each round']
    printReport({ conditions, tables: [{ title: `Lag of ${healthy} healthy endpoints`, columns, rows }] }, values.json)
  } finally {
    receivers.disconnect()
  }
}

if (process.argv[2] === 'receive') await receive()
else await main()
