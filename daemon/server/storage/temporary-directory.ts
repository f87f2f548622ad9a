import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StorageError } from '../../../lib/storage/contract.ts'

/**
 * Makes a directory among the system's temporary ones. A container with a read-only disk may have none of those.
 * @throws StorageError `unavailable` that names the remedy
 */
export async function newTemporaryDirectory(prefix: string): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), prefix))
  } catch (error) {
    const message = `no temporary directory can be made; TMPDIR names another place for them: ${(error as Error).message}`
    throw new StorageError('unavailable', message, { cause: error })
  }
}
