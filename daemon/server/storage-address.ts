import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { openOutbox } from '../../adapters/outbox/file.ts'
import { lowdbStorage } from '../../adapters/storage/lowdb.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../lib/storage/contract.ts'
import { UsageError } from '../usage.ts'

/** A storage that is open, and where the relay finds its outbox. */
export interface OpenStorage {
  readonly storage: Storage
  /** What `folkmoot-relay --outbox` takes. */
  readonly outbox: string
}

export const defaultStorage = 'lowdb:./data/db.json'

/**
 * Opens the storage that a command line names.
 * @param address `lowdb:PATH` or `memory:`
 * @param outboxDirectory where the outbox of a storage without one of its own is; beside the file by default
 * @param warn is told what the operator should know
 * @throws UsageError when the address is not one of ours
 * @throws StorageError when the storage refuses to open: `locked`, `damaged`, `newer`, `full`
 */
export async function openStorage(
  address: string,
  outboxDirectory: string | undefined,
  warn: (sentence: string) => void,
): Promise<OpenStorage> {
  const [kind, path] = [address.slice(0, address.indexOf(':')), address.slice(address.indexOf(':') + 1)]
  if (kind === 'memory') {
    const directory = resolve(outboxDirectory ?? (await mkdtemp(join(tmpdir(), 'folkmoot-outbox-'))))
    return { storage: memoryStorage({ outbox: await openOutbox({ directory }) }), outbox: directory }
  }
  if (kind === 'lowdb' && path !== '') {
    const file = resolve(path)
    const directory = resolve(outboxDirectory ?? join(dirname(file), 'outbox'))
    const outbox = await openOutbox({ directory })
    try {
      return { storage: await lowdbStorage({ path: file, outbox, warn }), outbox: directory }
    } catch (error) {
      await outbox.close()
      throw error
    }
  }
  throw new UsageError(`--storage must be lowdb:PATH or memory:, got ${JSON.stringify(address)}`)
}
