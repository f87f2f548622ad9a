/** Errors of a storage as the caller sees them: a 503 that states whether the write happened. */
import { ApiError } from '../errors.ts'
import { isStorageError, type StorageErrorCode } from '../storage/contract.ts'

const busy = 'The storage is busy or cannot be reached; nothing was written. Try again'

const sentences: Readonly<Partial<Record<StorageErrorCode, string>>> = {
  full: 'The storage is full; nothing was written',
  unavailable: busy,
  closed: 'The server is shutting down. Nothing was saved; try again later',
  conflict: busy,
  unknown:
    'The storage did not respond, so this may have been written. ' +
    'Repeat the request with the same Idempotency-Key. Without a key, first check whether it was written',
}

/** Seconds until a client tries again. */
export const retryAfter = '5'

/** The sentence for a trouble of the storage that may be over at the next try; `undefined` for anything else. */
export const storageTrouble = (error: unknown): string | undefined => (isStorageError(error) ? sentences[error.code] : undefined)

/** Whether a commit may or may not have come through. */
export const isOutcomeUnknown = (error: unknown): boolean => isStorageError(error) && error.code === 'unknown'

/** Runs one of the host's own calls: a trouble of the storage is thrown as the refusal of a request would have been. */
export async function refusingTrouble<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const sentence = storageTrouble(error)
    if (sentence === undefined) throw error
    const refusal = new ApiError(503, { error: sentence }, { 'retry-after': retryAfter })
    refusal.cause = error
    throw refusal
  }
}
