/** How commands show their results: one thing, a list, a new secret. */
import { jsonLines, plain } from '../../json.ts'
import type { Output } from '../../output.ts'
import { type Column, table } from '../../table.ts'
import type { StorageFlags } from './operator.ts'

/** One thing: sentences for people, an object for programs. Names in the sentences may come from another server. */
export const showOne = (out: Output, { json }: StorageFlags, value: object, sentence: string): void =>
  out.line(json ? JSON.stringify(value) : sentence.split('\n').map(plain).join('\n'))

/** A list: a table for people, one object per line for programs. */
export function showList<Row extends object>(
  out: Output,
  { json, wide }: StorageFlags,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  empty: string,
): void {
  const text = json ? jsonLines(rows) : table(columns, rows, { ...out, empty, now: Date.now(), wide })
  if (text !== '') out.line(text.replace(/\n$/, ''))
}

/** Values that are shown now and never again. */
export const warnOnce = (out: Output, { json }: StorageFlags, what: string): void => {
  if (!json) out.warn(`Keep ${what} in a safe place: it is not shown again.`)
}
