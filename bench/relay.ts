/**
 * `npm run bench:relay`: the relay beside a bare signed undici loop, BullMQ on Redis and graphile-worker on PostgreSQL, all
 * posting the same events of 1 KiB over keep-alive to the same receiver, which checks that it got every id. In one run,
 * rounds interleaved, medians shown. Compare ratios within one run, never figures of two runs.
 *
 * Needs `redis-server` on the PATH; PostgreSQL comes from npm.
 * Options: --count N (events of a backlog, 20000), --rounds N (3), --in-flight N (64), --seconds N (at each offered rate, 10)
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { freePort, type Measured, median, startPostgres, startReceiver, whole } from './relay/processes.ts'

const number = (value: string) => ({ type: 'string', default: value }) as const
const { values } = parseArgs({
  options: { count: number('20000'), rounds: number('3'), 'in-flight': number('64'), seconds: number('10') },
})
const [count, rounds, inFlight, seconds] = [
  Number(values.count),
  Number(values.rounds),
  Number(values['in-flight']),
  Number(values.seconds),
]
const rates = [100, 500, 2000]

const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-relay-'))
const closing: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })]

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.end() !== undefined)).on('error', () => resolve(false))
  })

async function startRedis(): Promise<string> {
  const port = await freePort()
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    directory,
    '--appendonly',
    'yes',
    '--appendfsync',
    'everysec',
    '--save',
    '',
  ]
  const child = spawn('redis-server', args, { stdio: 'ignore' })
  const failed = new Promise<never>((_, reject) =>
    child.on('error', () => reject(new Error('redis-server is missing: apt-get install redis-server'))),
  )
  closing.push(() => child.kill())
  while (!(await Promise.race([answers(port), failed]))) await new Promise((resolve) => setTimeout(resolve, 50))
  return `redis://127.0.0.1:${port}`
}

const receiver = await startReceiver()
closing.push(() => receiver.stop())

const senders = ['bare', 'folkmoot', 'bullmq', 'graphile'] as const
type Sender = (typeof senders)[number]
const titles = {
  bare: 'bare signed undici loop',
  folkmoot: 'folkmoot-relay',
  bullmq: 'BullMQ',
  graphile: 'graphile-worker',
} as const

let runs = 0
const run = (sender: Sender, keptAt: string, events: number, perSecond: number | null): Promise<Measured> => {
  const kept = sender === 'folkmoot' ? join(directory, `outbox-${runs++}`) : keptAt
  return receiver.measure(events, [{ file: `${sender}.ts`, task: { count: events, keptAt: kept, inFlight, perSecond } }])
}

try {
  const redis = await startRedis()
  const postgres = await startPostgres()
  closing.push(() => postgres.stop())
  const kept: Record<Sender, string> = { bare: '', folkmoot: '', bullmq: redis, graphile: postgres.url }
  console.log(
    `Node ${process.version}, events of 1 KiB, ${inFlight} in flight, signed, keep-alive; a backlog of ${whole(count)}, ${rounds} rounds, medians`,
  )
  const seen = new Map<Sender, Measured[]>()
  for (let round = 0; round < rounds; round++) {
    for (const sender of senders) seen.set(sender, [...(seen.get(sender) ?? []), await run(sender, kept[sender], count, null)])
    console.log(`round ${round + 1} of ${rounds} done`)
  }
  const middle = (sender: Sender, figure: 'perSecond' | 'cpuSeconds' | 'peakMiB' | 'deliveries') =>
    median((seen.get(sender) ?? []).map((one) => one[figure]))
  const bare = middle('bare', 'perSecond')
  const better = Math.max(middle('bullmq', 'perSecond'), middle('graphile', 'perSecond'))
  const backlog = new Table({
    head: ['sender', 'deliveries/s', '× bare', '× better peer', 'CPU s per 100,000', 'peak MiB', 'sent twice'],
    style: { head: [], border: [] },
  })
  for (const sender of senders)
    backlog.push([
      titles[sender],
      whole(middle(sender, 'perSecond')),
      (middle(sender, 'perSecond') / bare).toFixed(2),
      (middle(sender, 'perSecond') / better).toFixed(2),
      ((middle(sender, 'cpuSeconds') / count) * 100_000).toFixed(1),
      whole(middle(sender, 'peakMiB')),
      whole(middle(sender, 'deliveries') - count),
    ])
  console.log(backlog.toString())

  const lags = new Table({ head: ['offered events/s', 'sender', 'lag p50 ms', 'lag p99 ms'], style: { head: [], border: [] } })
  for (const rate of rates) {
    for (const sender of senders.slice(1)) {
      const result = await run(sender, kept[sender], rate * seconds, rate)
      lags.push([whole(rate), titles[sender], result.p50.toFixed(0), result.p99.toFixed(0)])
    }
    console.log(`offered ${rate} a second: done`)
  }
  console.log(lags.toString())
} finally {
  for (const close of closing.reverse()) await close()
}
