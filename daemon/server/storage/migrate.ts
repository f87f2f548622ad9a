import { isPostgresAddress, postgresAddress } from '../../../adapters/sql/postgres/address.ts'
import { migratePostgres } from '../../../adapters/storage/postgres.ts'
import { migrateSqlite } from '../../../adapters/storage/sqlite.ts'
import { counted } from '../../../lib/base/counted.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import type { Output } from '../../output.ts'
import { about, UsageError } from '../../usage.ts'
import { meantStorage } from './unknown-address.ts'

export interface MigrateFlags {
  readonly storage: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

/**
 * `folkmoot migrate`: prints and applies what a database lacks.
 * @throws UsageError for a storage without tables, StorageError
 */
export async function migrate({ storage, dryRun = false, json = false }: MigrateFlags, out: Output): Promise<void> {
  const steps = await stepsOf(storage, dryRun).catch((error: unknown) => {
    throw about(error, 'storage')
  })
  if (json) return out.line(JSON.stringify({ applied: !dryRun, statements: steps }))
  for (const step of steps) out.line(`${step};`)
  const count = counted(steps.length, 'statement')
  const what = dryRun ? `${count} would be run` : `${count} run`
  out.warn(steps.length === 0 ? `${withoutPassword(storage)} is up to date.` : `${withoutPassword(storage)}: ${what}.`)
}

async function stepsOf(storage: string, dryRun: boolean): Promise<readonly string[]> {
  const path = /^sqlite:(.+)$/s.exec(storage)?.[1]
  // No path has a password.
  if (path !== undefined && withoutPassword(storage) === storage) return migrateSqlite({ path, dryRun })
  if (isPostgresAddress(storage)) return migratePostgres({ ...postgresAddress(storage), dryRun })
  const got = JSON.stringify(withoutPassword(storage))
  const meant = meantStorage(storage)
  const hint = meant?.startsWith('sqlite:') ? `did you mean ${meant}?` : 'other storages have no tables to migrate'
  throw new UsageError(`--storage must be sqlite:PATH or postgres://…, got ${got}: ${hint}`)
}
