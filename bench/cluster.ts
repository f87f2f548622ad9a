/**
 * `npm run bench:cluster`: 1, 2 and 4 relays on one PostgreSQL database, beside a bare signed undici loop and graphile-worker
 * on the same PostgreSQL. All post the same events of 1 KiB over keep-alive to the same receiver, which checks that it got
 * every id. In one run, rounds interleaved, medians shown. Compare ratios within one run, never figures of two runs.
 *
 * PostgreSQL comes from npm.
 * Options: --count N (events of a backlog, 20000), --rounds N (3), --in-flight N (64, of each relay), --relays 1,2,4
 */
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { type Measured, median, startPostgres, startReceiver, whole } from './relay/processes.ts'

const text = (value: string) => ({ type: 'string', default: value }) as const
const { values } = parseArgs({
  options: { count: text('20000'), rounds: text('3'), 'in-flight': text('64'), relays: text('1,2,4') },
})
const [count, rounds, inFlight] = [Number(values.count), Number(values.rounds), Number(values['in-flight'])]

const postgres = await startPostgres()
const receiver = await startReceiver()

let runs = 0
function relays(number: number): Promise<Measured> {
  const keptAt = `${postgres.url}?schema=bench_${runs++}`
  const tasks = Array.from({ length: number }, (_, place) => ({
    count: place === 0 ? count : 0,
    keptAt,
    inFlight,
    perSecond: null,
  }))
  return receiver.measure(
    count,
    tasks.map((task) => ({ file: 'cluster.ts', task })),
  )
}
const alone = (file: string): Promise<Measured> =>
  receiver.measure(count, [{ file, task: { count, keptAt: postgres.url, inFlight, perSecond: null } }])

const bare = 'bare signed undici loop'
const peer = 'graphile-worker'
const senders: ReadonlyMap<string, () => Promise<Measured>> = new Map([
  [bare, () => alone('bare.ts')],
  [peer, () => alone('graphile.ts')],
  ...values.relays.split(',').map((number) => [`folkmoot-relay × ${number}`, () => relays(Number(number))] as const),
])

try {
  console.log(
    `Node ${process.version}, PostgreSQL with its defaults, events of 1 KiB to 16 endpoints, ${inFlight} in flight per process, signed, keep-alive; a backlog of ${whole(count)}, ${rounds} rounds, medians`,
  )
  const seen = new Map<string, Measured[]>()
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of senders) {
      seen.set(name, [...(seen.get(name) ?? []), await measure()])
      console.log(`round ${round + 1} of ${rounds}, ${name}: done`)
    }
  }
  const middle = (name: string, figure: 'perSecond' | 'peakMiB' | 'deliveries') =>
    median((seen.get(name) ?? []).map((one) => one[figure]))
  const table = new Table({
    head: ['sender', 'deliveries/s', '× bare', '× graphile-worker', 'peak MiB', 'sent twice'],
    style: { head: [], border: [] },
  })
  for (const name of senders.keys())
    table.push([
      name,
      whole(middle(name, 'perSecond')),
      (middle(name, 'perSecond') / middle(bare, 'perSecond')).toFixed(2),
      (middle(name, 'perSecond') / middle(peer, 'perSecond')).toFixed(2),
      whole(middle(name, 'peakMiB')),
      whole(middle(name, 'deliveries') - count),
    ])
  console.log(table.toString())
} finally {
  receiver.stop()
  await postgres.stop()
}
