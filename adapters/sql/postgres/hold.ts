/** One connection out of a pool, within a time limit. */
import { StorageError } from '../../../lib/storage/contract.ts'
import type { PgPool, PgPoolClient } from './connection.ts'
import { faultOf } from './errors.ts'

/** Errors of a client that is in use come with its queries as well; without a listener they would end the process. */
const ignore = () => undefined

export interface Held {
  readonly client: PgPoolClient
  /** Gives the connection back, or throws it away when it is in an unknown state. Once is enough. */
  release(broken?: boolean): void
  isReleased(): boolean
}

/**
 * A client out of the pool; a host's pool may have no time limit.
 * @throws StorageError `unavailable` when none is free in time; what `pg` throws when it cannot connect
 */
export async function holdClient(pool: PgPool, connectTimeoutMs: number): Promise<Held> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  // `pg` throws synchronously for an address that it cannot read. So the timer comes after it, and cannot outlive the call.
  const connecting = pool.connect()
  const timer = setTimeout(() => reject(exhausted(connectTimeoutMs)), connectTimeoutMs)
  let client: PgPoolClient
  try {
    client = await Promise.race([connecting, late])
  } catch (error) {
    connecting.then(
      (unwanted) => unwanted.release(),
      () => undefined,
    )
    throw faultOf(error) === 'busy' ? exhausted(connectTimeoutMs) : error
  } finally {
    clearTimeout(timer)
  }
  client.on('error', ignore)
  let isReleased = false
  return {
    client,
    isReleased: () => isReleased,
    release(broken = false) {
      if (isReleased) return
      isReleased = true
      client.removeListener('error', ignore)
      client.release(broken)
    },
  }
}

const exhausted = (connectTimeoutMs: number) =>
  new StorageError('unavailable', `no connection to PostgreSQL became free in ${connectTimeoutMs} ms`)
