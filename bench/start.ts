/**
 * `npm run bench:start`: how long the programs, and an import of the library, take until they are there. The result of
 * `npm run build` is started, as users have it. Node alone, with an empty program, is the measure. Rounds go over everything.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { moveTo } from './support/cores.ts'
import { ratioOf, spreadOf } from './support/figures.ts'
import { optionsOf } from './support/options.ts'
import { machine, printReport } from './support/report.ts'

const values = optionsOf('npm run bench:start', 'Measures how long the programs and an import of the library take to start.', {
  rounds: { default: '10', means: 'rounds; medians are shown' },
  json: { default: '', means: 'a file that gets all figures as JSON' },
})
const rounds = Number(values.rounds)
const built = join(import.meta.dirname, '..', 'dist')
if (!existsSync(built)) throw new Error('there is no dist/: run `npm run build` first')

const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-start-'))
const environment = { ...process.env, NODE_COMPILE_CACHE: join(directory, 'compiled') }
const program = (name: string): string => join(built, 'daemon', 'bin', `${name}.js`)
const importing = (file: string): readonly string[] => [
  '--input-type=module',
  '-e',
  `await import(${JSON.stringify(pathToFileURL(file).href)})`,
]
/** Node's own part of an import. */
const empty = join(directory, 'empty.js')
writeFileSync(empty, 'export {}')

/** A program to start, and the output that proves its start; without one its end does. */
const starts: readonly { readonly name: string; readonly args: readonly string[]; readonly ready?: string }[] = [
  { name: 'Node alone', args: ['-e', '0'] },
  { name: 'import of an empty file', args: importing(empty) },
  { name: "import 'folkmoot'", args: importing(join(built, 'lib/index.js')) },
  { name: "import 'folkmoot/node'", args: importing(join(built, 'adapters/http/node.js')) },
  { name: 'folkmoot --help', args: [program('folkmoot'), '--help'] },
  { name: 'folkmoot --version', args: [program('folkmoot'), '--version'] },
  { name: 'folkmoot-relay --help', args: [program('folkmoot-relay'), '--help'] },
  {
    name: 'folkmoot serve, until it listens',
    args: [program('folkmoot'), 'serve', '--demo', '--allow-http', '--port', '0', '--json', '--storage', 'memory:'],
    ready: '"url"',
  },
]

/** Milliseconds from its start until it is there. */
async function timed({ args, ready }: (typeof starts)[number]): Promise<number> {
  const begun = performance.now()
  const child = spawn(process.execPath, args, { cwd: directory, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const { promise: there, resolve, reject } = Promise.withResolvers<number>()
  let output = ''
  const onOutput = (text: string): void => {
    output += text
    if (ready !== undefined && output.includes(ready)) resolve(performance.now() - begun)
  }
  child.stdout.setEncoding('utf8').on('data', onOutput)
  child.stderr.setEncoding('utf8').on('data', onOutput)
  const ended = new Promise<void>((done) => {
    child.on('exit', (code) => {
      if (ready === undefined && code === 0) resolve(performance.now() - begun)
      else reject(new Error(`${args.join(' ')} ended with ${code}: ${output.slice(0, 500)}`))
      done()
    })
  })
  try {
    return await there
  } finally {
    if (ready !== undefined) child.kill()
    await ended
  }
}

moveTo('load')
try {
  const found = new Map(starts.map(({ name }) => [name, [] as number[]]))
  // The first round fills the compile cache, and does not count.
  for (let round = 0; round <= rounds; round++)
    for (const start of starts) {
      const milliseconds = await timed(start)
      if (round > 0) found.get(start.name)?.push(milliseconds)
    }
  const alone = found.get('Node alone') ?? []
  const rows = [...found].map(([name, each]) => ({
    name,
    milliseconds: spreadOf(each),
    beyondNode: spreadOf(each.map((one, round) => one - (alone[round] ?? 0))),
    ratio: ratioOf(each, alone),
  }))
  const columns = ['', 'ms', 'of rounds', 'beyond Node', '× Node']
  const cells = rows.map(({ name, milliseconds, beyondNode, ratio }) => [
    name,
    milliseconds.median.toFixed(0),
    `${milliseconds.lowest.toFixed(0)}–${milliseconds.highest.toFixed(0)}`,
    beyondNode.median.toFixed(0),
    ratio.median.toFixed(2),
  ])
  const conditions = { ...machine('one core for each program'), 'compile cache': 'filled', rounds }
  printReport({ conditions, tables: [{ title: 'Until it is there', columns, rows: cells }] }, values.json)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
