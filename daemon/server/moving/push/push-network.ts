/**
 * A network of a storage, to any server of this API: what its creates and updates take. Records that were sent are noted in a
 * journal, so a push can be killed at any point. Run again afterwards, it sends what is new or has changed.
 */
import type { Group } from '../../../../lib/operation.ts'
import { emailKey } from '../../../../lib/rules/members.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { scoped } from '../../../../lib/storage/scoped.ts'
import type { Id, Row, Table } from '../../../../lib/storage/table.ts'
import type { NetworkRow } from '../../../../lib/storage/tables/administration.ts'
import { members } from '../../../../lib/storage/tables/members.ts'
import { tables as typedTables } from '../../../../lib/storage/tables.ts'
import { type Given, shownAddress, textOf } from '../given.ts'
import type { Paced } from '../paced-client.ts'
import { readsOf } from '../parents.ts'
import type { Progress } from '../progress.ts'
import type { Journal } from './journal.ts'
import { uploaded } from './picture.ts'
import { LeftOut } from './push-stage.ts'
import type { Sending } from './send-row.ts'
import { stages, stagesOf } from './stages/all.ts'
import { type LeftRows, type NotTaken, type PushedList, tallyOf } from './tally.ts'
import { runsOf, walk } from './walk.ts'

export interface PushOptions {
  readonly storage: Storage
  readonly network: Pick<NetworkRow, 'id'>
  readonly target: Paced
  readonly journal: Journal
  /** The token's member, as the server shows it. */
  readonly me: Given
  readonly only?: readonly Group[] | undefined
  /** Whether nothing is sent. */
  readonly isDry?: boolean
  /** The directory of uploads. */
  readonly assets: string
  readonly tell?: (progress: Progress) => void
}

export interface PushReport {
  readonly resumed: boolean
  readonly dry_run: boolean
  readonly lists: readonly PushedList[]
  readonly left: readonly LeftRows[]
  readonly not_taken: readonly NotTaken[]
  readonly requests: number
  readonly waited_seconds: number
}

/**
 * Pushes a network.
 * @throws UsageError, ClientError, StorageError
 */
export async function pushNetwork(options: PushOptions): Promise<PushReport> {
  const { storage, network, target, journal, only, isDry = false, tell = () => {} } = options
  const wanted = stagesOf(only)
  const { resumed } = journal
  const push = sendingOf(options)
  const tally = tallyOf()
  for (const run of runsOf(wanted)) {
    const lists = run.map((stage) => tally.list(stage))
    const name = run.map((stage) => stage.name).join(', ')
    const number = wanted.indexOf(run[run.length - 1] ?? run[0]) + 1
    const now = () => {
      const read = lists.reduce((sum, { here }) => sum + here, 0)
      tell({ stage: name, number, stages: wanted.length, read, requests: target.pace.requests })
    }
    await push.findOwner()
    now()
    await walk(push, run, tally, now)
  }
  return {
    resumed,
    dry_run: isDry,
    lists: tally.lists(),
    left: tally.left,
    not_taken: [...(await otherTables(storage, network.id)), ...tally.lost()],
    requests: target.pace.requests,
    waited_seconds: Math.round(target.pace.waitedMs / 1000),
  }
}

interface Sends extends Sending {
  /** Looks for the member of the token among the members of the storage. */
  findOwner(): Promise<void>
}

function sendingOf({ storage, network, target, journal, me, assets, isDry = false }: PushOptions): Sends {
  const myId = textOf(me['id'])
  const address = shownAddress(me['email'])
  let owner: Id | undefined
  const push: Sends = {
    reads: readsOf(storage, network.id),
    target,
    journal,
    isDry,
    assets,
    faults: 0,
    conflictTries: 2,
    owner: () => owner,
    async findOwner() {
      if (owner !== undefined || myId === '') return
      for (const [label, { to }] of journal.entries())
        if (to === myId && label.startsWith('members ')) owner = label.slice('members '.length)
      if (owner !== undefined || address === undefined) return
      const [member] = await push.reads.find(members, { where: { email_key: emailKey(address) } })
      owner = member?.id
    },
    there(table, id, list = table) {
      const to = push.thereIf(table, id)
      if (to === undefined) throw new LeftOut(`a record that it needs is not on the server (${list})`)
      return to
    },
    thereIf: (table, id) => journal.get(`${table} ${id}`)?.to,
    upload: (url) => uploaded(push, url),
  }
  return push
}

/** Rows of tables of which the API makes no record. */
async function otherTables(storage: Storage, network_id: Id): Promise<NotTaken[]> {
  const covered = new Set([...stages.map(({ table }) => table.name), 'networks', 'idempotency_keys', 'events'])
  const others = (typedTables as readonly Table<Row>[]).filter(({ name }) => !covered.has(name))
  const counts: NotTaken[] = []
  for (const table of others) {
    const rows = await storage.transaction((tx) => scoped(tx, network_id).count(table, {}), { readOnly: true })
    if (rows > 0) counts.push({ table: table.name, rows, columns: {} })
  }
  return counts
}
