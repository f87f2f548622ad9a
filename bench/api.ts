/**
 * `npm run bench`: the API over memory, lowdb, SQLite and PostgreSQL. Beside it run frameworks that respond with the same values
 * from memory. Small servers over the same engines show how fast these can be. Every ratio is to a bare node:http server that
 * parses and stringifies the same values. The server that is measured has a core for itself; databases and the load generator
 * have another. Rounds go over all servers and requests. Compare ratios within one run, never figures of two runs.
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import pg from 'pg'
import { type Column, table } from '../daemon/table.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { type Figures, type Load, startLoad, usualConnections } from './http/load.ts'
import { modelsOf } from './http/models.ts'
import type { Models } from './http/records.ts'
import { type Deep, pageLength, type Scenario, scenariosOf, walk, wantedPage } from './http/scenarios.ts'
import { type Server, start, usageOf } from './http/start.ts'
import { moveTo, pinned } from './support/cores.ts'
import { middle, ratioOf, spreadOf, whole } from './support/figures.ts'
import { optionsOf } from './support/options.ts'

const values = optionsOf('npm run bench', 'Measures the API over each engine, beside its peers, in one run.', {
  engines: { default: 'memory,lowdb,sqlite,postgres', means: 'storages of the API' },
  members: { default: '1000', means: 'sizes of the network, as 1000,100000,1000000' },
  peers: {
    default: 'express,fastify,hono,json-server,limit-sqlite,limit-sqlite-lists,limit-postgres',
    means: 'what is measured beside it',
  },
  only: { default: '', means: 'requests to measure, as byId,list,post; all of them if empty' },
  seconds: { default: '2', means: 'seconds of each measurement' },
  rounds: { default: '3', means: 'rounds; medians are shown' },
  warm: { default: '10', means: 'most seconds in which a server warms up for each request, before the first round' },
  postgres: { default: '', means: 'URL of a database to use, in schemas that are dropped; else PostgreSQL comes from npm' },
  json: { default: '', means: 'a file that gets all figures as JSON' },
})
const [seconds, rounds, warm] = [Number(values.seconds), Number(values.rounds), Number(values.warm)]
/** After so many requests of a kind V8 compiles little more. */
const warmRequests = 40_000
const sizes = values.members.split(',').map(Number)
const listed = (names: string): readonly string[] => names.split(',').filter((name) => name !== '')
const [engines, peers, only] = [listed(values.engines), listed(values.peers), listed(values.only)]
/** More of them are not kept in memory: it is the storage of tests. */
const mostInMemory = 100_000

/** Connections of readers, and of writers beside them: neither keeps the server busy by itself. */
const few = 4

moveTo('load')
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-'))
const closing: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })]

/** How far something is: over and over in one line on a terminal, now and then in a log. */
let shownAt = 0
function showProgress(sentence: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${sentence}`)
  else if (Date.now() - shownAt > 10_000) {
    shownAt = Date.now()
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
const url = engines.includes('postgres') || peers.includes('limit-postgres') ? await postgresUrl() : ''

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
interface Filled {
  readonly engine: string
  readonly members: number
  readonly seconds: number
  readonly opening: number
  readonly file: string
  readonly memory: number
}
const filled: Filled[] = []

async function startEngine(engine: string, members: number): Promise<void> {
  const { file, args } = placeOf(engine, members)
  if (engine === 'memory' && members > mostInMemory) return
  try {
    const server = await start(engine, members, ['api.ts', ...args, String(members)], showProgress)
    closing.push(() => server.child.disconnect())
    const size = file ? whole(statSync(file).size / 2 ** 20) : ''
    const { mebibytes } = await usageOf(server)
    filled.push({ engine, members, seconds: server.seedSeconds, opening: server.openSeconds, file: size, memory: mebibytes })
    deep.set(server, await walk(server, showProgress))
    servers.push(server)
    done(`${engine} has ${whole(members)} members`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    done(`${engine} cannot hold ${whole(members)} members: ${reason}`)
  }
}

/** Programs of the peers, with their arguments. */
function programOf(peer: string): readonly [string, ...string[]] {
  if (peer === 'bare') return ['bare.ts']
  if (peer === 'limit-sqlite' || peer === 'limit-sqlite-lists') return ['limit.ts', peer.slice(6), join(directory, peer)]
  if (peer === 'limit-postgres') return ['limit.ts', 'postgres', url]
  return ['peers.ts', peer]
}

async function startPeer(peer: string, models: Models): Promise<Server> {
  const server = await start(peer, 0, programOf(peer), showProgress, models)
  closing.push(() => server.child.disconnect())
  return server
}

try {
  for (const members of sizes) for (const engine of engines) await startEngine(engine, members)
  const [model] = servers
  if (!model) throw new Error('there is no engine to measure')
  const groups = scenariosOf((server) => deep.get(server)?.path ?? deep.get(model)?.path ?? '')
    .map((group) => group.filter(({ kind }) => only.length === 0 || only.includes(kind)))
    .filter((group) => group.length > 0)
  const models = await modelsOf(model, scenariosOf(() => deep.get(model)?.path ?? '').flat())
  const bare = await startPeer('bare', models)
  const others: Server[] = []
  for (const peer of peers) others.push(await startPeer(peer, models))
  // The sizes of an engine one after the other, to be compared.
  const all = [bare, ...engines.flatMap((engine) => servers.filter(({ name }) => name === engine)), ...others]
  const load = startLoad()
  closing.push(() => load.stop())

  const fillings: readonly Column<Filled>[] = [
    { title: 'engine', cell: ({ engine }) => engine },
    { title: 'members', cell: ({ members }) => whole(members) },
    { title: 'filling s', cell: ({ seconds }) => seconds.toFixed(1) },
    { title: 'opening s', cell: ({ opening }) => opening.toFixed(2) },
    { title: 'file MiB', cell: ({ file }) => file },
    { title: 'memory MiB', cell: ({ memory }) => whole(memory) },
  ]
  console.log(`\n${table(fillings, filled, { empty: '', now: 0 })}`)
  const figures: Measured = new Map(groups.flat().map(({ name }) => [name, new Map(all.map((server) => [server, []]))]))
  for (let round = 0; round < rounds; round++) {
    // Round after round over everything, so that all of it has the same good and bad moments.
    for (const group of groups)
      for (const server of all)
        for (const { name, request } of group) {
          showProgress(`round ${round + 1} of ${rounds}: ${name}, ${server.name} ${server.members || ''}`)
          if (round === 0) await warmUp(load, server, request)
          figures
            .get(name)
            ?.get(server)
            ?.push(await load.measure(server, request, seconds))
        }
    done(`round ${round + 1} of ${rounds} done; load average ${loadavg()[0]?.toFixed(1)}`)
  }
  report(figures, bare, await besideWrites(load, groups.flat()))
} finally {
  for (const close of closing.reverse()) await close()
}

/** Sends requests until code is compiled. The threads that compile it share the core of the server, so a cold round shows them as well. */
async function warmUp(load: Load, server: Server, request: Scenario['request']): Promise<void> {
  const end = performance.now() + warm * 1000
  for (let responses = 0; responses < warmRequests && performance.now() < end; ) {
    const part = Math.min(0.5, warm)
    responses += (await load.measure(server, request, part)).perSecond * part
  }
}

/** How much writes that never pause slow down the slowest hundredth of reads: their p99 beside them ÷ their p99 alone. */
async function besideWrites(load: Load, scenarios: readonly Scenario[]): Promise<readonly string[]> {
  const [read, write] = ['byId', 'post'].map((wanted) => scenarios.find(({ kind }) => kind === wanted))
  if (!read || !write) return []
  const writing = startLoad()
  closing.push(() => writing.stop())
  const sentences: string[] = []
  for (const server of servers) {
    const [alone, beside]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      showProgress(`reads next to writes, ${server.name}, round ${round + 1} of ${rounds}`)
      alone.push((await load.measure(server, read.request, seconds, few)).p99)
      const writes = writing.measure(server, write.request, seconds + 0.5, few)
      await new Promise((resolve) => setTimeout(resolve, 250))
      beside.push((await load.measure(server, read.request, seconds, few)).p99)
      await writes
    }
    const ratio = ratioOf(beside, alone).median.toFixed(1)
    const [one, other] = [middle(alone), middle(beside)].map((milliseconds) => milliseconds.toFixed(1))
    sentences.push(
      `${server.name} of ${whole(server.members)}: p99 of reads ${one} ms alone, ${other} ms next to writes, × ${ratio}`,
    )
  }
  return sentences
}

function report(figures: Measured, bare: Server, beside: readonly string[]): void {
  const conditions = {
    node: process.version,
    processor: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    cores: pinned ? 'server on one core; load generator and databases on another' : 'not pinned: there is no taskset here',
    connections: usualConnections,
    rounds,
    seconds,
  }
  const rows = [...figures].flatMap(([request, found]) => {
    const limit = found.get(bare) ?? []
    const of = (each: readonly Figures[], figure: keyof Figures): number[] => each.map((one) => one[figure])
    return [...found].map(([server, each]) => ({
      request,
      server: server.name,
      members: server.members,
      perSecond: spreadOf(of(each, 'perSecond')),
      ratio: ratioOf(of(each, 'perSecond'), of(limit, 'perSecond')),
      cpuRatio: ratioOf(of(limit, 'cpu'), of(each, 'cpu')),
      p50: spreadOf(of(each, 'p50')),
      p99: spreadOf(of(each, 'p99')),
      cpu: spreadOf(of(each, 'cpu')),
    }))
  })
  type Row = (typeof rows)[number]
  const columns: readonly Column<Row>[] = [
    { title: 'server', cell: ({ server }) => server, fits: 'whole' },
    { title: 'members', cell: ({ members }) => (members ? whole(members) : '') },
    { title: 'requests/s', cell: ({ perSecond }) => whole(perSecond.median) },
    { title: '× bare', cell: ({ ratio }) => ratio.median.toFixed(2) },
    { title: 'of rounds', cell: ({ ratio }) => `${ratio.lowest.toFixed(2)}–${ratio.highest.toFixed(2)}` },
    { title: 'p99 ms', cell: ({ p99 }) => p99.median.toFixed(1) },
    { title: 'CPU µs', cell: ({ cpu }) => whole(cpu.median) },
    { title: '× bare', cell: ({ cpuRatio }) => cpuRatio.median.toFixed(2) },
  ]
  console.log(
    `\n${Object.entries(conditions)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n')}`,
  )
  for (const name of figures.keys())
    console.log(
      `\n${name}\n${table(
        columns,
        rows.filter(({ request }) => request === name),
        { empty: '', now: 0 },
      )}`,
    )
  const growth = [...conclusions(figures), ...beside]
  for (const sentence of growth) console.log(sentence)
  if (values.json) writeFileSync(values.json, `${JSON.stringify({ conditions, rows, growth }, null, 2)}\n`)
}

/**
 * Ratios that must not grow: a page with its place in the list, a record with the number of records. Each is the median of
 * what the rounds say, the two things having been measured close together.
 */
function conclusions(figures: Measured): string[] {
  const named = (part: string) => [...figures].find(([name]) => name.includes(part))?.[1]
  const [byId, first, late] = [named('{id}'), named(`per_page=${pageLength}`), named('late page')]
  const compared = (what: string, a: readonly Figures[] = [], b: readonly Figures[] = []): string => {
    const ratio = (of: (one: Figures, other: Figures) => number): string =>
      middle(a.flatMap((one, round) => (b[round] ? [of(one, b[round])] : []))).toFixed(2)
    return `${what}: time × ${ratio((x, y) => y.perSecond / x.perSecond)}, CPU × ${ratio((x, y) => x.cpu / y.cpu)}`
  }
  const pageNames = (page: number): string => {
    if (page === 0) return 'the same page twice'
    return page === wantedPage ? `page ${whole(page)} ÷ first page` : `page ${page}, the last full one, ÷ first page`
  }
  const pages = servers
    .filter((server) => late?.has(server))
    .map((server) => {
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
