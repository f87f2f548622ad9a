/** Where the parts of a storage are that is a file. */
import { dirname, join, resolve } from 'node:path'
import { isPostgresAddress, postgresAddress, withPasswordLeftOut } from '../../../adapters/sql/postgres/address.ts'
import { about, UsageError } from '../../usage.ts'
import { assetsDirectory, fileOfStorage } from '../storage/open.ts'
import { unknownStorage } from '../storage/unknown-address.ts'

export interface PlaceFlags {
  readonly storage: string
  readonly outbox?: string
  readonly assets?: string
}

export interface Places {
  readonly kind: 'sqlite' | 'lowdb'
  readonly storage: string
  readonly file: string
  /** The outbox, as a relay names it. */
  readonly outbox: string
  /** The directory that has the relay's own files, and the segments of lowdb. */
  readonly directory: string
  readonly relay: string
  readonly assets: string
}

/**
 * The places of a storage.
 * @param file of the backup, for the commands that do it on PostgreSQL
 * @throws UsageError for a storage that is no file
 */
export function placesOf({ storage, outbox, assets }: PlaceFlags, file: string, command: 'backup' | 'restore'): Places {
  const path = fileOfStorage(storage)
  if (path === undefined) throw about(new UsageError(noFile(storage, file, command)), 'storage')
  const uploads = assetsDirectory(storage, assets)
  if (storage.startsWith('sqlite:')) {
    const directory = `${path}.relay`
    return {
      ...{ kind: 'sqlite', storage, file: path, outbox: `sqlite:${path}`, directory },
      ...{ relay: join(directory, 'relay.sqlite'), assets: uploads },
    }
  }
  const directory = resolve(outbox ?? join(dirname(path), 'outbox'))
  const relay = join(directory, 'relay', 'relay.sqlite')
  return { kind: 'lowdb', storage, file: path, outbox: directory, directory, relay, assets: uploads }
}

/** The same places while a restore fills them. */
export const unfinishedOf = ({ kind, file, directory, assets }: Places): Places =>
  placesOf(
    { storage: `${kind}:${file}.unfinished`, outbox: `${directory}.unfinished`, assets: `${assets}.unfinished` },
    '',
    'restore',
  )

function noFile(storage: string, file: string, command: 'backup' | 'restore'): string {
  if (storage === 'memory:') return 'memory: begins and ends empty: copy its network with `folkmoot pull` while its server runs'
  if (!isPostgresAddress(storage)) return unknownStorage('--storage', storage).message
  const { url, schema } = postgresAddress(storage)
  const [name, database] = [quoted(file), quoted(withPasswordLeftOut(url))]
  const schemas = `--schema=${schema} --schema=${schema}_relay --exclude-table-data=${schema}.rate_limits`
  return command === 'backup'
    ? `PostgreSQL makes its own backups: run\n  pg_dump --format=custom ${schemas} --file=${name} ${database}`
    : `PostgreSQL restores its own backups: run this on a database without these schemas, before a relay is started on it\n  pg_restore --single-transaction --no-owner --dbname=${database} ${name}`
}

/** A word of a shell. */
const quoted = (text: string): string => (/^[\w./:@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
