import { realPath } from '../../../adapters/files/process-lock.ts'
import { isPostgresAddress, postgresAddress } from '../../../adapters/sql/postgres/address.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import { fileOfStorage } from './open.ts'

/** The place of a storage, without a password: one name for every way to write its address. */
export async function storageName(address: string): Promise<string> {
  const file = fileOfStorage(address)
  if (file !== undefined) return `${address.slice(0, address.indexOf(':'))}:${await realPath(file).catch(() => file)}`
  if (!isPostgresAddress(address)) return withoutPassword(address)
  const { url, schema } = postgresAddress(address)
  const { hostname, port, pathname } = new URL(url)
  return `postgres://${hostname}:${port || '5432'}${pathname}?schema=${schema}`
}
