/**
 * `npm run bench:far`: relays whose database is far away. One relay's way to PostgreSQL takes its time, the other's doesn't, and each has
 * half of the endpoints when that begins. Shown is how long an endpoint of the far one is sent nothing, and how many round trips
 * lie between its bursts. With `--relays 1` the far relay is alone.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { postgresStorage } from '../adapters/storage/postgres.ts'
import { startPostgres } from './relay/processes.ts'
import { farNetworkTo } from './support/far-network.ts'
import { middle } from './support/figures.ts'
import { optionsOf } from './support/options.ts'
import { machine, printReport } from './support/report.ts'

const values = optionsOf('npm run bench:far', 'Measures a relay that is far from its database, beside one that is near.', {
  'round-trips': { default: '50,100,200,500,800,1500', means: 'milliseconds, each in a run of its own' },
  seconds: { default: '20', means: 'of each run' },
  relays: { default: '2', means: 'how many there are; one of them is far' },
  lease: { default: '4', means: 'seconds' },
  timeout: { default: '1.5', means: 'seconds of an attempt' },
  endpoints: { default: '8', means: 'of one network' },
  every: { default: '20', means: 'milliseconds between two events, each to all endpoints' },
  order: { default: 'none', means: 'of the endpoints: none, fifo, subject' },
  log: { default: '', means: 'anything: shows what the far relay reports' },
  json: { default: '', means: 'a file that gets all figures as JSON' },
})
const [seconds, every, endpoints] = [Number(values.seconds), Number(values.every), Number(values.endpoints)]
const order = values.order === 'fifo' || values.order === 'subject' ? values.order : 'none'

const arrivals = new Map<string, number[]>()
const receiver = createServer((request, response) => {
  request.resume()
  arrivals.get(request.url ?? '')?.push(performance.now())
  response.writeHead(204).end()
}).listen(0, '127.0.0.1')
await new Promise((listening) => receiver.once('listening', listening))
const receiverPort = (receiver.address() as AddressInfo).port

const postgres = await startPostgres()
const admin = new pg.Client({ connectionString: postgres.url })
await admin.connect()
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-far-'))

interface Process {
  readonly child: ChildProcess
  readonly faults: Map<string, number>
  ended: boolean
}

function relay(outbox: string): Process {
  const config = join(directory, 'relay.json')
  const settings = { allowHttp: true, allowPrivate: true, lease: Number(values.lease), timeout: Number(values.timeout) }
  writeFileSync(config, JSON.stringify(settings))
  const child = spawn(process.execPath, [
    ...['--disable-warning=ExperimentalWarning', 'daemon/bin/folkmoot-relay.ts', 'run'],
    ...['--outbox', outbox, '--config', config, '--json'],
  ])
  const faults = new Map<string, number>()
  let rest = ''
  child.stdout.on('data', (bytes) => {
    const lines = (rest + String(bytes)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { message, what, reason } = JSON.parse(line) as Readonly<Record<string, string>>
      if (message === 'fault') faults.set(`${what}: ${reason}`, (faults.get(`${what}: ${reason}`) ?? 0) + 1)
    }
  })
  child.stderr.on('data', (bytes) => process.stderr.write(bytes))
  const started: Process = { child, faults, ended: false }
  child.once('exit', () => {
    started.ended = true
  })
  return started
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await setTimeout(50)
}

/** Milliseconds between two of its moments and its ends, the longest first. */
const gapsOf = (moments: readonly number[], begin: number, end: number): readonly number[] =>
  [begin, ...moments.filter((at) => at > begin && at < end), end].map((at, place, all) => at - (all[place - 1] ?? at)).slice(1)

async function measure(roundTrip: number, run: number): Promise<readonly string[]> {
  const schema = `far_${run}`
  const storage = await postgresStorage({ url: postgres.url, schema, tables: [] })
  const network = await farNetworkTo(Number(new URL(postgres.url).port))
  const through = Object.assign(new URL(postgres.url), { port: String(network.port) })
  const far = relay(`${through.href}?schema=${schema}`)
  const near = values.relays === '1' ? undefined : relay(`${postgres.url}?schema=${schema}`)
  const relays = [far, ...(near ? [near] : [])]
  try {
    const base = {
      kind: 'endpoint',
      action: 'upsert',
      network_id: '1',
      key: 'k',
      secrets: [],
      events: null,
      enabled: true,
    } as const
    const paths = Array.from({ length: endpoints }, (_, id) => `/${run}/${id}`)
    for (const path of paths) arrivals.set(path, [])
    await storage.transaction((tx) =>
      tx.append(
        paths.map((path, id) => ({
          ...base,
          ...{ id: String(id), url: `http://127.0.0.1:${receiverPort}${path}`, audience: 'integration', order },
          rate_per_second: null,
        })),
      ),
    )
    const query = async (text: string) => (await admin.query(text.replaceAll('$', `${schema}_relay`))).rows
    await until(async () => {
      const rows = await query('SELECT relay, count(*)::int AS n FROM $.leases GROUP BY 1').catch(() => [])
      return rows.length === relays.length && rows.every(({ relay, n }) => relay && n === endpoints / relays.length)
    })
    let posting = true
    let posted = 0
    const posts = (async () => {
      for (let next = performance.now(); posting; next += every) {
        const event_id = `e${posted++}`
        await storage.transaction((tx) =>
          tx.append([
            {
              ...{ kind: 'event', network_id: '1', event_id, event_type: 'PostCreatedHook', audience: 'integration' },
              ...{ event_timestamp: new Date().toISOString(), body: JSON.stringify({ event_id }), subject: `s${posted % 50}` },
            } as const,
          ]),
        )
        await setTimeout(Math.max(0, next + every - performance.now()))
      }
    })()
    // Until each endpoint is known to be quick.
    await setTimeout(4_000)
    const [own] = await query(
      `SELECT json_agg('/${run}/' || e.id) AS paths FROM $.leases l JOIN $.endpoints e ON e.ref = l.endpoint
       JOIN $.relays r ON r.id = l.relay WHERE (r.process->>'pid')::int = ${far.child.pid}`,
    )
    const farPaths = new Set<string>(own?.paths ?? [])
    network.roundTrip = roundTrip
    const begin = performance.now()
    await setTimeout(seconds * 1000)
    const end = performance.now()
    posting = false
    await posts
    const some = (isFar: boolean) => paths.filter((path) => farPaths.has(path) === isFar)
    const moments = (path: string) => arrivals.get(path) ?? []
    const longest = (isFar: boolean) => Math.max(0, ...some(isFar).flatMap((path) => gapsOf(moments(path), begin, end)))
    const count = (isFar: boolean) =>
      some(isFar).reduce((sum, path) => sum + moments(path).filter((at) => at > begin && at < end).length, 0)
    // Within a burst of an endpoint its gaps are shorter than half of a round trip.
    const bursts = some(true)
      .flatMap((path) => gapsOf(moments(path), begin, end))
      .filter((gap) => gap > roundTrip / 2)
    const lost = [...far.faults].reduce((sum, [text, n]) => sum + (/^the lease was lost/.test(text) ? n : 0), 0)
    const now = await query(
      `SELECT count(*)::int AS n FROM $.leases l JOIN $.relays r ON r.id = l.relay WHERE (r.process->>'pid')::int = ${far.child.pid}`,
    )
    if (values.log) console.log(roundTrip, [...far.faults])
    return [
      `${roundTrip} ms`,
      (longest(true) / 1000).toFixed(1),
      bursts.length === 0 ? '–' : (middle(bursts) / roundTrip).toFixed(1),
      String(count(true)),
      near ? String(count(false)) : '–',
      near ? (longest(false) / 1000).toFixed(1) : '–',
      String(lost),
      String(now[0]?.n ?? 0),
    ]
  } finally {
    network.roundTrip = 0
    for (const { child } of relays) child.kill('SIGKILL')
    await until(async () => relays.every(({ ended }) => ended))
    await network.stop()
    await storage.close()
  }
}

try {
  const rows: (readonly string[])[] = []
  for (const [run, roundTrip] of values['round-trips'].split(',').map(Number).entries()) {
    rows.push(await measure(roundTrip, run))
    console.log(rows.at(-1)?.join('  '))
  }
  const columns = [
    ...['round trip', 'longest unserved, s', 'round trips between bursts', 'its events', 'the other’s events'],
    ...['the other’s longest, s', 'leases lost', 'its endpoints at the end'],
  ]
  const title = `Relays: ${values.relays}, of which one is far; lease ${values.lease} s, time-out ${values.timeout} s, order ${order}`
  printReport(
    {
      conditions: { ...machine('all processes share all cores'), seconds, endpoints, every },
      tables: [{ title, columns, rows }],
    },
    values.json,
  )
} finally {
  await admin.end()
  await postgres.stop()
  receiver.close()
  rmSync(directory, { recursive: true, force: true })
}
