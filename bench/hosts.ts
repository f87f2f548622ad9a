/**
 * `npm run bench:hosts`: what it costs to mount the API in a host, beside a route of the host's own that responds with the
 * same member. The difference on node:http is the cost of the API itself. A host may add to its own route's cost and to that
 * one at most a tenth. Costs are the server's own processor time for each request.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLoad } from './http/load.ts'
import type { BenchRequest } from './http/scenarios.ts'
import { firstMember } from './http/seeded.ts'
import { type Server, start } from './http/start.ts'
import { moveTo } from './support/cores.ts'
import { spreadOf, whole } from './support/figures.ts'
import { optionsOf } from './support/options.ts'
import { machine, printReport } from './support/report.ts'

const values = optionsOf('npm run bench:hosts', 'Measures what it costs to mount the API in a host, in one run.', {
  hosts: { default: 'express,fastify,koa,hono', means: 'hosts beside node:http' },
  seconds: { default: '2', means: 'seconds of each measurement' },
  rounds: { default: '5', means: 'rounds; medians are shown' },
  json: { default: '', means: 'a file that gets all figures as JSON' },
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
const hosts = ['node', ...values.hosts.split(',').filter((name) => name !== '')]

const own = (): BenchRequest => ({ method: 'GET', path: `/own/${firstMember}`, headers: {} })
const ofApi = ({ token }: Server): BenchRequest => ({
  method: 'GET',
  path: `/admin/v1/networks/1/members/${firstMember + Math.floor(Math.random() * 1000)}/`,
  headers: { authorization: `Bearer ${token}` },
})

moveTo('load')
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-hosts-'))
const closing: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })]
try {
  const load = startLoad()
  closing.push(() => load.stop())
  const servers: Server[] = []
  for (const host of hosts) {
    const server = await start(host, 0, ['host.ts', host, join(directory, host)], () => {})
    closing.push(() => server.child.disconnect())
    servers.push(server)
  }
  const costs = new Map(servers.map((server) => [server, { own: [] as number[], api: [] as number[] }]))
  for (let round = 0; round <= rounds; round++) {
    for (const [server, found] of costs) {
      const figures = { own: await load.measure(server, own, seconds), api: await load.measure(server, ofApi, seconds) }
      // The first round warms up.
      if (round === 0) continue
      found.own.push(figures.own.cpu)
      found.api.push(figures.api.cpu)
    }
    if (round > 0) console.log(`round ${round} of ${rounds} done`)
  }
  const [alone] = [...costs.values()]
  const rows = [...costs].map(([{ name }, found]) => {
    const expected = found.own.map((cost, round) => cost + (alone?.api[round] ?? 0) - (alone?.own[round] ?? 0))
    const beyond = found.api.map((cost, round) => (cost / (expected[round] ?? cost) - 1) * 100)
    return { name, own: spreadOf(found.own), api: spreadOf(found.api), expected: spreadOf(expected), beyond: spreadOf(beyond) }
  })
  const conditions = { ...machine('server on one core, load generator on another'), connections: 32, rounds, seconds }
  const columns = ['host', 'own route µs', 'API µs', 'own route + API alone', 'above that %', 'of rounds']
  const cells = rows.map(({ name, own, api, expected, beyond }) => [
    name === 'node' ? 'node:http' : name,
    ...[own, api, expected].map(({ median }) => whole(median)),
    beyond.median.toFixed(0),
    `${beyond.lowest.toFixed(0)} to ${beyond.highest.toFixed(0)}`,
  ])
  printReport({ conditions, tables: [{ title: 'Processor time of a read by id', columns, rows: cells }] }, values.json)
} finally {
  for (const close of closing.reverse()) await close()
}
