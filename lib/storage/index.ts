/** folkmoot/storage: what an engineer needs to put the API on their own database. */
import '../base/supported-runtime.ts'

export type { Audience, EndpointRemoval, EndpointUpsert, EventRecord, OutboxRecord } from '../outbox/record.ts'
export type {
  FastPaths,
  Increment,
  LockStrength,
  OutboxWriter,
  Patch,
  Query,
  Storage,
  StorageErrorCode,
  TransactionOptions,
  Tx,
  Where,
} from './contract.ts'
export { Conflict as TransactionConflict, isStorageError, isUniqueViolation, StorageError, UniqueViolation } from './contract.ts'
export type { Column, Columns, ColumnType, Id, NewIn, OnRemove, Reference, Row, RowIn, Table } from './table.ts'
export { boolean, defaultsTo, id, integer, json, nullable, real, reference, table, text, timestamp } from './table.ts'
export { tables } from './tables.ts'
export { type HostRows, type HostTable, type HostTables, withTables } from './with-tables.ts'
