/** The forms of `--outbox`: a directory, a SQLite file, a PostgreSQL database. */
import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { outboxDirectory } from '../../../adapters/outbox/file.ts'
import { isPostgresAddress, postgresAddress } from '../../../adapters/sql/postgres/address.ts'
import { postgresOutbox } from '../../../adapters/storage/postgres.ts'
import { sqliteOutbox } from '../../../adapters/storage/sqlite.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import type { OutboxSource } from '../../../lib/outbox/source.ts'

const sqlitePath = (address: string): string | undefined => /^sqlite:(.+)$/s.exec(address)?.[1]

/** What is wrong with an address of another kind; undefined for a usable one. It follows the name of the option. */
export function unknownKind(address: string): string | undefined {
  if (isPostgresAddress(address)) return undefined
  const rule = 'must be a directory, sqlite:PATH or postgres://…'
  // One letter before the colon is a drive. A directory whose name looks like this is `./name:`.
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(address)?.[1]
  const shown = withoutPassword(address)
  // No path has a password. Quotation marks of a file with variables may be around an address.
  if (shown !== address || (scheme === undefined && address.includes('://'))) return `${rule}, got ${JSON.stringify(shown)}`
  return scheme === undefined || /^sqlite:./.test(address) ? undefined : `${rule}, got one that begins with ${scheme}:`
}

export type Place =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string }

export function placeOf(address: string): Place {
  const path = sqlitePath(address)
  if (path !== undefined) return { kind: 'sqlite', path }
  if (isPostgresAddress(address)) return { kind: 'postgres', ...postgresAddress(address) }
  return { kind: 'directory', path: address }
}

/**
 * Opens the outbox that an address names.
 * @param looking only reads the waiting records, alongside the relay that reads the outbox; nothing is made
 * @throws StorageError `unavailable`, `damaged`, `newer`, `locked` when a database refuses
 */
export async function openSource(address: string, looking = false): Promise<OutboxSource> {
  const path = sqlitePath(address)
  if (path !== undefined) return sqliteOutbox(path, looking)
  if (isPostgresAddress(address)) return postgresOutbox({ ...postgresAddress(address), exclusive: !looking })
  return outboxDirectory(address, { keepBroken: !looking })
}

/**
 * The directory of a relay's own files. Inside an outbox directory, in a subdirectory, so that its writes wake no watcher of
 * the outbox. Next to a SQLite file. For a database in `data/`, under a name made of host, database and schema.
 */
export function relayHome(address: string): string {
  const path = sqlitePath(address)
  if (path !== undefined) return `${resolve(path)}.relay`
  if (!isPostgresAddress(address)) return join(resolve(address), 'relay')
  const { url, schema } = postgresAddress(address)
  const { host, pathname } = new URL(url)
  const name = createHash('sha256').update(`${host}${pathname} ${schema}`).digest('hex').slice(0, 12)
  return resolve('data', `relay-${name}`)
}
