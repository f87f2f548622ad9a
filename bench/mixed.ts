/**
 * `npm run bench:mixed`: what users request, one kind after the other, and as a mixed load of 70 % records by random id, 20 % lists of
 * five kinds and 10 % writes of four kinds, beside a relay that delivers what is written. With `--against` another checkout is
 * measured in the same rounds, and the ratios are this one ÷ the other. Compare ratios, never figures of two runs.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { type Column, table } from '../daemon/table.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { type Figures, startLoad } from './http/load.ts'
import { findContent, kindsOf, mixedOf } from './http/mix.ts'
import { type Server, start } from './http/start.ts'
import { moveTo, startOn } from './support/cores.ts'
import { middle, ratioOf, whole } from './support/figures.ts'
import { optionsOf } from './support/options.ts'

const values = optionsOf('npm run bench:mixed', 'Measures what users request of the API, over each engine.', {
  engines: { default: 'memory,sqlite,postgres', means: 'storages of the API' },
  members: { default: '10000', means: 'size of the network' },
  against: { default: '', means: 'another checkout, with its packages, to compare with' },
  only: { default: '', means: 'a part of the names of what is measured, as "PATCH"' },
  seconds: { default: '1', means: 'seconds of each measurement' },
  rounds: { default: '5', means: 'rounds; medians are shown' },
})
const [seconds, rounds, members] = [values.seconds, values.rounds, values.members].map(Number) as [number, number, number]

moveTo('load')
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-mixed-'))
const closing: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })]
const engines = values.engines.split(',')
const checkouts = [
  { checkout: 'this', root: join(import.meta.dirname, '..') },
  ...(values.against ? [{ checkout: 'other', root: values.against }] : []),
]

interface Measured {
  readonly engine: string
  readonly checkout: string
  readonly server: Server
}

async function startEngine(engine: string, checkout: Measured['checkout'], root: string, url: string): Promise<Measured> {
  const place = join(directory, `${engine}-${checkout}`)
  const database = new URL(url || 'postgres://none')
  database.searchParams.set('schema', `bench_${checkout}`)
  const address = { memory: 'memory:', lowdb: `lowdb:${place}`, sqlite: `sqlite:${place}`, postgres: database.href }[engine]
  if (address === undefined) throw new Error(`--engines: ${engine} is none of memory, lowdb, sqlite, postgres`)
  const outbox = engine === 'memory' || engine === 'lowdb' ? `${place}-outbox` : ''
  const relay = startOn('load', join(root, 'bench/http/relay-beside.ts'), [outbox || address])
  closing.push(() => relay.disconnect())
  const hook = await new Promise<string>((resolve) => relay.once('message', (port) => resolve(`http://127.0.0.1:${port}/`)))
  const file = join(root, 'bench/http/api.ts')
  const server = await start(engine, members, [file, address, outbox, String(members), hook], () => {})
  closing.push(() => server.child.disconnect())
  relay.send('start')
  return { engine, checkout, server }
}

interface Row {
  readonly engine: string
  readonly request: string
  readonly own: readonly Figures[]
  readonly other: readonly Figures[]
}

function report(rows: readonly Row[]): void {
  const median = (each: readonly Figures[], figure: keyof Figures): number => middle(each.map((one) => one[figure]))
  const ratio = ({ own, other }: Row, figure: keyof Figures): string => {
    if (other.length === 0) return ''
    const of = (each: readonly Figures[]) => each.map((one) => one[figure])
    const { median, lowest, highest } = ratioOf(of(own), of(other))
    return `${median.toFixed(2)} (${lowest.toFixed(2)}–${highest.toFixed(2)})`
  }
  const columns: readonly Column<Row>[] = [
    { title: 'engine', cell: ({ engine }) => engine },
    { title: 'request', cell: ({ request }) => request, fits: 'whole' },
    { title: 'requests/s', cell: ({ own }) => whole(median(own, 'perSecond')) },
    { title: 'p99 ms', cell: ({ own }) => median(own, 'p99').toFixed(1) },
    { title: 'CPU µs', cell: ({ own }) => whole(median(own, 'cpu')) },
    ...(values.against
      ? [
          { title: '× other', cell: (row: Row) => ratio(row, 'perSecond') },
          { title: 'CPU × other', cell: (row: Row) => ratio(row, 'cpu') },
        ]
      : []),
  ]
  console.log(table(columns, rows, { empty: '', now: 0 }))
}

try {
  const postgres = engines.includes('postgres') ? await startPostgres({ synced: true }) : undefined
  closing.push(() => postgres?.stop())
  const measured: Measured[] = []
  for (const engine of engines)
    for (const { checkout, root } of checkouts) measured.push(await startEngine(engine, checkout, root, postgres?.url ?? ''))
  const [first] = measured
  if (!first) throw new Error('there is no engine to measure')
  const load = startLoad()
  closing.push(() => load.stop())
  const figures = new Map<string, Figures[]>()
  const content = new Map<Server, Awaited<ReturnType<typeof findContent>>>()
  for (const { server } of measured) content.set(server, await findContent(server))
  const kinds = [...kindsOf(members), mixedOf(members)].filter(({ name }) => name.includes(values.only))
  for (let round = 0; round <= rounds; round++) {
    for (const engine of engines)
      for (const { name, request } of kinds)
        for (const { checkout, server } of measured.filter((each) => each.engine === engine)) {
          const found = content.get(server) ?? { events: [] }
          const measured = await load.measure(server, () => request(server, found), seconds)
          const key = `${engine} ${checkout} ${name}`
          // The first round warms up.
          if (round > 0) figures.set(key, [...(figures.get(key) ?? []), measured])
        }
    console.log(`round ${round} of ${rounds} done; load average ${loadavg()[0]?.toFixed(1)}`)
  }
  const rows = engines.flatMap((engine) =>
    kinds.map(({ name }) => ({
      ...{ engine, request: name },
      own: figures.get(`${engine} this ${name}`) ?? [],
      other: figures.get(`${engine} other ${name}`) ?? [],
    })),
  )
  report(rows)
} finally {
  for (const close of closing.reverse()) await close()
  process.exitCode ??= 0
}
