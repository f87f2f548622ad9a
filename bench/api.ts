/**
 * `npm run bench`: the API over memory, lowdb, SQLite and PostgreSQL against a bare node:http server that returns the same
 * bytes, and one that makes them of the same values with each answer. All in one run, rounds over all requests, servers and
 * sizes, medians shown. Compare ratios within one run, never figures of two runs.
 *
 * Options: --members 1000,100000,1000000 (1000), --engines memory,lowdb,sqlite,postgres, --seconds N (of each measurement, 2),
 * --rounds N (3), --postgres URL (a database to use, in schemas of its own, instead of the PostgreSQL that comes from npm)
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import pg from 'pg'
import { startPostgres } from '../test/support/postgres-server.ts'
import { type Figures, load, median, middle } from './servers/load.ts'
import { type Deep, scenariosOf, walk, wantedPage } from './servers/scenarios.ts'
import { type Server, start, usageOf } from './servers/start.ts'

const { values } = parseArgs({
  options: {
    members: { type: 'string', default: '1000' },
    engines: { type: 'string', default: 'memory,lowdb,sqlite,postgres' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    postgres: { type: 'string' },
  },
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
const sizes = values.members.split(',').map(Number)
const engines = values.engines.split(',')
/** More of them are not kept in memory: it is the storage of tests. */
const mostInMemory = 100_000

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-'))
const closing: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })]

/** How far something is: over and over in one line where somebody looks, now and then where it is kept. */
let told = 0
function tell(sentence: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${sentence}`)
  else if (Date.now() - told > 10_000) {
    told = Date.now()
    console.log(sentence)
  }
}
const done = (sentence: string): void => console.log(process.stdout.isTTY ? `\r\x1b[K${sentence}` : sentence)

async function postgresUrl(): Promise<string> {
  if (values.postgres) return values.postgres
  const server = await startPostgres({ synced: true })
  closing.push(() => server.stop())
  return server.url
}
const url = engines.includes('postgres') ? await postgresUrl() : ''

/** Where an engine keeps its data: the file, if it is one, and the arguments of `api.ts`. */
function placeOf(engine: string, members: number): { readonly file?: string; readonly args: readonly [string, string] } {
  const file = join(directory, `${engine}-${members}`)
  if (engine === 'memory') return { args: ['memory:', `${file}-outbox`] }
  if (engine === 'lowdb') return { file, args: [`lowdb:${file}`, `${file}-outbox`] }
  if (engine === 'sqlite') return { file, args: [`sqlite:${file}`, ''] }
  if (engine !== 'postgres') throw new Error(`--engines: ${engine} is none of memory, lowdb, sqlite, postgres`)
  const address = new URL(url)
  const schema = `bench_${process.pid}_${members}`
  address.searchParams.set('schema', schema)
  if (values.postgres) closing.push(() => dropSchema(schema))
  return { args: [address.href, ''] }
}

async function dropSchema(schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
  await client.end()
}

/** Of each request the figures of each server, a round each. */
type Measured = ReadonlyMap<string, ReadonlyMap<Server, Figures[]>>

const servers: Server[] = []
const deep = new Map<Server, Deep>()
const filled = new Table({
  head: ['engine', 'members', 'filling s', 'opening s', 'file MiB', 'memory MiB'],
  style: { head: [], border: [] },
})

async function startEngine(engine: string, members: number): Promise<void> {
  const { file, args } = placeOf(engine, members)
  if (engine === 'memory' && members > mostInMemory) return
  try {
    const server = await start(engine, members, ['api.ts', ...args, String(members)], tell)
    closing.push(() => server.child.disconnect())
    const size = file ? whole(statSync(file).size / 2 ** 20) : ''
    const { mebibytes } = await usageOf(server)
    filled.push([engine, whole(members), server.seedSeconds.toFixed(1), server.openSeconds.toFixed(2), size, whole(mebibytes)])
    deep.set(server, await walk(server, tell))
    servers.push(server)
    done(`${engine} has ${whole(members)} members`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    filled.push([engine, whole(members), { colSpan: 4, content: `not possible: ${reason.slice(0, 120)}` }])
    done(`${engine} cannot hold ${whole(members)} members: ${reason}`)
  }
}

async function startBare(name: string, words: readonly string[], answers: object): Promise<Server> {
  const server = await start(name, 0, ['bare.ts', ...words], tell)
  closing.push(() => server.child.disconnect())
  const ready = new Promise((resolve) => server.child.once('message', resolve))
  server.child.send(answers)
  await ready
  return server
}

try {
  for (const members of sizes) for (const engine of engines) await startEngine(engine, members)
  const [model] = servers
  if (!model) throw new Error('there is no engine to measure')
  const groups = scenariosOf((server) => deep.get(server)?.path ?? deep.get(model)?.path ?? '')
  const scenarios = groups.flat()
  const answers: Record<string, string> = {}
  for (const { kind, request } of scenarios) {
    const { method, path, headers, body } = request(model)
    const response = await fetch(`http://127.0.0.1:${model.port}${path}`, { method, headers, ...(body ? { body } : {}) })
    answers[kind] ??= await response.text()
  }
  const bare = await startBare('bare node:http', [], answers)
  const stringifying = await startBare('bare, stringifying', ['stringify'], answers)
  // The sizes of an engine one after the other, to be compared.
  const all = [bare, stringifying, ...engines.flatMap((engine) => servers.filter(({ name }) => name === engine))]

  console.log(
    `Node ${process.version}, 32 connections, ${rounds} rounds of ${seconds} s, medians; load average ${loadavg()[0]?.toFixed(1)}`,
  )
  console.log(filled.toString())
  const table = new Table({
    head: ['', 'server', 'members', 'requests/s', '× bare', '× stringifying', 'p99 ms', 'CPU µs each', '× bare'],
    style: { head: [], border: [] },
  })
  const figures: Measured = new Map(scenarios.map(({ name }) => [name, new Map(all.map((server) => [server, []]))]))
  for (let round = 0; round < rounds; round++) {
    // Round after round over everything, so that all of it has the same good and bad moments.
    for (const group of groups)
      for (const server of all)
        for (const { name, request } of group) {
          tell(`round ${round + 1} of ${rounds}: ${name}, ${server.name} ${server.members || ''}`)
          // Code is warm and connections are made before the first round counts.
          if (round === 0) await load(server, request, Math.min(1, seconds))
          figures
            .get(name)
            ?.get(server)
            ?.push(await load(server, request, seconds))
        }
    done(`round ${round + 1} of ${rounds} done; load average ${loadavg()[0]?.toFixed(1)}`)
  }

  for (const [name, found] of figures) {
    const medians = new Map([...found].map(([server, each]) => [server, median(each)]))
    const [limit, second] = [medians.get(bare), medians.get(stringifying)]
    for (const [server, { perSecond, p99, cpu }] of medians)
      table.push([
        name,
        server.name,
        server.members ? whole(server.members) : '',
        whole(perSecond),
        (perSecond / (limit?.perSecond ?? 1)).toFixed(2),
        (perSecond / (second?.perSecond ?? 1)).toFixed(2),
        whole(p99),
        whole(cpu),
        ((limit?.cpu ?? 0) / cpu).toFixed(2),
      ])
  }
  console.log(table.toString())
  for (const sentence of conclusions(figures)) console.log(sentence)
} finally {
  for (const close of closing.reverse()) await close()
}

/**
 * What must not grow: a page with its place in the list, a record with the number of records. Each is the median of what the
 * rounds say, the two things having been measured close together.
 */
function conclusions(figures: Measured): string[] {
  const [byId, , first, late] = [...figures.values()]
  const compared = (what: string, a: readonly Figures[] = [], b: readonly Figures[] = []): string => {
    const ratio = (of: (one: Figures, other: Figures) => number): string =>
      middle(a.flatMap((one, round) => (b[round] ? [of(one, b[round])] : []))).toFixed(2)
    return `${what}: time × ${ratio((x, y) => y.perSecond / x.perSecond)}, CPU × ${ratio((x, y) => x.cpu / y.cpu)}`
  }
  const pageNames = (page: number): string => {
    if (page === 0) return 'the same page twice'
    return page === wantedPage ? `page ${whole(page)} ÷ first page` : `page ${page}, the last full one, ÷ first page`
  }
  const pages = [...(first?.keys() ?? [])].map((server) => {
    const members = server.members ? ` of ${whole(server.members)}` : ''
    const what = `${server.name}${members}, ${pageNames(deep.get(server)?.page ?? 0)}`
    return compared(what, late?.get(server), first?.get(server))
  })
  const records = engines.flatMap((engine) => {
    const [small, ...larger] = servers.filter(({ name }) => name === engine).toSorted((a, b) => a.members - b.members)
    return larger.map((large) => {
      const what = `${engine}, a record by id of ${whole(large.members)} ÷ of ${whole(small?.members ?? 0)}`
      return compared(what, byId?.get(large), small && byId?.get(small))
    })
  })
  return [...pages, ...records]
}
