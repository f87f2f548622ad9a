/** Whether an API key still works. */
import { accessError } from '../errors.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { type ApiKeyRow, apiKeys } from '../storage/tables/administration.ts'

export const expired = () =>
  accessError(401, 'token_expired', 'The API token was revoked or has expired. Create a new one.', {
    'www-authenticate': 'Bearer',
  })

/** Whether a key was revoked or has expired. */
export const hasEnded = (key: Pick<ApiKeyRow, 'revoked_at' | 'expires_at'>, now: number): boolean =>
  key.revoked_at !== null || (key.expires_at !== null && Date.parse(key.expires_at) <= now)

/**
 * Reads a key again, inside the transaction that writes: it may have been revoked while the body arrived. The read is sent
 * early: where statements travel together it goes with the first ones of the work, and costs no extra round trip.
 * @returns throws ApiError 401 `token_expired` when it is awaited
 */
export function keyStillWorks(tx: ScopedTx, key_id: Id, now: () => number): () => Promise<void> {
  const ahead = tx.get(apiKeys, key_id)
  // Otherwise a rejection would be unhandled if work fails before it awaits.
  ahead.catch(() => undefined)
  return async () => {
    const key = await ahead
    if (!key || hasEnded(key, now())) throw expired()
  }
}
