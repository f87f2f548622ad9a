import { existsSync } from 'node:fs'
import { rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { errorCode } from '../../../adapters/files/errors.ts'
import { isPostgresAddress, postgresAddress } from '../../../adapters/sql/postgres/address.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import type { OutboxWriter, Storage } from '../../../lib/storage/contract.ts'
import { about, UsageError } from '../../usage.ts'
import { newTemporaryDirectory } from './temporary-directory.ts'
import { unknownStorage } from './unknown-address.ts'

/** A storage that is open, and where the relay finds its outbox. */
export interface OpenStorage {
  readonly storage: Storage
  /** The value of `--outbox` for `folkmoot-relay`. */
  readonly outbox: string
}

/**
 * Opens the storage that a command line names. Only its own engine is loaded.
 * @param address `lowdb:PATH`, `memory:`, `sqlite:PATH` or `postgres://…` (`?schema=NAME` for another schema)
 * @param outboxDirectory the outbox directory of a storage without an outbox table; next to the file by default
 * @param missing what to do about a missing storage: a command that only reads or changes one must not create one from a
 * mistyped name
 * @throws UsageError when the address has no known form, or the storage is missing
 * @throws StorageError when the storage refuses to open: `locked`, `damaged`, `newer`, `full`
 */
export async function openStorage(
  address: string,
  outboxDirectory: string | undefined,
  warn: (sentence: string) => void,
  missing: 'create' | 'refuse' = 'create',
  option = '--storage',
): Promise<OpenStorage> {
  try {
    return await open(address, outboxDirectory, warn, missing, option)
  } catch (error) {
    throw about(error, option.slice(2))
  }
}

async function open(
  address: string,
  outboxDirectory: string | undefined,
  warn: (sentence: string) => void,
  missing: 'create' | 'refuse',
  option: string,
): Promise<OpenStorage> {
  const isPostgres = isPostgresAddress(address)
  // No path has a password.
  if (!isPostgres && withoutPassword(address) !== address) throw unknownStorage(option, address)
  const [kind, path] = [address.slice(0, address.indexOf(':')), address.slice(address.indexOf(':') + 1)]
  const migrate = missing === 'create'
  const file = fileOfStorage(address)
  if (file !== undefined && missing === 'refuse') await mustExist(file)
  if (kind === 'memory') {
    if (missing === 'refuse') throw new UsageError(nothingInMemory)
    const directory = resolve(outboxDirectory ?? (await newTemporaryDirectory('folkmoot-outbox-')))
    const { memoryStorage } = await import('../../../adapters/storage/memory.ts')
    const storage = memoryStorage({ outbox: await outboxIn(directory, outboxDirectory) })
    return { storage: outboxDirectory ? storage : leavingNothing(storage, directory), outbox: directory }
  }
  if (kind === 'lowdb' && file !== undefined) {
    const { lowdbStorage } = await import('../../../adapters/storage/lowdb.ts')
    const directory = resolve(outboxDirectory ?? join(dirname(file), 'outbox'))
    const isNew = !existsSync(directory)
    const outbox = await outboxIn(directory, outboxDirectory)
    try {
      const storage = await lowdbStorage({ path: file, outbox, warn })
      return { storage: isNew ? leavingNoEmpty(directory, file, storage) : storage, outbox: directory }
    } catch (error) {
      await outbox.close()
      throw error
    }
  }
  if (!(kind === 'sqlite' && file !== undefined) && !isPostgres) throw unknownStorage(option, address)
  // Events are in a table there, so that they commit with the rows.
  if (outboxDirectory !== undefined && !isOutboxOf(address, outboxDirectory))
    throw about(new UsageError('--outbox goes with lowdb: and memory:; this storage holds its own outbox'), 'outbox')
  if (kind === 'sqlite') {
    if (path === ':memory:') throw new UsageError(`${option} sqlite: needs a file; memory: keeps everything in memory`)
    const { sqliteStorage } = await import('../../../adapters/storage/sqlite.ts')
    return { storage: await sqliteStorage({ path, migrate }), outbox: `sqlite:${resolve(path)}` }
  }
  const { postgresStorage } = await import('../../../adapters/storage/postgres.ts')
  return { storage: await postgresStorage({ ...postgresAddress(address), migrate }), outbox: address }
}

async function outboxIn(directory: string, named: string | undefined): Promise<OutboxWriter> {
  const { openOutbox } = await import('../../../adapters/outbox/file.ts')
  return openOutbox({ directory }).catch((error: unknown) => {
    throw named === undefined ? error : about(error, 'outbox')
  })
}

/** Whether the address of an outbox is that of the storage itself, as relays have it: one variable may serve both programs. */
const isOutboxOf = (address: string, outbox: string): boolean =>
  outbox === address || (outbox.startsWith('sqlite:') && fileOfStorage(outbox) === fileOfStorage(address))

/** The file of a storage that is one, as an absolute path. */
export function fileOfStorage(address: string): string | undefined {
  const path = /^(?:lowdb|sqlite):(.+)$/s.exec(address)?.[1]
  return path === undefined ? undefined : resolve(path)
}

/** The directory of uploads: the named one, or next to the file of the storage, or in the current directory for a database elsewhere. */
export const assetsDirectory = (address: string, named: string | undefined): string =>
  resolve(named ?? join(dirname(fileOfStorage(address) ?? 'db'), 'assets'))

/** Another user's directory hides its files, so "missing" would be wrong. */
export async function mustExist(file: string): Promise<void> {
  await stat(file).catch((error: unknown) => {
    const isHidden = ['EACCES', 'EPERM'].includes(errorCode(error))
    throw new UsageError(
      isHidden ? `${file} belongs to another user: run the command as the user of the server` : nothingAt(file),
    )
  })
}

const nothingAt = (file: string): string =>
  `there is no storage at ${file}: name one with --storage, or make one with \`folkmoot networks create\``

const nothingInMemory = 'memory: begins and ends empty: reach the server that holds it with --server, or name another --storage'

/** An outbox directory that was made for a storage in which nothing was committed goes with it: a relay would watch it in vain. */
function leavingNoEmpty(directory: string, file: string, storage: Storage): Storage {
  return {
    ...storage,
    async close() {
      await storage.close()
      // A relay that has been here in between has its own files in it.
      if (!existsSync(file)) await rmdir(directory).catch(() => undefined)
    },
  }
}

/** With the rows of memory, its temporary directory is removed too. */
function leavingNothing(storage: Storage, directory: string): Storage {
  return {
    ...storage,
    async close() {
      await storage.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
