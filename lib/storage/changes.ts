/** Whether an update would change a row at all. An update that changes nothing leaves `updated_at` alone and emits nothing. */
import type { Patch } from './contract.ts'
import type { Row } from './table.ts'

/** Columns that say when something was changed. They accompany a change and do not count as one. */
export const sayWhen: ReadonlySet<string> = new Set(['updated_at', 'last_activity_at', 'last_edited_at'])

/** Whether a row has other values than a patch names, apart from the columns that say when. */
export function differs<R extends Row>(row: R, patch: Patch<R>): boolean {
  return Object.entries(patch).some(
    ([name, value]) => value !== undefined && !sayWhen.has(name) && !isSame(row[name as keyof R], value),
  )
}

/** Whether two values are the same, lists and JSON documents by what is in them, in whatever order their keys come. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))]
  return left.length === right.size && left.every(([name, value]) => right.has(name) && isSame(value, right.get(name)))
}
