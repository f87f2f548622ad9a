/**
 * `npm run bench:cluster`: 1, 2 and 4 relays on one PostgreSQL database, beside a bare signed undici loop and graphile-worker
 * on the same PostgreSQL. All post the same events of 1 KiB over keep-alive to the same receiver, which checks that it got
 * every id. In one run, rounds interleaved, medians shown. Compare ratios within one run, never figures of two runs.
 *
 * Answered at once, one process can keep a small machine busy. So they are measured once more with a receiver that takes its
 * time, as receivers do. Then the limit is the number of attempts in flight of each process.
 *
 * PostgreSQL comes from npm. Options: --count N (events of a backlog, 20000), --slow-count N (events for the slow receiver,
 * 5000). Times: --answer-after N (milliseconds of the slow receiver, 100). Size: --rounds N (3), --in-flight N (64, of each
 * process), --relays 1,2,4
 */
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { type Measured, startPostgres, startReceiver } from './relay/processes.ts'
import { middle as median, whole } from './support/figures.ts'

const text = (value: string) => ({ type: 'string', default: value }) as const
const { values } = parseArgs({
  options: {
    ...{ count: text('20000'), 'slow-count': text('5000'), 'answer-after': text('100') },
    ...{ rounds: text('3'), 'in-flight': text('64'), relays: text('1,2,4') },
  },
})
const [count, rounds, inFlight] = [Number(values.count), Number(values.rounds), Number(values['in-flight'])]
const [slowCount, slowness] = [Number(values['slow-count']), Number(values['answer-after'])]

const postgres = await startPostgres()
const receiver = await startReceiver()

let runs = 0
function relays(number: number, events: number, answerAfter: number): Promise<Measured> {
  const keptAt = `${postgres.url}?schema=bench_${runs++}`
  const tasks = Array.from({ length: number }, (_, place) => ({
    count: place === 0 ? events : 0,
    keptAt,
    inFlight,
    perSecond: null,
  }))
  return receiver.measure(
    events,
    tasks.map((task) => ({ file: 'cluster.ts', task })),
    answerAfter,
  )
}
const alone = (file: string, events: number, answerAfter: number): Promise<Measured> =>
  receiver.measure(events, [{ file, task: { count: events, keptAt: postgres.url, inFlight, perSecond: null } }], answerAfter)

type Sending = (events: number, answerAfter: number) => Promise<Measured>
const bare = 'bare signed undici loop'
const peer = 'graphile-worker'
const senders: ReadonlyMap<string, Sending> = new Map([
  [bare, (events: number, answerAfter: number) => alone('bare.ts', events, answerAfter)],
  [peer, (events: number, answerAfter: number) => alone('graphile.ts', events, answerAfter)],
  ...values.relays
    .split(',')
    .map((number): [string, Sending] => [
      `folkmoot-relay × ${number}`,
      (events, answerAfter) => relays(Number(number), events, answerAfter),
    ]),
])

/** Measures all of them, and prints a table. */
async function compare(title: string, events: number, answerAfter: number): Promise<void> {
  const seen = new Map<string, Measured[]>()
  for (let round = 0; round < rounds; round++)
    for (const [name, measure] of senders) {
      seen.set(name, [...(seen.get(name) ?? []), await measure(events, answerAfter)])
      console.log(`${title}, round ${round + 1} of ${rounds}, ${name}: done`)
    }
  const middle = (name: string, figure: 'perSecond' | 'peakMiB' | 'deliveries') =>
    median((seen.get(name) ?? []).map((one) => one[figure]))
  const table = new Table({
    head: [title, 'deliveries/s', '× bare', '× graphile-worker', 'peak MiB', 'sent twice'],
    style: { head: [], border: [] },
  })
  for (const name of senders.keys())
    table.push([
      name,
      whole(middle(name, 'perSecond')),
      (middle(name, 'perSecond') / middle(bare, 'perSecond')).toFixed(2),
      (middle(name, 'perSecond') / middle(peer, 'perSecond')).toFixed(2),
      whole(middle(name, 'peakMiB')),
      whole(middle(name, 'deliveries') - events),
    ])
  console.log(table.toString())
}

try {
  console.log(
    `Node ${process.version}, PostgreSQL with its defaults, events of 1 KiB to 16 endpoints, ${inFlight} in flight per process, signed, keep-alive; ${rounds} rounds, medians`,
  )
  await compare(`${whole(count)} events, answered at once`, count, 0)
  await compare(`${whole(slowCount)} events, answered after ${slowness} ms`, slowCount, slowness)
} finally {
  receiver.stop()
  await postgres.stop()
}
