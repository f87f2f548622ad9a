/**
 * A network of any server of this API, into a storage.
 *
 * Rows go straight into the storage, so no event is emitted about them. Everything is written with how far the pull is, so it can
 * be killed at any point. Run again afterwards, it brings what has changed.
 */
import type { Group } from '../../../../lib/operation.ts'
import { Network } from '../../../../lib/records/network.ts'
import type { Storage, Tx } from '../../../../lib/storage/contract.ts'
import type { Row, Table } from '../../../../lib/storage/table.ts'
import { networks } from '../../../../lib/storage/tables/administration.ts'
import { tables as typedTables } from '../../../../lib/storage/tables.ts'
import type { Paced } from '../paced-client.ts'
import type { Progress } from '../progress.ts'
import { begin } from './begin.ts'
import { finish } from './finish.ts'
import { removeGone } from './gone.ts'
import { clearNotes, removeNote } from './notes.ts'
import { type Pulling, write } from './pulling.ts'
import { stages, stagesOf } from './stages/all.ts'
import { newState, saveState, stateIn, type Unread } from './state.ts'
import { walkStage } from './walk-stage.ts'
import { type Counts, noCounts } from './write-records.ts'

export interface PullOptions {
  readonly source: Paced
  /** Names the source: its address and its network. */
  readonly from: string
  readonly storage: Storage
  /** Groups of records, with those that they refer to; all by default. */
  readonly only?: readonly Group[] | undefined
  /** ISO 8601 in UTC: records that were changed before stay as they are, and their own lists are not requested. */
  readonly since?: string | undefined
  readonly onProgress?: (progress: Progress) => void
  /** Is given sentences about what is not as usual. */
  readonly warn?: (sentence: string) => void
  /** Runs the pull of a network that is there now, with its lines of the audit. */
  readonly audited?: (network_id: string, run: () => Promise<PullReport>) => Promise<PullReport>
}

export interface PulledList extends Counts {
  readonly list: string
  readonly unread: Unread | null
}

export interface PullReport {
  readonly network: { readonly id: string; readonly subdomain: string }
  /** Whether an earlier run was gone on with. */
  readonly resumed: boolean
  readonly lists: readonly PulledList[]
  readonly not_given: readonly NotGiven[]
  /** Whether the addresses of all members were shown. */
  readonly addresses: 'shown' | 'masked' | 'hidden'
  /** Requests of this run, with repeats. */
  readonly requests: number
  readonly waited_seconds: number
}

/**
 * Pulls a network.
 * @throws UsageError, ClientError, StorageError
 */
export async function pullNetwork({
  source,
  from,
  storage,
  only,
  since,
  onProgress = () => {},
  warn = () => {},
  audited = (_, run) => run(),
}: PullOptions): Promise<PullReport> {
  const begun = await begin(source, storage, from)
  return audited(begun.network.id, () => pullLists(begun, { source, storage, only, since, onProgress, warn }))
}

type Begun = Awaited<ReturnType<typeof begin>>
type Lists = Pick<PullOptions, 'source' | 'storage' | 'only' | 'since'> & Required<Pick<PullOptions, 'onProgress' | 'warn'>>

async function pullLists(
  { network, ids, me }: Begun,
  { source, storage, only, since, onProgress, warn }: Lists,
): Promise<PullReport> {
  const wanted = stagesOf(only)
  const asked = JSON.stringify({ only: wanted.map(({ name }) => name), since: since ?? null })
  const before = await stateIn(storage, network.id)
  const resumed = before?.asked === asked
  const pulling: Pulling = {
    source,
    storage,
    network_id: network.id,
    ids,
    owner: ids.here(me?.['id'] ?? '0'),
    since,
    warn,
    state: resumed ? before : newState(asked),
    onProgress(stage, read) {
      const number = wanted.findIndex(({ name }) => name === stage) + 1
      onProgress({ stage, number, stages: wanted.length, read, requests: source.pace.requests })
    },
  }
  if (!resumed) await write(pulling, (tx) => beginAnew(tx, pulling))
  const left = wanted.filter(({ name }) => !pulling.state.done.includes(name))
  for (const [index, stage] of left.entries()) await walkStage(pulling, stage, resumed && index === 0)
  await removeGone(pulling, wanted)
  await write(pulling, async (tx) => {
    await finish(tx, pulling, me)
    await removeNote(tx, 'progress', network.id)
  })
  const { counts, unread, facts } = pulling.state
  return {
    network: { id: network.id, subdomain: network.subdomain },
    resumed,
    lists: wanted.map(({ name }) => ({ list: name, ...(counts[name] ?? noCounts()), unread: unread[name] ?? null })),
    not_given: notGiven(),
    addresses: facts.addressMasked ? 'masked' : facts.addressShown ? 'shown' : 'hidden',
    requests: source.pace.requests,
    waited_seconds: Math.round(source.pace.waitedMs / 1000),
  }
}

/** Notes of an unfinished run with other options are of no use. */
async function beginAnew(tx: Tx, { network_id, state }: Pulling): Promise<void> {
  for (const kind of ['seen', 'gone'] as const) await clearNotes(tx, kind, network_id)
  await saveState(tx, network_id, state)
}

/** Columns of a table that no record shows; all of them if no list shows its rows. */
export interface NotGiven {
  readonly table: string
  readonly columns: readonly string[] | 'all'
}

/** Columns that every row has. */
const common = new Set(['id', 'network_id', 'created_at', 'updated_at'])

/** The columns that no record shows, by table: a copy through the API has their defaults. They follow from the stages. */
export function notGiven(): readonly NotGiven[] {
  const tables = typedTables as readonly Table<Row>[]
  return tables.flatMap(({ name, columns }): NotGiven[] => {
    const own = stages.filter((stage) => stage.table.name === name)
    if (own.length === 0 && name !== networks.name) return [{ table: name, columns: 'all' }]
    const given = new Set<string>(own.flatMap((stage) => [...stage.fields, ...Object.keys(stage.columns)]))
    if (name === networks.name) for (const field of Object.keys(Network.entries)) given.add(field)
    const missing = Object.keys(columns).filter((column) => !common.has(column) && !given.has(column))
    return missing.length > 0 ? [{ table: name, columns: missing }] : []
  })
}
