/** The results of a push, list by list. */
import { isSame } from '../../../../lib/storage/changes.ts'
import type { Id, Row } from '../../../../lib/storage/table.ts'
import type { LeftOut, PushStage } from './push-stage.ts'

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

export type Tally = ReturnType<typeof tallyOf>

/** Reasons that the report shows. Some servers write the record into their sentence. */
const mostReasons = 100
const mostIds = 10

export function tallyOf() {
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
