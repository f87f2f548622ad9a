/** `folkmoot info`: what a report of a fault needs, without anything secret. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, release } from 'node:os'
import { dirname, join } from 'node:path'
import { platform, versions } from 'node:process'
import { errorCode } from '../../../adapters/files/errors.ts'
import { isPostgresAddress, postgresAddress } from '../../../adapters/sql/postgres/address.ts'
import { newClient } from '../../../adapters/sql/postgres/pool.ts'
import { isStorageError } from '../../../lib/storage/contract.ts'
import type { Output } from '../../output.ts'
import { openOperatorStore } from '../../relay/open-store.ts'
import { table } from '../../table.ts'
import { about, NoRelayYet, UsageError } from '../../usage.ts'
import type { Operator } from '../control/calls.ts'
import { fileOfStorage } from '../storage/open.ts'
import { unknownStorage } from '../storage/unknown-address.ts'
import { type StorageFlags, withOperator } from './operator.ts'

/** Numbers and versions, never an address, a path, a name or a message: they may say too much. */
interface Info {
  readonly folkmoot: string
  readonly node: string
  readonly platform: string
  readonly sqlite: string | null
  /** The version of the package `pg`, if it is installed. */
  readonly pg: string | null
  /** The version of the PostgreSQL server. */
  readonly postgres: string | null
  readonly storage: 'lowdb' | 'sqlite' | 'postgres' | 'server'
  /** `ok`, or why it cannot be read. */
  readonly state: string
  readonly networks: number | null
  readonly endpoints: number | null
  /** Null if no relay has run on the outbox of the storage. */
  readonly relay: RelayInfo | string | null
}

interface RelayInfo {
  readonly running: number
  readonly endpoints: number
  readonly disabled: number
  readonly circuits_open: number
  readonly pending: number
  readonly dead: number
}

/** @throws UsageError for an address of no known form; whatever else cannot be read is in the result */
export async function info(flags: StorageFlags, version: string, out: Output): Promise<void> {
  const storage = engineOf(flags)
  const found: Info = {
    folkmoot: version,
    node: versions.node,
    platform: `${platform} ${arch()} ${release()}`,
    sqlite: versions['sqlite'] ?? null,
    pg: installedPg(),
    postgres: storage === 'postgres' ? await serverVersion(flags.storage) : null,
    storage,
    ...(await contentOf(flags, out)),
    relay: await relayOf(flags),
  }
  if (flags.json) return out.line(JSON.stringify(found))
  const rows = Object.entries(found).flatMap(([name, value]) => rowsOf(name, value))
  const columns = [
    { title: 'what', cell: (row: Row) => row.name, fits: 'whole' },
    { title: 'value', cell: (row: Row) => row.value, fits: 'wrap' },
  ] as const
  out.line(table(columns, rows, { empty: '', now: 0, width: out.width }).trimEnd())
}

interface Row {
  readonly name: string
  readonly value: string | number | null
}

const rowsOf = (name: string, value: Info[keyof Info]): readonly Row[] =>
  value !== null && typeof value === 'object'
    ? Object.entries(value).map(([part, count]) => ({ name: `${name} ${part.replace('_', ' ')}`, value: count }))
    : [{ name, value }]

function engineOf({ storage, server }: StorageFlags): Info['storage'] {
  if (server !== undefined) return 'server'
  if (isPostgresAddress(storage)) return 'postgres'
  const [, engine] = /^(lowdb|sqlite):./s.exec(storage) ?? []
  if (engine === 'lowdb' || engine === 'sqlite') return engine
  if (storage === 'memory:')
    throw about(new UsageError('memory: begins and ends empty: reach the server that holds it with --server'), 'storage')
  throw about(unknownStorage('--storage', storage), 'storage')
}

async function contentOf(flags: StorageFlags, out: Output): Promise<Pick<Info, 'state' | 'networks' | 'endpoints'>> {
  const file = flags.server === undefined ? fileOfStorage(flags.storage) : undefined
  if (file !== undefined && !existsSync(file)) return { state: 'missing', networks: null, endpoints: null }
  try {
    // Warnings may name paths.
    return await withOperator(flags, { ...out, warn: () => undefined }, async (operator) => ({
      state: 'ok',
      ...(await countsOf(operator)),
    }))
  } catch (error) {
    return { state: reasonOf(error), networks: null, endpoints: null }
  }
}

async function countsOf({ networks, endpoints }: Operator): Promise<Pick<Info, 'networks' | 'endpoints'>> {
  const all = await networks.list()
  let registered = 0
  for (const { id } of all) registered += (await endpoints.list(id)).length
  return { networks: all.length, endpoints: registered }
}

async function relayOf(flags: StorageFlags): Promise<Info['relay']> {
  try {
    const outbox = await outboxOf(flags)
    const store = await openOperatorStore(outbox, true)
    try {
      const [relays, endpoints] = [await store.relays(), await store.endpoints()]
      const sum = (count: (each: (typeof endpoints)[number]) => number) => endpoints.reduce((all, each) => all + count(each), 0)
      return {
        running: relays.length,
        endpoints: endpoints.length,
        disabled: sum(({ disabled }) => (disabled === null ? 0 : 1)),
        circuits_open: sum(({ circuit }) => (circuit === 'open' ? 1 : 0)),
        pending: sum(({ pending }) => pending),
        dead: sum(({ dead }) => dead),
      }
    } finally {
      await store.close()
    }
  } catch (error) {
    return error instanceof NoRelayYet ? null : reasonOf(error)
  }
}

/** Where the relay of a storage reads: known without opening the storage, which another process may hold. */
async function outboxOf(flags: StorageFlags): Promise<string> {
  const { storage, server, outbox } = flags
  if (server !== undefined)
    return withOperator(flags, { line: () => undefined, warn: () => undefined }, (operator) => operator.outbox())
  const file = fileOfStorage(storage)
  if (file === undefined) return storage
  return storage.startsWith('sqlite:') ? `sqlite:${file}` : (outbox ?? join(dirname(file), 'outbox'))
}

function installedPg(): string | null {
  try {
    const { version } = createRequire(import.meta.url)('pg/package.json') as { readonly version: string }
    return version
  } catch {
    return null
  }
}

async function serverVersion(address: string): Promise<string | null> {
  try {
    const client = await newClient({ connectionString: postgresAddress(address).url, connectionTimeoutMillis: 5_000 })
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query<{ readonly server_version: string }>('SHOW server_version')
      return rows[0]?.server_version ?? null
    } finally {
      await client.end()
    }
  } catch {
    return null
  }
}

/** By codes alone: messages name paths, hosts and users. */
function reasonOf(error: unknown): string {
  if (error instanceof UsageError && isStorageError(error.cause)) return error.cause.code
  if (!isStorageError(error)) return error instanceof Error ? error.name : 'unknown'
  const code = errorCode(error.cause)
  return code === '' ? error.code : `${error.code} (${code})`
}
