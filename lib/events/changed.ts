/** The names of the public fields that an update has changed. They travel beside the event, as its subject does. */
import { isSame } from '../storage/changes.ts'

/** What an update has changed, before and after: a record, or a row that has its fields. */
export type Change = readonly [before: object, after: object]

export function changedFields(names: readonly string[], change: Change): readonly string[] {
  const [before, after] = change as readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>]
  return names.filter((name) => !isSame(before[name], after[name]))
}
