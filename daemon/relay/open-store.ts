/** Opens what a relay works with: its store, and the source of its events. */
import { dirname, join } from 'node:path'
import { makeDirectory } from '../../adapters/files/directory.ts'
import { acquireLock, lockOwner, type ProcessLock } from '../../adapters/files/process-lock.ts'
import { isPostgresAddress, postgresAddress } from '../../adapters/sql/postgres/address.ts'
import type { OutboxSource } from '../../lib/outbox/source.ts'
import { StorageError } from '../../lib/storage/contract.ts'
import { about } from '../usage.ts'
import type { Clock } from './clock.ts'
import { openSource, relayHome } from './ingest/outbox-address.ts'
import { outboxIntake } from './ingest/outbox-intake.ts'
import type { Settings } from './settings.ts'
import type { Intake } from './store/intake.ts'
import type { OperatorStore } from './store/operator/operator-store.ts'
import { openPostgresOperator } from './store/postgres/operator.ts'
import { openPostgresStore } from './store/postgres/store.ts'
import type { SeparateStore } from './store/separate-store.ts'
import { openSqliteOperator } from './store/sqlite/operator.ts'
import { openSqliteStore } from './store/sqlite/store.ts'
import type { RelayStore } from './store/store.ts'

/** The file in which the relay of a directory or of a SQLite file remembers. */
export const storePath = (outbox: string): string => join(relayHome(outbox), 'relay.sqlite')
/** The name of such an outbox in the lock of its relay. */
const lockPath = (outbox: string): string => join(relayHome(outbox), 'relay')

export interface OpenStoreOptions {
  /** A directory, `sqlite:PATH` or `postgres://…`. */
  readonly outbox: string
  readonly clock: Clock
  readonly settings: () => Settings
  /** Instead of those of the outbox, for tests. */
  readonly source?: OutboxSource | undefined
  readonly store?: SeparateStore | undefined
}

export interface OpenStore {
  readonly store: RelayStore
  readonly intake: Intake
  /** Lets go of the store, and of the outbox for another relay. The intake is closed before that. */
  close(): Promise<void>
}

/**
 * Opens what an outbox names: a PostgreSQL database is shared by any number of relays; any other outbox is held for this one.
 * @throws StorageError `locked` when another relay holds it, `newer`, `damaged`, `unavailable`
 */
export const openStore = (options: OpenStoreOptions): Promise<OpenStore> => aboutOutbox(openKind(options))

async function openKind(options: OpenStoreOptions): Promise<OpenStore> {
  const { outbox, clock, settings } = options
  if (!isPostgresAddress(outbox) || options.store) return openSeparate(options)
  const { store, intake } = await openPostgresStore({ ...postgresAddress(outbox), clock, lease: () => settings().lease * 1000 })
  return { store, intake, close: () => store.close() }
}

/**
 * Opens for an operator what the relays of an outbox remember.
 * @param looking nothing is made or changed
 * @throws UsageError when no relay has ever run there, StorageError
 */
export const openOperatorStore = (outbox: string, looking = false): Promise<OperatorStore> =>
  aboutOutbox(
    isPostgresAddress(outbox)
      ? openPostgresOperator({ ...postgresAddress(outbox), looking })
      : openSqliteOperator(storePath(outbox), () => lockOwner(lockPath(outbox)), looking),
  )

const aboutOutbox = <T>(opening: Promise<T>): Promise<T> =>
  opening.catch((error: unknown) => {
    throw about(error, 'outbox')
  })

async function openSeparate({ outbox, clock, source, store: given }: OpenStoreOptions): Promise<OpenStore> {
  const lock = await lockRelay(lockPath(outbox))
  let store: SeparateStore | undefined
  try {
    store = given ?? (await openSqliteStore(storePath(outbox)))
    const intake = await outboxIntake(source ?? (await openSource(outbox)), store, clock)
    return { store, intake, close: () => closeAll(store, lock) }
  } catch (error) {
    await closeAll(store, lock)
    throw error
  }
}

async function closeAll(store: RelayStore | undefined, lock: { release(): Promise<void> }): Promise<void> {
  await store?.close()
  await lock.release()
}

/**
 * Holds an outbox for this relay: two would send everything twice.
 * @param path a path that stands for the outbox; its directory is made
 * @throws StorageError `locked`, saying who holds it, `unavailable` or `full`
 */
async function lockRelay(path: string): Promise<ProcessLock> {
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
