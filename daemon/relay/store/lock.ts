/** One relay per outbox: two would send everything twice. */
import { dirname } from 'node:path'
import { makeDirectory } from '../../../adapters/files/directory.ts'
import { acquireLock, type ProcessLock } from '../../../adapters/files/process-lock.ts'
import { StorageError } from '../../../lib/storage/contract.ts'

/**
 * Holds an outbox for this relay.
 * @param path a path that stands for the outbox; its directory is made
 * @throws StorageError `locked`, saying who holds it, `unavailable` or `full`
 */
export async function lockRelay(path: string): Promise<ProcessLock> {
  try {
    makeDirectory(dirname(path))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new StorageError('unavailable', `the directory of the relay cannot be made: ${message}`, { cause: error })
  }
  try {
    return await acquireLock(path, 'webhook relay')
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'locked') throw error
    const message = `another relay uses this outbox: ${error.message}; stop it first, or give this one another outbox`
    throw new StorageError('locked', message, { cause: error })
  }
}
