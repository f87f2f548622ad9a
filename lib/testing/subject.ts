/** The subject of the storage suite, and the form of a case. */
import type { OutboxRecord } from '../outbox/record.ts'
import type { Storage } from '../storage/contract.ts'
import type { Table } from '../storage/table.ts'

/** A table as an adapter needs it: no row types, so that tables of all rows fit into one list. */
export type TableDefinition = Pick<Table, 'name' | 'columns' | 'unique' | 'indexes' | 'usual' | 'searched'>

/** One fresh, empty storage, and the ways to look behind it. */
export interface StorageUnderTest {
  /** The storage that the cases run on. */
  readonly storage: Storage
  /** Every record that was committed since the storage was opened, in the order of the commits. */
  records(): Promise<readonly OutboxRecord[]>
  /** Opens what the closed `storage` left behind. Leave it out when nothing outlives the storage, as in memory. */
  reopen?(): Promise<Storage>
  /** Removes what opening made (a directory, a schema), after the storage was closed. */
  dispose?(): Promise<void>
}

/**
 * Opens a storage for one case.
 * @param tables the tables that the suite uses, for adapters that have to make them first
 */
export type OpenStorage = (tables: readonly TableDefinition[]) => Promise<StorageUnderTest>

/** One thing that every storage does. */
export interface StorageCase {
  /** A sentence about behaviour; unique in the suite. */
  readonly title: string
  /** The case only makes sense for storages that can be opened again. */
  readonly needsReopen?: true
  /** Rejects when the storage does it wrong. */
  run(subject: StorageUnderTest): Promise<void>
}
