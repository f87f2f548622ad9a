/** Which connections are of no more use. The errors of their statements show it, whatever is made of these later. */
import type { PgClient } from './connection.ts'
import { isLost, isReadOnly } from './errors.ts'

const unfit = new WeakMap<PgClient, 'lost' | 'read-only'>()

export function noteError(client: PgClient, error: unknown): void {
  if (isReadOnly(error)) unfit.set(client, 'read-only')
  else if (isLost(error)) unfit.set(client, 'lost')
}

/** Notes that the outcome on a connection is unknown. */
export const noteUnknown = (client: PgClient): void => void unfit.set(client, 'lost')

/**
 * Why a connection is of no more use, if it is. A server that takes no changes may have a successor at the same address, which only a
 * new connection reaches.
 */
export const unfitness = (client: PgClient): 'lost' | 'read-only' | undefined => unfit.get(client)
