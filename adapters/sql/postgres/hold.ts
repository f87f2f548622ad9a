/** One connection out of a pool, within a time limit. */
import { StorageError } from '../../../lib/storage/contract.ts'
import type { PgPool, PgPoolClient } from './connection.ts'
import { faultOf } from './errors.ts'
import { unfitness } from './fitness.ts'

/** Errors of a client that is in use come with its queries as well; without a listener they would end the process. */
const ignore = () => undefined

export interface HeldClient {
  readonly client: PgPoolClient
  /**
   * Gives the connection back. It is closed if it is of no more use, as `fitness.ts` knows, or `broken`: in an unknown state.
   * @returns whether this call has closed it. Once is enough
   */
  release(broken?: boolean): boolean
  isReleased(): boolean
}

/** When connections were taken first, and the time before which those of a pool are of no more use; monotonic milliseconds. */
const born = new WeakMap<PgPoolClient, number>()
const staleBefore = new WeakMap<PgPool, number>()
/** Milliseconds. A younger connection shows where the address leads now: others would be no better for being new. */
const young = 1_000

function isFit(pool: PgPool, client: PgPoolClient): boolean {
  const now = performance.now()
  const since = born.get(client) ?? now
  born.set(client, since)
  return unfitness(client) === undefined && since >= (staleBefore.get(pool) ?? 0)
}

/** Those of a pool were made together: if one is on a server that takes no changes, so are others that have not tried to write. */
function noteStale(pool: PgPool, client: PgPoolClient): void {
  const now = performance.now()
  if (now - (born.get(client) ?? now) >= young) staleBefore.set(pool, now)
}

/**
 * A client out of the pool; a host's pool may have no time limit.
 * @throws StorageError `unavailable` when none is free in time; what `pg` throws when it cannot connect
 */
export async function holdClient(pool: PgPool, connectTimeoutMs: number): Promise<HeldClient> {
  const deadline = performance.now() + connectTimeoutMs
  for (;;) {
    const client = await takeClient(pool, deadline - performance.now(), connectTimeoutMs)
    if (isFit(pool, client)) return heldOf(pool, client)
    client.release(true)
  }
}

async function takeClient(pool: PgPool, leftMs: number, connectTimeoutMs: number): Promise<PgPoolClient> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  // `pg` throws synchronously for an address that it cannot read. So the timer comes after it, and cannot outlive the call.
  const connecting = pool.connect()
  const timer = setTimeout(() => reject(exhausted(connectTimeoutMs)), leftMs)
  try {
    return await Promise.race([connecting, late])
  } catch (error) {
    connecting.then(
      (unwanted) => unwanted.release(),
      () => undefined,
    )
    throw faultOf(error) === 'busy' ? exhausted(connectTimeoutMs) : error
  } finally {
    clearTimeout(timer)
  }
}

function heldOf(pool: PgPool, client: PgPoolClient): HeldClient {
  client.on('error', ignore)
  let isReleased = false
  return {
    client,
    isReleased: () => isReleased,
    release(broken = false) {
      if (isReleased) return false
      isReleased = true
      client.removeListener('error', ignore)
      const why = unfitness(client)
      if (why === 'read-only') noteStale(pool, client)
      const isClosed = broken || why !== undefined
      client.release(isClosed)
      return isClosed
    },
  }
}

const exhausted = (connectTimeoutMs: number) =>
  new StorageError('unavailable', `no connection to PostgreSQL became free in ${connectTimeoutMs} ms`)
