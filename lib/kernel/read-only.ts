/** Networks that are read-only: reads and deliveries go on, and every write is refused. */
import { type ApiError, accessError, isApiError } from '../errors.ts'
import type { Tx } from '../storage/contract.ts'
import type { Id } from '../storage/table.ts'
import { type NetworkRow, networks } from '../storage/tables/administration.ts'

const kind = 'read_only'
/** Seconds until a client tries again. */
const retryAfter = '30'

/** The refusal of a write. */
export const readOnly = (): ApiError =>
  accessError(503, kind, 'The network is read-only for now. Nothing was written; try again later', { 'retry-after': retryAfter })

/** Whether a write was refused because its network is read-only. */
export const isReadOnly = (error: unknown): error is ApiError =>
  isApiError(error) && error.status === 503 && error.body.error === kind

export interface OpenNetwork {
  /** Its row as the transaction sees it, where it was read. */
  readonly row?: Promise<NetworkRow | undefined>
  /** @throws ApiError 503 if the transaction writes and the network is read-only */
  confirmed(): Promise<void>
}

/** Of a transaction that does not depend on it. */
export const anyNetwork: OpenNetwork = { confirmed: async () => undefined }

/**
 * Holds a network open until the transaction ends: a change that makes it read-only waits for that. Sent early, it costs no extra round
 * trip.
 */
export function keepOpen(tx: Tx, network_id: Id): OpenNetwork {
  const row = tx.lock(networks, network_id, 'use')
  // Otherwise a rejection would be unhandled if work fails before it awaits.
  row.catch(() => undefined)
  return {
    row,
    async confirmed() {
      if ((await row)?.read_only) throw readOnly()
    },
  }
}
