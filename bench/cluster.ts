/**
 * `npm run bench:cluster`: 1, 2 and 4 relays on one PostgreSQL database, beside a bare signed undici loop and graphile-worker
 * on the same PostgreSQL. All post the same events of 1 KiB over keep-alive to the same receiver, which checks that it got
 * every id. In one run, rounds interleaved, medians shown. Compare ratios within one run, never figures of two runs.
 *
 * With immediate responses, one process can keep a small machine busy. So they are measured once more with a receiver that takes its
 * time, as receivers do. Then the limit is the number of attempts in flight of each process.
 */
import { type Measured, startPostgres, startReceiver } from './relay/processes.ts'
import { middle as median, ratioOf, whole } from './support/figures.ts'
import { optionsOf } from './support/options.ts'
import { type MeasuredTable, machine, printReport } from './support/report.ts'

const values = optionsOf('npm run bench:cluster', 'Measures several relays on one PostgreSQL from npm, beside their peers.', {
  count: { default: '20000', means: 'events of a backlog' },
  'slow-count': { default: '5000', means: 'events for the slow receiver' },
  'respond-after': { default: '100', means: 'milliseconds of the slow receiver' },
  rounds: { default: '3', means: 'rounds; medians are shown' },
  'in-flight': { default: '64', means: 'attempts at a time of each process' },
  relays: { default: '1,2,4', means: 'numbers of relays' },
  json: { default: '', means: 'a file that gets all figures as JSON' },
})
const [count, rounds, inFlight] = [Number(values.count), Number(values.rounds), Number(values['in-flight'])]
const [slowCount, slowness] = [Number(values['slow-count']), Number(values['respond-after'])]

const postgres = await startPostgres()
const receiver = await startReceiver('shared')

let runs = 0
function relays(number: number, events: number, respondAfter: number): Promise<Measured> {
  const keptAt = `${postgres.url}?schema=bench_${runs++}`
  const tasks = Array.from({ length: number }, (_, place) => ({
    count: place === 0 ? events : 0,
    keptAt,
    inFlight,
    perSecond: null,
    ingested: false,
  }))
  return receiver.measure(
    events,
    tasks.map((task) => ({ file: 'cluster.ts', task })),
    respondAfter,
  )
}
const alone = (file: string, events: number, respondAfter: number): Promise<Measured> =>
  receiver.measure(
    events,
    [{ file, task: { count: events, keptAt: postgres.url, inFlight, perSecond: null, ingested: false } }],
    respondAfter,
  )

type Sending = (events: number, respondAfter: number) => Promise<Measured>
const bare = 'bare signed undici loop'
const peer = 'graphile-worker'
const senders: ReadonlyMap<string, Sending> = new Map([
  [bare, (events: number, respondAfter: number) => alone('bare.ts', events, respondAfter)],
  [peer, (events: number, respondAfter: number) => alone('graphile.ts', events, respondAfter)],
  ...values.relays
    .split(',')
    .map((number): [string, Sending] => [
      `folkmoot-relay × ${number}`,
      (events, respondAfter) => relays(Number(number), events, respondAfter),
    ]),
])

/** Measures all of them. */
async function compare(title: string, events: number, respondAfter: number): Promise<MeasuredTable> {
  const seen = new Map<string, Measured[]>()
  for (let round = 0; round < rounds; round++)
    for (const [name, measure] of senders) {
      seen.set(name, [...(seen.get(name) ?? []), await measure(events, respondAfter)])
      console.log(`${title}, round ${round + 1} of ${rounds}, ${name}: done`)
    }
  const all = (name: string, figure: 'perSecond' | 'peakMiB' | 'deliveries'): readonly number[] =>
    (seen.get(name) ?? []).map((one) => one[figure])
  const beside = (name: string, other: string) => ratioOf(all(name, 'perSecond'), all(other, 'perSecond'))
  const rows = [...senders.keys()].map((name) => [
    name,
    whole(median(all(name, 'perSecond'))),
    beside(name, bare).median.toFixed(2),
    beside(name, peer).median.toFixed(2),
    whole(median(all(name, 'peakMiB'))),
    whole(median(all(name, 'deliveries')) - events),
  ])
  const columns = ['sender', 'deliveries/s', '× bare', '× graphile-worker', 'peak MiB', 'sent twice']
  return { title, columns, rows }
}

try {
  const conditions = {
    ...machine('senders, receiver and PostgreSQL share all cores'),
    events: '1 KiB to 16 endpoints, signed, keep-alive',
    'in flight per process': inFlight,
    rounds,
  }
  const quick = await compare(`${whole(count)} events, acknowledged immediately`, count, 0)
  const slow = await compare(`${whole(slowCount)} events, acknowledged after ${slowness} ms`, slowCount, slowness)
  printReport({ conditions, tables: [quick, slow] }, values.json)
} finally {
  receiver.stop()
  await postgres.stop()
}
