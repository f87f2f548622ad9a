/** The columns that no record shows: a copy through the API has their defaults. They follow from the stages. */

import { Network } from '../../../../lib/records/network.ts'
import type { Row, Table } from '../../../../lib/storage/table.ts'
import { networks } from '../../../../lib/storage/tables/administration.ts'
import { tables as typedTables } from '../../../../lib/storage/tables.ts'
import { stages } from './stages/all.ts'

/** Columns of a table that no record shows; all of them if no list shows its rows. */
export interface NotGiven {
  readonly table: string
  readonly columns: readonly string[] | 'all'
}

/** Columns that every row has. */
const common = new Set(['id', 'network_id', 'created_at', 'updated_at'])

/** Everything that is not given, by table. */
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
