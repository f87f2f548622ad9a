/**
 * A network of a storage, to any server of this API: what its creates and updates take. Records that were sent are noted in a
 * journal, so a push can be killed at any point. Run again afterwards, it sends what is new or has changed.
 */
import { isClientError } from '../../../../lib/client/index.ts'
import type { Group } from '../../../../lib/operation.ts'
import { emailKey } from '../../../../lib/rules/members.ts'
import { isSame } from '../../../../lib/storage/changes.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { rowsOf } from '../../../../lib/storage/rows-of.ts'
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
import { LeftOut, type PushStage } from './push-stage.ts'
import { isForbidden, labelOf, type Sending, sendRow } from './send-row.ts'
import { stages, stagesOf } from './stages/all.ts'

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
  readonly tell?: (progress: Progress) => void
}

/** The rows of one list. */
export interface PushedList {
  readonly list: string
  /** Rows in the storage. */
  here: number
  sent: number
  /** Records that were on the server already, and stay as they are there. */
  matched: number
  changed: number
  /** Rows that the server has as they are. */
  unchanged: number
  left: number
  /** Why the list could not be sent at all. */
  unsent: 'refused' | 'missing' | null
}

/** Rows that are not on the server, for one reason. */
export interface LeftRows {
  readonly list: string
  readonly reason: string
  /** Whether the server has refused them. Else the API does not take them. */
  readonly refused: boolean
  count: number
  /** The first ones. */
  readonly ids: Id[]
}

/** Columns that no request of the API takes, with the number of rows that have something in them. */
export interface NotTaken {
  readonly table: string
  /** All rows of the table, if the API takes none of it. */
  readonly rows: number | null
  readonly columns: Readonly<Record<string, number>>
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
  for (const [index, stage] of wanted.entries()) {
    const list = tally.list(stage)
    const now = () =>
      tell({ stage: stage.name, number: index + 1, stages: wanted.length, read: list.here, requests: target.pace.requests })
    try {
      await push.findOwner()
      now()
      await walk(push, stage, tally, now)
    } catch (error) {
      if (!isClientError(error)) throw error
      const unsent = isForbidden(error) ? 'refused' : [404, 405, 501].includes(error.status ?? 0) ? 'missing' : null
      if (unsent === null) throw error
      list.unsent = unsent
    }
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

function sendingOf({ storage, network, target, journal, me, isDry = false }: PushOptions): Sends {
  const myId = textOf(me['id'])
  const address = shownAddress(me['email'])
  let owner: Id | undefined
  const push: Sends = {
    reads: readsOf(storage, network.id),
    target,
    journal,
    isDry,
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

async function walk(push: Sending, stage: PushStage, tally: Tally, now: () => void): Promise<void> {
  const isSecond = stage.create === undefined
  const ahead = new Set<string>()
  const visit = async (row: Row): Promise<void> => {
    const label = labelOf(stage, row)
    if (ahead.has(label)) return
    ahead.add(label)
    await parentFirst(row)
    const list = tally.list(stage)
    if (!isSecond) list.here++
    try {
      const outcome = await sendRow(push, stage, row)
      if (!isSecond || outcome === 'changed') list[outcome]++
      if (!isSecond) tally.lose(stage, row, push.owner)
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error
      if (!isSecond || error.refused || (error.message === stage.missing && !push.isDry)) tally.leave(stage, row, error)
    }
    now()
  }
  const parentFirst = async (row: Row): Promise<void> => {
    const parent = stage.parent === undefined ? null : textOf(Object(row)[stage.parent])
    if (!parent || push.thereIf(stage.label, parent) !== undefined) return
    const [first] = await push.reads.find(stage.table, { where: { id: parent } })
    if (first) await visit(first)
  }
  const rows = stage.rows ? stage.rows(push) : rowsOf(push.reads, stage.table, stage.where ?? {})
  for await (const row of rows) await visit(row)
}

type Tally = ReturnType<typeof tallyOf>

/** Reasons that the report shows. Some servers write the record into their sentence. */
const mostReasons = 100
const mostIds = 10

function tallyOf() {
  const lists = new Map<string, PushedList>()
  const left: LeftRows[] = []
  const lost = new Map<string, Map<string, number>>()
  const add = (table: string, column: string): void => {
    const columns = lost.get(table) ?? new Map<string, number>()
    columns.set(column, (columns.get(column) ?? 0) + 1)
    lost.set(table, columns)
  }
  return {
    left,
    list({ name }: PushStage): PushedList {
      const none = { list: name, here: 0, sent: 0, matched: 0, changed: 0, unchanged: 0, left: 0, unsent: null }
      const list = lists.get(name) ?? none
      lists.set(name, list)
      return list
    },
    /** A second pass without a change is not shown. */
    lists: () => [...lists.values()].filter(({ here, changed, left: some, unsent }) => here + changed + some > 0 || unsent),
    leave(stage: PushStage, row: Row, { message, refused }: LeftOut): void {
      this.list(stage).left++
      const isFull = left.length >= mostReasons
      const reason = isFull ? 'other reasons' : message
      const known = left.find((one) => one.list === stage.name && one.reason === reason && one.refused === refused)
      const rows = known ?? { list: stage.name, reason, refused, count: 0, ids: [] }
      if (!known) left.push(rows)
      rows.count++
      if (rows.ids.length < mostIds) rows.ids.push(row.id)
    },
    /** Counts what of a row the API does not take. */
    lose({ table, lost: columns, madeBy, loses }: PushStage, row: Row, owner: () => Id | undefined): void {
      const values: Readonly<Record<string, unknown>> = Object(row)
      for (const name of columns) if (isFilled(values[name], table.columns[name]?.default)) add(table.name, name)
      if (madeBy !== undefined && values[madeBy] !== owner()) add(table.name, madeBy)
      for (const name of loses?.(row) ?? []) add(table.name, name)
    },
    lost: (): NotTaken[] => [...lost].map(([table, columns]) => ({ table, rows: null, columns: Object.fromEntries(columns) })),
  }
}

const isFilled = (value: unknown, standard: unknown): boolean =>
  value !== null && value !== undefined && value !== '' && !isSame(value, standard)

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
