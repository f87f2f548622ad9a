/**
 * Writes the figures of `docs/operating/scale.md`, between their marks: `npx node scripts/scale-figures.ts`. The costs are what
 * `npm run bench:scale -- --json docs/performance/scale.json` measured; the rest is derived from them.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { type Spread, whole } from '../bench/support/figures.ts'
import { type Deployment, deploymentOf, inFlight, inFlightPerEndpoint, type ScaleCosts } from '../bench/support/scale-model.ts'
import { conditionsOf, replaced, row, tableOf } from './performance-page.ts'

export const deployment: Deployment = {
  networks: 50_000,
  events: 5000,
  mean: 0.2,
  receiver: 0.1,
  load: 0.5,
  cores: 8,
  keepDelivered: 7,
  bytes: 4e12,
}

/** Three digits, as nothing here is known better. */
const rough = (value: number): string => {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.abs(value) || 1)) - 1)
  return value < 10 ? String(Number(value.toPrecision(2))) : whole(Math.round(value / unit) * unit)
}
const gigabytes = (bytes: number): string => (bytes < 1e12 ? `${rough(bytes / 1e9)} GB` : `${rough(bytes / 1e12)} TB`)
const range = ({ lowest, highest }: Spread, digits = 0): string => `${lowest.toFixed(digits)}–${highest.toFixed(digits)}`
const percent = (part: number): string => `${Math.round(part * 100)} %`

const textTable = (columns: readonly string[], rows: readonly string[]): string =>
  [row(...columns), row(...columns.map(() => '---')), ...rows].join('\n')

/** What the derivation comes to. */
export function numbersOf(costs: ScaleCosts): string {
  const [usual, most] = [deploymentOf(costs, deployment), deploymentOf(costs, deployment, 'highest')]
  const { database, cores, disk } = usual
  const { networks, events, mean, load, keepDelivered } = deployment
  const coresOf = ({ api, postgres, relays }: typeof cores): string => rough(api + postgres + relays)
  const lines = [
    row(
      'databases',
      usual.databases,
      most.databases,
      `one takes ${rough(database)} events a second; beyond that a second one pays`,
    ),
    row('relays', usual.relays, most.relays, 'and one more in each database, to take over'),
    row(
      'cores',
      coresOf(cores),
      coresOf(most.cores),
      `${rough(cores.api)} for the API, ${rough(cores.postgres)} for PostgreSQL, ${rough(cores.relays)} for relays; ${percent(load)} busy`,
    ),
    row(
      'disk a day',
      gigabytes(disk.aDay),
      gigabytes(most.disk.aDay),
      `posts with their indexes, which stay; and ${gigabytes(disk.relays)} for ${keepDelivered} days of delivered events`,
    ),
  ]
  const about = `For ${whole(networks)} networks with ${whole(events)} events a second in the busiest hour, and ${percent(mean)} of that in the mean of a day:`
  return `${about}\n\n${textTable(['', 'number', 'by the dearest rounds', 'because'], lines)}`
}

export function derivationOf(costs: ScaleCosts): string {
  const { post, read, delivery, ingest, stored, kept, conditions, oneSpace, largerBacklog } = costs
  const derived = deploymentOf(costs, deployment)
  const { databases, limits, relay, relays, tail, outage, disk, freezeHours, idle } = derived
  const { events, load, cores, receiver, networks, bytes, keepDelivered } = deployment
  const cost = (
    name: string,
    of: { readonly perSecond: Spread; readonly postgres: Spread; readonly wal?: Spread; readonly xids?: Spread },
    process: Spread,
  ): string =>
    row(
      name,
      `${whole(process.median)} (${range(process)})`,
      `${whole(of.postgres.median)} (${range(of.postgres)})`,
      of.wal ? whole(of.wal.median) : '',
      of.xids ? of.xids.median.toFixed(2) : '',
      whole(of.perSecond.median),
    )
  const perEvent = post.postgres.median + delivery.postgres.median
  return [
    'What was measured, in one run:',
    conditionsOf(conditions),
    tableOf(
      ['', 'process, CPU µs', 'PostgreSQL, CPU µs', 'log, bytes', 'transaction ids', 'a second, here'],
      [
        cost('a post over HTTP, with its event', post, post.api),
        cost('a read of a member by id', read, read.api),
        cost('a delivery, from the outbox to the response', delivery, delivery.relay),
        cost('of it, ingesting', ingest, ingest.relay),
      ],
    ),
    `A post leaves ${rough(stored.bytes)} bytes in the tables of the API, and ${rough(stored.waiting)} in the outbox until its event is ingested. A delivery leaves ${kept.rows.toFixed(1)} rows and ${rough(kept.bytes)} bytes with the relays. Out of a backlog four times as large, a delivery took ${largerBacklog.toFixed(2)} × the processor time. A single space took ${oneSpace.median.toFixed(2)} × as many posts a second as fifty. Each 1,000 reads a second keep another ${rough((read.api.median + read.postgres.median) / 1000 / load)} cores ${percent(load)} busy.`,
    `What follows, if a core may be ${percent(load)} busy in the busiest hour, a server of a database has ${cores} cores, each event is a post that one endpoint wants, and a receiver takes ${receiver * 1000} ms:`,
    textTable(
      ['', 'calculation', 'result'],
      [
        row(
          'a database, processor',
          `${percent(load)} × ${cores} cores ÷ (${whole(post.postgres.median)} + ${whole(delivery.postgres.median)} = ${whole(perEvent)} µs)`,
          `${rough(limits.processor)} events/s`,
        ),
        row(
          'a database, ingest',
          `one relay at a time: ${percent(load)} ÷ (${whole(ingest.relay.median)} + ${whole(ingest.postgres.median)} µs)`,
          `${rough(limits.ingest)} events/s`,
        ),
        row('databases', `${whole(events)} ÷ the smaller one`, databases),
        row(
          'a relay, processor',
          `${percent(load)} ÷ ${whole(delivery.relay.median)} µs`,
          `${rough(relay.processor)} deliveries/s`,
        ),
        row(
          'a relay, attempts in flight',
          `${percent(load)} × ${inFlight} ÷ ${receiver} s`,
          `${rough(relay.inFlight)} deliveries/s`,
        ),
        row('relays', `${whole(events / databases)} ÷ the smaller one, in each database`, relays),
        row(
          'largest network',
          `${whole(events)} ÷ (1 + 1/2 + … + 1/${whole(networks)}), by Zipf’s law`,
          `${rough(tail.largest)} events/s`,
        ),
        row('an endpoint', `${inFlightPerEndpoint} in flight ÷ ${receiver} s`, `${rough(tail.endpoint.usual)} deliveries/s`),
        row('a `fifo` endpoint', `1 ÷ ${receiver} s`, `${rough(tail.endpoint.fifo)} deliveries/s`),
        row(
          'an outage of an hour, busiest',
          `${whole(outage.events)} events, drained at full load: ${rough(outage.capacity)} − ${whole(events)} a second`,
          `${rough(outage.minutes)} minutes, ${gigabytes(outage.bytes)}`,
        ),
        row('write-ahead log', 'of posts and deliveries', `${gigabytes(disk.wal)} a day`),
        row(
          'idle endpoints',
          `${whole(networks)}, all relays together`,
          `${rough(idle.bytes / 2 ** 20)} MiB, ${idle.relay < 0.01 ? 'less than 0.01' : rough(idle.relay)} cores`,
        ),
      ],
    ),
    'What saturates first, and what to do about it:',
    [
      `1. **Endpoints of the largest networks.** ${tail.aboveUsual} networks have more events in the busiest hour than their endpoint takes, and ${tail.aboveFifo} if the endpoints are \`fifo\`. Set \`maxInFlightPerEndpoint\` to ${tail.inFlight}; \`order: 'subject'\` sends different subjects at the same time.`,
      `2. **Attempts in flight.** Slow receivers limit a relay before its processor does: ${rough(relay.inFlight)} against ${rough(relay.processor)} deliveries/s. Add relays, or raise \`maxInFlight\`.`,
      `3. **Disk.** ${databases === 1 ? `The database reaches ${gigabytes(bytes)}` : `The databases reach ${gigabytes(bytes)} each`} after ${rough(disk.daysUntilFull)} days, as much as can be restored in a night. Put new networks into another one before. \`keepDelivered: 1\` saves ${gigabytes((disk.relays / keepDelivered) * (keepDelivered - 1))}.`,
      `4. **A database.** Its ${limits.processor < limits.ingest ? 'processor' : 'ingest'} is the limit, at ${rough(derived.database)} events a second. The largest network fits into one, and a network can't be divided.`,
      `5. **Transaction ids.** PostgreSQL freezes old rows after 200 million of them, here every ${rough(freezeHours)} hours. Give autovacuum the disk for it.`,
    ].join('\n'),
    'Two shared cores can say what an event costs, and in which proportion. They can’t say what eight cores do together: locks, caches and disks set a limit below the sum of their cores, so half is left free. And they were busy with other work, which makes each of these costs higher than [on a quiet machine](../performance.md#the-api). Measure on your own: `npm run bench:scale`.',
  ].join('\n\n')
}

export const withFigures = (page: string, costs: ScaleCosts): string =>
  replaced(replaced(page, 'numbers', numbersOf(costs)), 'derivation', derivationOf(costs))

if (import.meta.main) {
  const root = new URL('../', import.meta.url)
  const path = new URL('docs/operating/scale.md', root)
  const costs = JSON.parse(readFileSync(new URL('docs/performance/scale.json', root), 'utf8')) as ScaleCosts
  writeFileSync(path, withFigures(readFileSync(path, 'utf8'), costs))
}
