/** Errors of PostgreSQL, of the network and of `pg`, by their code. */
import { Conflict, StorageError } from '../../../lib/storage/contract.ts'
import { type Fault, storageCodes } from '../faults.ts'

/** By SQLSTATE, or by the code of the operating system. A SQLSTATE that is not here stands for its class. */
const faults: Readonly<Record<string, Fault>> = {
  '08': 'lost', // connection_exception
  '22': 'value', // data_exception
  '23': 'value', // integrity_constraint_violation
  '23505': 'unique', // unique_violation
  '25006': 'closed', // read_only_sql_transaction: a standby, after a failover
  '26000': 'closed', // invalid_sql_statement_name: a pooler has given the transaction another connection
  '25P01': 'outside', // no_active_sql_transaction
  '25P02': 'aborted', // in_failed_sql_transaction
  '25P03': 'lost', // idle_in_transaction_session_timeout: nothing was committed
  '28000': 'closed', // invalid_authorization_specification
  '28P01': 'closed', // invalid_password
  '3D000': 'closed', // invalid_catalog_name
  '3F000': 'closed', // invalid_schema_name: as 42P01
  '40001': 'race', // serialization_failure
  '40P01': 'race', // deadlock_detected
  '42501': 'closed', // insufficient_privilege
  '42P01': 'closed', // undefined_table: it was there at the start
  '42P05': 'closed', // duplicate_prepared_statement: as 26000
  '53000': 'closed', // insufficient_resources
  '53100': 'full', // disk_full
  '53200': 'closed', // out_of_memory
  '53300': 'closed', // too_many_connections
  '54': 'value', // program_limit_exceeded, as the length of an index entry
  '55P03': 'busy', // lock_not_available
  '57014': 'timeout', // query_canceled: the statement timeout
  '57P01': 'lost', // admin_shutdown
  '57P02': 'lost', // crash_shutdown
  '57P03': 'lost', // cannot_connect_now
  '57P04': 'lost', // database_dropped
  '57P05': 'lost', // idle_session_timeout
  EAI_AGAIN: 'lost',
  ECONNABORTED: 'lost',
  ECONNREFUSED: 'lost',
  ECONNRESET: 'lost',
  EHOSTDOWN: 'lost',
  EHOSTUNREACH: 'lost',
  ENETDOWN: 'lost',
  ENETRESET: 'lost',
  ENETUNREACH: 'lost',
  ENOTFOUND: 'lost',
  EPIPE: 'lost',
  ETIMEDOUT: 'lost',
}

/** Errors of `pg` itself have no code. */
const messages: readonly (readonly [RegExp, Fault])[] = [
  [/^Query read timeout$/, 'silent'],
  [/timeout exceeded when trying to connect/, 'busy'],
  [/connection (terminated|ended|error)|not queryable|ETIMEDOUT/i, 'lost'],
]

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** The fault; `undefined` for errors that are not the database's. */
export function faultOf(error: unknown): Fault | undefined {
  if (error instanceof StorageError) return undefined
  const code = codeOf(error)
  if (code === undefined) return error instanceof Error ? messages.find(([words]) => words.test(error.message))?.[1] : undefined
  return faults[code] ?? (sqlState.test(code) ? faults[code.slice(0, 2)] : ofSocket(error) ? 'lost' : undefined)
}

const sqlState = /^[0-9A-Z]{5}$/

/** Whether a call on a socket failed. A Unix socket whose server is down is ENOENT, one that lets no client in is EACCES. */
const ofSocket = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && /^(?:connect|read|write|getaddrinfo)$/.test(String(error.syscall))

/** Whether the connection is gone or of no more use, as opposed to a statement that failed. */
export function isLost(error: unknown): boolean {
  const fault = faultOf(error)
  return fault === 'lost' || fault === 'silent'
}

/** The name of the unique key that is violated, if one is. */
export const violatedIndex = (error: unknown): string | undefined =>
  faultOf(error) === 'unique' && error instanceof Error && 'constraint' in error ? String(error.constraint) : undefined

/** Whether the server takes no changes. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006'

/**
 * An error before the COMMIT was sent, so nothing has happened. A lost connection is a lost race: the work may run again.
 */
export function storageErrorOf(error: unknown): unknown {
  const fault = faultOf(error)
  if (fault === 'race') return new Conflict('PostgreSQL requires the transaction to run again', { cause: error })
  if (fault === 'lost') return new Conflict('the connection to PostgreSQL was lost; nothing was written', { cause: error })
  if (fault === 'silent')
    return new StorageError('unavailable', 'PostgreSQL does not respond; nothing was written', { cause: error })
  const code = fault && storageCodes[fault]
  if (!code) return error
  return new StorageError(code, `PostgreSQL: ${(error as Error).message}${remedies[codeOf(error) ?? ''] ?? ''}`, { cause: error })
}

const poolerRemedy = '; a pooler such as PgBouncer must give each client its own connection: pool_mode = session'
const tablesRemedy = '; its tables were removed or renamed, or a restore is recreating them'
const remedies: Readonly<Record<string, string>> = {
  '25006': '; the server is a standby, or default_transaction_read_only is on: give the address of the primary',
  '26000': poolerRemedy,
  '28P01': '; the password belongs in the address or in PGPASSWORD',
  '3F000': tablesRemedy,
  '42P01': tablesRemedy,
  '42P05': poolerRemedy,
}

/** An error of the COMMIT itself: when the connection was lost, it may have come through. */
export function commitError(error: unknown): unknown {
  if (!isLost(error)) return storageErrorOf(error)
  return new StorageError('unknown', 'the connection to PostgreSQL was lost; the outcome of the commit is unknown', {
    cause: error,
  })
}

/** An error of getting a connection at all. */
export function unreachable(error: unknown): unknown {
  const known = storageErrorOf(error)
  if (known instanceof StorageError && known.code !== 'conflict') return known
  if (known === error && isOfStatement(error)) return error
  const message = String(error instanceof Error ? error.message || codeOf(error) : error)
  const remedy = remediesOfConnecting.find(([words]) => words.test(`${codeOf(error)} ${message}`))?.[1] ?? ''
  return new StorageError('unavailable', `PostgreSQL cannot be reached: ${message}${remedy}`, { cause: error })
}

/** Whether PostgreSQL refused a statement, and not the connection, which is FATAL. Its other severities are translated. */
const isOfStatement = (error: unknown): boolean =>
  sqlState.test(codeOf(error) ?? '') && !(error instanceof Error && 'severity' in error && error.severity === 'FATAL')

/** By what the code and the message contain. */
const remediesOfConnecting: readonly (readonly [RegExp, string])[] = [
  [
    /unsupported startup parameter/,
    '; a pooler such as PgBouncer must name it in ignore_startup_parameters, and have pool_mode = session',
  ],
  [/SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)/, '; sslrootcert=FILE in the address names the certificate of its CA'],
]
