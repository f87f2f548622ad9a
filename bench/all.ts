/**
 * `npm run bench:all`: measures everything in turn, and writes `docs/performance.md` and the pages below it from that. A benchmark
 * that fails leaves its section as it was, and the end names it. Nothing else should run on the machine.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { optionsOf } from './support/options.ts'

const root = join(import.meta.dirname, '..')

/** In their order, with the options that make them short. */
const benchmarks: readonly (readonly [name: string, short: string])[] = [
  ['isolation', '--rounds 1 --seconds 2'],
  ['api', '--rounds 1 --seconds 0.5'],
  ['lists', '--members 2000 --rounds 5'],
  ['rows', '--sizes 500,2000'],
  ['relay', '--rounds 1 --count 5000 --rates 500 --seconds 2'],
  ['hosts', '--rounds 1 --seconds 0.5'],
  ['start', '--rounds 2'],
  ['cluster', '--rounds 1 --count 4000 --slow-count 1000'],
  ['backlog', '--count 50000 --drain 5'],
  ['scale', '--rounds 1 --seconds 0.5 --warm 1 --count 1000 --endpoints 500'],
]

const values = optionsOf('npm run bench:all', 'Measures everything in turn, and writes docs/performance.md.', {
  only: { default: benchmarks.map(([name]) => name).join(','), means: 'benchmarks to run' },
  short: { default: 'no', means: 'yes: a few seconds each, to try the benchmarks rather than to measure' },
  into: { default: 'docs/performance', means: 'directory of the figures; the page follows only from this one' },
})
const only = values.only.split(',')
const unknown = only.filter((name) => !benchmarks.some(([known]) => known === name))
if (unknown.length > 0) throw new Error(`--only: there is no benchmark ${unknown.join(', ')}`)

const node = (file: string, ...options: readonly string[]): boolean =>
  spawnSync(process.execPath, [join(root, file), ...options], { cwd: root, stdio: 'inherit' }).status === 0

const into = resolve(root, values.into)
mkdirSync(into, { recursive: true })
const failed: string[] = []
for (const [name, short] of benchmarks) {
  if (!only.includes(name)) continue
  console.log(`\n== ${name}`)
  // It starts the built programs.
  if (name === 'start' && !node('scripts/build.ts')) failed.push('build')
  const options = values.short === 'yes' ? short.split(' ') : []
  if (!node(`bench/${name}.ts`, ...options, '--json', join(into, `${name}.json`))) failed.push(name)
}
if (values.into === 'docs/performance') {
  if (!node('scripts/performance-page.ts')) failed.push('docs/performance.md')
  if (!node('scripts/scale-figures.ts')) failed.push('docs/operating/scale.md')
}
console.log(failed.length === 0 ? '\nall done' : `\nFAILED: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
