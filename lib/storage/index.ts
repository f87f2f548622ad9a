/** folkmoot/storage: what an engineer needs to put the API on their own database. */
import '../base/supported-runtime.ts'

export type { Audience, EndpointRemoval, EndpointUpsert, EventRecord, OutboxRecord } from '../outbox/record.ts'
export type {
  Conditions,
  CountQuery,
  FastPaths,
  Increment,
  LockStrength,
  OutboxWriter,
  Patch,
  Query,
  Range,
  Storage,
  StorageErrorCode,
  TransactionOptions,
  Tx,
  Where,
  Within,
} from './contract.ts'
export { Conflict as TransactionConflict, isStorageError, isUniqueViolation, StorageError, UniqueViolation } from './contract.ts'
export type { Column, Columns, ColumnType, Derivation, Id, NewIn, OnRemove, Reference, Row, RowIn, Table } from './table.ts'
export { boolean, defaultsTo, id, integer, json, nullable, real, reference, table, text, timestamp } from './table.ts'
export { tables } from './tables.ts'
export { type HostRows, type HostTable, type HostTables, withTables } from './with-tables.ts'
