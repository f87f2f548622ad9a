/** What PostgreSQL and the network say, in the terms of the storage contract. */
import { Conflict, StorageError, type StorageErrorCode } from '../../../lib/storage/contract.ts'

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** SQLSTATE of errors that a client of the storage can do something about. */
const codes: Readonly<Record<string, StorageErrorCode>> = {
  '25006': 'unavailable', // read_only_sql_transaction: a standby, after a failover
  '25P03': 'unavailable', // idle_in_transaction_session_timeout
  '28000': 'unavailable', // invalid_authorization_specification
  '28P01': 'unavailable', // invalid_password
  '3D000': 'unavailable', // invalid_catalog_name
  '42501': 'unavailable', // insufficient_privilege
  '53000': 'unavailable', // insufficient_resources
  '53100': 'full', // disk_full
  '53200': 'unavailable', // out_of_memory
  '53300': 'unavailable', // too_many_connections
  '55P03': 'unavailable', // lock_not_available
  '57014': 'unavailable', // query_canceled: the statement timeout
}

/** serialization_failure, deadlock_detected: PostgreSQL asks for the whole transaction again. */
const isRace = (code: string | undefined) => code === '40001' || code === '40P01'

/** A statement without an answer for longer than PostgreSQL itself would have let it run. */
const isSilent = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

/** Whether the connection is gone, as opposed to a statement that failed. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error)
  if (isSilent(error)) return true
  if (code === undefined)
    return error instanceof Error && /connection (terminated|ended|error)|not queryable|ETIMEDOUT/i.test(error.message)
  return /^08...$|^57P0.$/.test(code) || /^E(CONN|PIPE|HOST|NET|TIMEDOUT|AI_AGAIN)/.test(code) || code === 'ENOTFOUND'
}

/** Whether a unique key is violated, and of which name. */
export function violatedIndex(error: unknown): string | undefined {
  if (codeOf(error) !== '23505' || !(error instanceof Error) || !('constraint' in error)) return undefined
  return String(error.constraint)
}

/** Whether a storage error stands for a connection that is of no more use. */
export const endsConnection = (error: unknown): boolean => error instanceof Error && isLost(error.cause)

/** Whether a statement was not run because one before it had failed. */
export const isInFailedTransaction = (error: unknown): boolean => codeOf(error) === '25P02'

/** Whether there was no transaction to make a savepoint in. */
export const isOutsideTransaction = (error: unknown): boolean => codeOf(error) === '25P01'

/**
 * An error before the COMMIT was sent, so nothing has happened. A lost connection is a lost race: the work may run again.
 */
export function storageErrorOf(error: unknown): unknown {
  const code = codeOf(error)
  if (isRace(code)) return new Conflict('PostgreSQL asks to run the transaction again', { cause: error })
  if (isSilent(error)) return new StorageError('unavailable', 'PostgreSQL does not answer; nothing was written', { cause: error })
  if (isLost(error)) return new Conflict('the connection to PostgreSQL was lost; nothing was written', { cause: error })
  const known = code === undefined ? undefined : codes[code]
  if (!known) return error
  const remedy = code === '28P01' ? '; the password belongs in the address or in PGPASSWORD' : ''
  return new StorageError(known, `PostgreSQL: ${(error as Error).message}${remedy}`, { cause: error })
}

/** An error of the COMMIT itself: when the connection was lost, it may have come through. */
export function commitError(error: unknown): unknown {
  if (!isLost(error)) return storageErrorOf(error)
  return new StorageError('unknown', 'the connection to PostgreSQL was lost; whether the commit came through is not known', {
    cause: error,
  })
}

/** An error of getting a connection at all. */
export function unreachable(error: unknown): unknown {
  const known = storageErrorOf(error)
  if (known instanceof StorageError && known.code !== 'conflict') return known
  if (known === error && codeOf(error) !== undefined) return error
  const message = error instanceof Error ? error.message || codeOf(error) : String(error)
  return new StorageError('unavailable', `PostgreSQL cannot be reached: ${message}`, { cause: error })
}
