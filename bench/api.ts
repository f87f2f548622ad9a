/**
 * `npm run bench`: requests a second and p99 of the API against a bare node:http server that returns the same bytes, all in
 * one run, rounds interleaved, medians shown. Compare ratios within one run, never figures of two runs.
 *
 * Options: --seconds N (of each measurement, 3 by default), --rounds N (3), --members N (1000),
 * --engines memory,lowdb,sqlite, --postgres URL (an empty database; then `postgres` is an engine too)
 */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import Table from 'cli-table3'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    members: { type: 'string', default: '1000' },
    engines: { type: 'string', default: 'memory,lowdb,sqlite' },
    postgres: { type: 'string' },
  },
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
const connections = 32

interface Server {
  readonly name: string
  readonly child: ChildProcess
  readonly port: number
  readonly token: string
}

const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-'))

function start(name: string, file: string, args: readonly string[]): Promise<Server> {
  const child = fork(join(import.meta.dirname, 'servers', file), args)
  return new Promise((resolve, reject) => {
    child.once('message', (message: { port: number; token: string }) => resolve({ name, child, ...message }))
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)))
  })
}

const path = '/admin/v1/networks/1'
const post = {
  space_id: '2001',
  title: 'Morning light',
  description: 'What the sea looked like at six, and which blues it took. '.repeat(12),
}
const scenarios = [
  { name: 'GET /members/{id}/', method: 'GET', path: `${path}/members/100500/` },
  { name: 'GET /members?per_page=100', method: 'GET', path: `${path}/members?per_page=100` },
  {
    name: 'GET the last page by its link',
    method: 'GET',
    path: `${path}/members?per_page=100&page=9&after=${99_899 + Number(values.members)}`,
  },
  { name: 'POST /posts', method: 'POST', path: `${path}/posts`, body: JSON.stringify(post) },
] as const

/** CPU time that a server has used, in microseconds: on a shared machine it says more than the clock. */
function cpuOf({ child }: Server): Promise<number> {
  return new Promise((resolve) => {
    child.once('message', ({ cpu }: { cpu: NodeJS.CpuUsage }) => resolve(cpu.user + cpu.system))
    child.send('cpu')
  })
}

async function measure(server: Server, scenario: (typeof scenarios)[number]) {
  const before = await cpuOf(server)
  const result = await autocannon({
    url: `http://127.0.0.1:${server.port}${scenario.path}`,
    method: scenario.method,
    headers: { authorization: `Bearer ${server.token}`, ...('body' in scenario ? { 'content-type': 'application/json' } : {}) },
    ...('body' in scenario ? { body: scenario.body } : {}),
    connections,
    duration: seconds,
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${server.name}: ${result.non2xx} answers other than 2xx, ${result.errors} errors`)
  return {
    perSecond: result.requests.average,
    p99: result.latency.p99,
    cpu: ((await cpuOf(server)) - before) / result.requests.total,
  }
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** Where each engine keeps its data; `postgres` only where `--postgres` names a server. */
const engines: Readonly<Record<string, readonly string[]>> = {
  memory: ['memory:', join(directory, 'outbox-memory')],
  lowdb: [`lowdb:${join(directory, 'db.json')}`, join(directory, 'outbox-lowdb')],
  sqlite: [`sqlite:${join(directory, 'db.sqlite')}`, ''],
  ...(values.postgres ? { postgres: [values.postgres, ''] } : {}),
}

const servers: Server[] = []
try {
  const bare = await start('bare node:http', 'bare.ts', [])
  servers.push(bare)
  for (const engine of values.engines.split(',')) {
    const place = engines[engine]
    if (!place) throw new Error(`--engines: ${engine} is none of ${Object.keys(engines).join(', ')}`)
    servers.push(await start(`folkmoot, ${engine}`, 'api.ts', [...place, values.members]))
  }
  const model = servers[1] ?? bare

  const fetchText = async (scenario: (typeof scenarios)[number]) => {
    const response = await fetch(`http://127.0.0.1:${model.port}${scenario.path}`, {
      method: scenario.method,
      headers: { authorization: `Bearer ${model.token}`, ...('body' in scenario ? { 'content-type': 'application/json' } : {}) },
      ...('body' in scenario ? { body: scenario.body } : {}),
    })
    return response.text()
  }
  const [byId, list, posted] = [await fetchText(scenarios[0]), await fetchText(scenarios[1]), await fetchText(scenarios[3])]
  bare.child.send({ byId, list, post: posted })

  console.log(
    `Node ${process.version}, ${connections} connections, ${values.members} members, ${rounds} rounds of ${seconds} s, medians`,
  )
  const table = new Table({
    head: ['', 'server', 'requests/s', '× bare', 'p99 ms', 'CPU µs each', '× bare'],
    style: { head: [], border: [] },
    colAligns: ['left', 'left', 'right', 'right', 'right', 'right', 'right'],
  })
  for (const scenario of scenarios) {
    const seen = new Map<string, Awaited<ReturnType<typeof measure>>[]>()
    for (let round = 0; round < rounds; round++)
      for (const server of servers) seen.set(server.name, [...(seen.get(server.name) ?? []), await measure(server, scenario)])
    const middle = (name: string, figure: 'perSecond' | 'p99' | 'cpu') => median((seen.get(name) ?? []).map((one) => one[figure]))
    for (const { name } of servers) {
      const ratio = middle(name, 'perSecond') / middle(bare.name, 'perSecond')
      const cpuRatio = middle(bare.name, 'cpu') / middle(name, 'cpu')
      table.push([
        scenario.name,
        name,
        Math.round(middle(name, 'perSecond')).toLocaleString('en'),
        ratio.toFixed(2),
        middle(name, 'p99').toFixed(1),
        middle(name, 'cpu').toFixed(1),
        cpuRatio.toFixed(2),
      ])
    }
    console.log(`measured ${scenario.name}`)
  }
  console.log(table.toString())
} finally {
  for (const { child } of servers) child.disconnect()
  rmSync(directory, { recursive: true, force: true })
}
