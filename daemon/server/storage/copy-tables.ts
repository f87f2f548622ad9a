/**
 * Every row of one storage, or of one of its networks, into another one: table by table and in the order of the ids.
 *
 * The progress is kept in the target, in the same transaction as the rows. So an interrupted copy resumes, and no row comes
 * twice.
 */
import type { Storage, Tx } from '../../../lib/storage/contract.ts'
import type { Id, Row, Table } from '../../../lib/storage/table.ts'
import {
  audit,
  idempotencyKeys,
  type NetworkRow,
  networks,
  webhookEndpoints,
} from '../../../lib/storage/tables/administration.ts'
import { tables as typedTables } from '../../../lib/storage/tables.ts'
import { UsageError } from '../../usage.ts'

// Rows are copied unchanged, without their types.
const tables = typedTables as readonly Table<Row>[]

/** Rows in one transaction: more are fewer writes, fewer are a smaller loss when it is interrupted. */
const batch = 500

export interface CopyProgress {
  readonly table: string
  /** Rows of all tables so far, and in the end. */
  readonly copied: number
  readonly total: number
}

/** The note of an unfinished copy: a row that no request can make, for it belongs to no network. Each network has its own. */
const noteOf = (network: NetworkRow | undefined) => ({ id: network?.id ?? '0', network_id: '0' }) as const
const caller = 'folkmoot copy'

/** The rows of a network; all of them without one. */
const rowsOf = (network: Pick<NetworkRow, 'id'> | undefined) => (network ? { where: { network_id: network.id } } : {})

interface Place {
  readonly table: string
  readonly after: string | null
}

/**
 * Copies every table, and compares the counts at the end.
 *
 * @param source names where the rows come from; another copy from elsewhere is not gone on with
 * @param network the network of the source, which is read-only, if only its rows are copied; the target may hold others
 * @returns how many rows each table has
 * @throws UsageError when the source is empty, the target holds something else, or the counts differ
 * @throws StorageError
 */
export async function copyTables(
  from: Storage,
  to: Storage,
  source: string,
  onProgress: (progress: CopyProgress) => void = () => {},
  network?: NetworkRow,
): Promise<Readonly<Record<string, number>>> {
  const note = noteOf(network)
  const counts = await countsOf(from, network)
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (total === 0) throw new UsageError(`the source is empty, is ${source} the right one?`)
  const begun = network ? await placeOfNetwork(from, to, source, network) : await placeIn(to, source)
  if (!begun) await begin(to, source, note)
  const start = begun ? tables.findIndex(({ name }) => name === begun.table) : 0
  let copied = await rowsBefore(to, start, network)
  for (const [index, table] of tables.entries()) {
    if (index < start) continue
    for (let after = index === start ? (begun?.after ?? null) : null; ; ) {
      const query = { ...rowsOf(network), limit: batch, ...(after === null ? {} : { after }) }
      const rows = await from.transaction((tx) => tx.find(table, query), { readOnly: true })
      const last = rows.at(-1)
      if (!last) break
      await to.transaction(async (tx) => {
        for (const row of rows) await tx.insert(table, row)
        await moveTo(tx, note.id, { table: table.name, after: last.id })
      })
      after = last.id
      copied += rows.length
      onProgress({ table: table.name, copied, total })
    }
  }
  await compare(to, counts, network)
  const now = network && (await from.transaction((tx) => tx.get(networks, network.id), { readOnly: true }))
  if (now?.updated_at !== network?.updated_at)
    throw new UsageError(`network ${network?.id} of --from has changed while it was copied: copy it again`)
  return counts
}

/** Takes the note away: the target is whole. */
export const endCopy = (to: Storage, network?: NetworkRow): Promise<unknown> =>
  to.transaction((tx) => tx.remove(idempotencyKeys, noteOf(network).id))

const countsOf = (storage: Storage, network?: NetworkRow): Promise<Record<string, number>> =>
  storage.transaction(
    async (tx) => {
      const counts: Record<string, number> = {}
      for (const table of tables) counts[table.name] = await tx.count(table, rowsOf(network))
      const hasNote = !network && (await tx.get(idempotencyKeys, noteOf(network).id))
      if (hasNote) counts[idempotencyKeys.name] = (counts[idempotencyKeys.name] ?? 1) - 1
      return counts
    },
    { readOnly: true },
  )

/** Where an earlier run of this copy has come to; undefined for a target that is empty. */
async function placeIn(to: Storage, source: string): Promise<Place | undefined> {
  const row = await to.transaction((tx) => tx.get(idempotencyKeys, noteOf(undefined).id), { readOnly: true })
  if (row?.caller === caller) {
    if (row.fingerprint === source) return JSON.parse(row.body) as Place
    throw new UsageError(`the target holds an unfinished copy of ${row.fingerprint}: finish that one, or give an empty target`)
  }
  const filled = Object.entries(await countsOf(to)).filter(([, count]) => count > 0)
  if (filled.length > 0) {
    const rows = filled.map(([name, count]) => `${name} ${count}`).join(', ')
    throw new UsageError(`the target is not empty, these tables hold rows: ${rows}; give an empty one`)
  }
  return undefined
}

/**
 * The same for a network. A copy that has taken no write since, such as one of another time, is replaced.
 * @throws UsageError when the target's network is newer, takes writes, or is another one of the same name
 */
async function placeOfNetwork(from: Storage, to: Storage, source: string, network: NetworkRow): Promise<Place | undefined> {
  const { id, subdomain, updated_at } = network
  const [there, [namesake], note] = await to.transaction(
    (tx) => Promise.all([tx.get(networks, id), tx.find(networks, { where: { subdomain } }), tx.get(idempotencyKeys, id)]),
    { readOnly: true },
  )
  if (namesake && namesake.id !== id)
    throw new UsageError(`the target holds another network ${subdomain}, with the id ${namesake.id}: give another target`)
  if (there && (!there.read_only || there.updated_at > updated_at))
    throw new UsageError(
      `the target's network ${id} has changed since the source became read-only: are --from and --to the right way round?`,
    )
  if (note?.caller === caller && note.fingerprint === source) return JSON.parse(note.body) as Place
  await to.transaction((tx) => tx.remove(idempotencyKeys, id))
  await requireWhole(from, to, id)
  // The network last: if this is interrupted, the next run comes here again.
  for (const table of tables.toReversed()) await clear(from, to, table, id)
  return undefined
}

/**
 * One storage may have several addresses, and clearing the target would then clear the source: what is noted in one is looked for in
 * the other.
 * @throws UsageError for a source that is the target, or holds a part of the network
 */
async function requireWhole(from: Storage, to: Storage, id: Id): Promise<void> {
  const look = new Date().toISOString()
  await begin(to, look, { id, network_id: '0' })
  const seen = await from.transaction((tx) => tx.get(idempotencyKeys, id), { readOnly: true })
  await to.transaction((tx) => tx.remove(idempotencyKeys, id))
  if (seen?.fingerprint === look) throw new UsageError('--from and --to are the same storage')
  if (seen?.caller === caller) throw new UsageError(`--from has an unfinished copy of ${seen.fingerprint}: finish that one first`)
}

async function clear(from: Storage, to: Storage, table: Table<Row>, network_id: Id): Promise<void> {
  for (;;) {
    const rows = await to.transaction((tx) => tx.find(table, { where: { network_id }, limit: batch }), { readOnly: true })
    if (rows.length === 0) return
    const isThere = await from.transaction((tx) => Promise.all(rows.map(({ id }) => tx.get(table, id))), { readOnly: true })
    await to.transaction(async (tx) => {
      for (const { id } of rows) await tx.remove(table, id)
      // A relay would go on sending to it.
      const gone = table.name === webhookEndpoints.name ? rows.filter((_, place) => !isThere[place]) : []
      await tx.append(gone.map(({ id }) => ({ kind: 'endpoint', action: 'remove', id, network_id })))
    })
  }
}

const begin = (to: Storage, source: string, note: ReturnType<typeof noteOf>): Promise<unknown> =>
  to.transaction((tx) => {
    const at = new Date().toISOString()
    const body = JSON.stringify({ table: tables[0]?.name, after: null } satisfies Partial<Record<keyof Place, unknown>>)
    const row = { ...note, created_at: at, updated_at: at, caller, key: 'progress', fingerprint: source, status: 0, body }
    return tx.insert(idempotencyKeys, row)
  })

const moveTo = (tx: Tx, id: Id, place: Place): Promise<unknown> => tx.update(idempotencyKeys, id, { body: JSON.stringify(place) })

async function rowsBefore(to: Storage, start: number, network?: NetworkRow): Promise<number> {
  const counts = await countsOf(to, network)
  return tables.slice(0, start + 1).reduce((sum, { name }) => sum + (counts[name] ?? 0), 0)
}

async function compare(to: Storage, counts: Readonly<Record<string, number>>, network?: NetworkRow): Promise<void> {
  const found = await countsOf(to, network)
  // What a network that is read-only still adds.
  const moving: readonly string[] = network ? [audit.name, idempotencyKeys.name] : []
  const different = Object.keys(counts).filter((name) => counts[name] !== found[name] && !moving.includes(name))
  if (different.length === 0) return
  const lines = different.map((name) => `${name} ${counts[name]} and ${found[name]}`).join(', ')
  throw new UsageError(
    `the counts of source and target differ (${lines}): stop everything that writes to the source, and copy again`,
  )
}
