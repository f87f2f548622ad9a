/** The directory of uploads. */
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeDirectory } from '../../../adapters/files/directory.ts'
import { errorCode } from '../../../adapters/files/errors.ts'
import type { DirectoryAssetsOptions } from '../../../adapters/ports/index.ts'
import { UsageError } from '../../usage.ts'
import { assetsPath } from '../http/assets.ts'
import { assetsDirectory } from '../storage/open.ts'
import type { ServeFlags } from './serve-flags.ts'

/**
 * Uploads are kept as long as the storage keeps their addresses: those of a storage in memory are in a directory of the process's
 * own, which goes with it.
 * @throws UsageError if the directory that was named cannot be made
 */
export function openUploads(
  { storage, assets }: ServeFlags,
  onClose: (close: () => Promise<unknown>) => void,
): DirectoryAssetsOptions {
  if (!assets && storage === 'memory:') {
    const directory = join(tmpdir(), `folkmoot-assets-${crypto.randomUUID()}`)
    onClose(() => rm(directory, { recursive: true, force: true }))
    return { directory, baseUrl: assetsPath }
  }
  const directory = assetsDirectory(storage, assets)
  if (assets) requireDirectory(directory)
  return { directory, baseUrl: assetsPath }
}

/** Better now than at the first upload. */
function requireDirectory(path: string): void {
  try {
    makeDirectory(path)
  } catch (error) {
    throw new UsageError(`--assets ${path} must be a directory, and it cannot be made (${errorCode(error)})`)
  }
}
