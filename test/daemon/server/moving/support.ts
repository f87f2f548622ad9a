/** Pulling between communities of one process, which needs no network. */
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { pacedClient } from '../../../../daemon/server/moving/paced-client.ts'
import { notGiven, type PullOptions, type PullReport, pullNetwork } from '../../../../daemon/server/moving/pull/pull-network.ts'
import type { Timing } from '../../../../lib/client/timing.ts'
import type { Community } from '../../../../lib/index.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { scoped } from '../../../../lib/storage/scoped.ts'
import type { Row, Table } from '../../../../lib/storage/table.ts'
import { members } from '../../../../lib/storage/tables/members.ts'
import { tables } from '../../../../lib/storage/tables.ts'
import { createSeededCommunity } from '../../../support/seed.ts'

/** A clock that jumps over every wait, and remembers how long it was. Time-outs of requests never come. */
export function jumpingTiming(): Timing & { readonly waits: readonly number[] } {
  const waits: number[] = []
  let now = Date.parse('2026-11-20T10:00:00.000Z')
  return {
    waits,
    now: () => now,
    random: () => 0,
    after(ms, run) {
      if (ms >= timeout) return () => {}
      waits.push(ms)
      now += ms
      queueMicrotask(run)
      return () => {}
    },
  }
}

/** A time-out that never comes. */
export const timeout = 24 * 60 * 60 * 1000

export interface Source {
  readonly community: Pick<Community, 'fetch'>
  readonly token: string
}

/** How a request gets a response, in place of the source. */
export type Responder = (request: Request) => Response | Promise<Response>

/** Sets whether members of network 1 show their addresses: all of them, or the one with this id. */
export const consent = (storage: Storage, commercial_email_consent: boolean, id?: string): Promise<void> =>
  storage.transaction(async (storageTx) => {
    const tx = scoped(storageTx, '1')
    for (const member of await tx.find(members, id === undefined ? {} : { where: { id } }))
      await tx.update(members, member.id, { commercial_email_consent })
  })

/** The seeded network in memory, whose members all show their addresses. */
export async function seededSource() {
  const source = await createSeededCommunity({ storage: memoryStorage() })
  await consent(source.storage, true)
  return source
}

/** A client of a community. */
export const clientOf = (
  { community, token }: Source,
  respond: Responder = (request) => community.fetch(request),
  timing = jumpingTiming(),
) => pacedClient({ baseUrl: 'https://source.test', network: '1', token, fetch: respond, timing, timeout })

/** Pulls network 1 of a source. */
export const pullFrom = (
  source: Source,
  storage: Storage,
  { respond, ...options }: Partial<PullOptions> & { readonly respond?: Responder } = {},
): Promise<PullReport> =>
  pullNetwork({ source: clientOf(source, respond), from: 'https://source.test network 1', storage, ...options })

/** Every row of a storage, by table. */
export const everything = (storage: Storage): Promise<Readonly<Record<string, readonly Row[]>>> =>
  storage.transaction(async (tx) => {
    const all: Record<string, readonly Row[]> = {}
    for (const table of tables as readonly Table<Row>[]) all[table.name] = await tx.find(table, {})
    return all
  })

/** Each side makes the ids and times of rows that connect two records. */
const relations = ['space_memberships', 'member_segments', 'plan_memberships']
const notComparable: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(relations.map((name) => [name, ['id', 'created_at', 'updated_at']])),
  subscriptions: ['created_at', 'updated_at'],
  rsvps: ['created_at'],
  // Only a server that makes a title checks that it is new.
  segments: ['twin_id'],
}

/** Everything in a storage that the API gives, in an order that both sides have. */
export async function given(storage: Storage) {
  const all: Record<string, unknown> = {}
  const missing = new Map(notGiven().map(({ table, columns }) => [table, columns]))
  for (const [table, rows] of Object.entries(await everything(storage))) {
    const columns = missing.get(table) ?? []
    if (columns === 'all') continue
    const left = new Set([...columns, ...(notComparable[table] ?? [])])
    const shown = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !left.has(name))))
    const order = (row: object) => JSON.stringify(Object.entries(row).filter(([name]) => name.endsWith('id')))
    all[table] = shown.sort((a, b) => (order(a) < order(b) ? -1 : 1))
  }
  return all
}
