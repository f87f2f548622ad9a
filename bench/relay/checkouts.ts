/**
 * `npx node bench/relay/checkouts.ts OTHER`: the relay of this checkout beside that of another one, for a change whose cost is smaller than
 * the noise between two runs. Both deliver the same backlog to the same receiver, in interleaved pairs, the first one changing each time.
 * Options: --count N (events of a backlog, 20000), --rounds N (pairs, 7), --in-flight N (64), --postgres (over PostgreSQL, not SQLite),
 * --ingested (the backlog is in the store before it begins)
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { middle as median, whole } from '../support/figures.ts'
import { type Measured, startPostgres, startReceiver } from './processes.ts'

const number = (value: string) => ({ type: 'string', default: value }) as const
const { values, positionals } = parseArgs({
  options: {
    count: number('20000'),
    rounds: number('7'),
    'in-flight': number('64'),
    postgres: { type: 'boolean', default: false },
    ingested: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const [other] = positionals
if (other === undefined) throw new Error('name the directory of another checkout')
const [count, rounds, inFlight] = [Number(values.count), Number(values.rounds), Number(values['in-flight'])]

const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-checkouts-'))
const receiver = await startReceiver()
const postgres = values.postgres ? await startPostgres() : undefined
const sides = ['this', 'other'] as const
const file = postgres ? 'cluster.ts' : 'folkmoot.ts'
const files = { this: file, other: resolve(other, 'bench/relay', file) }
const seen: Record<(typeof sides)[number], Measured[]> = { this: [], other: [] }

try {
  // The first round warms up.
  for (let round = 0; round <= rounds; round++)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const place = `${side}_${round}`
      const keptAt = postgres ? `${postgres.url}?schema=${place}` : join(directory, place)
      const measured = await receiver.measure(count, [
        { file: files[side], task: { count, keptAt, inFlight, perSecond: null, ingested: values.ingested } },
      ])
      if (round > 0) seen[side].push(measured)
    }
} finally {
  receiver.stop()
  await postgres?.stop()
  rmSync(directory, { recursive: true, force: true })
}

const of = (side: (typeof sides)[number], figure: 'perSecond' | 'cpu') => seen[side].map((one) => one[figure])
const ratios = (figure: 'perSecond' | 'cpu') =>
  of('this', figure)
    .map((value, round) => value / (of('other', figure)[round] ?? Number.NaN))
    .toSorted((a, b) => a - b)
const lines = (
  [
    ['deliveries/s', 'perSecond'],
    ['CPU µs per delivery', 'cpu'],
  ] as const
).map(([title, figure]) => {
  const all = ratios(figure)
  const [middle, lowest, highest] = [median(all), all[0] ?? Number.NaN, all.at(-1) ?? Number.NaN].map((ratio) => ratio.toFixed(3))
  const [own, other] = sides.map((side) => whole(median(of(side, figure))))
  return { figure: title, this: own, other, 'ratio, median': middle, lowest, highest }
})
console.log(`Node ${process.version}, a backlog of ${whole(count)} events of 1 KiB, ${inFlight} in flight, ${rounds} pairs`)
console.table(lines)
