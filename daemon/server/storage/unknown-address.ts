import { withoutPassword } from '../../../lib/base/without-password.ts'
import { UsageError } from '../../usage.ts'
import { storageForms } from '../commands/common-options.ts'

/** An address of no known form, with the one that may have been meant. */
export function unknownStorage(option: string, address: string): UsageError {
  const meant = meantStorage(address)
  const hint = meant === undefined ? '' : `: did you mean ${meant}?`
  return new UsageError(`${option} must be ${storageForms}, got ${JSON.stringify(withoutPassword(address))}${hint}`)
}

/** What an address without its engine may mean: `memory`, or a path whose ending names the engine. */
export function meantStorage(address: string): string | undefined {
  if (/^:?memory:?$/i.test(address)) return 'memory:'
  if (address.includes(':')) return undefined
  if (/\.(?:sqlite3?|db)$/i.test(address)) return `sqlite:${address}`
  return /\.json$/i.test(address) ? `lowdb:${address}` : undefined
}
