/** The tables of a benchmark: printed for people, written as JSON for `scripts/performance-page.ts`. */
import { writeFileSync } from 'node:fs'
import process from 'node:process'
import { table } from '../../daemon/table.ts'
import { pinned } from './cores.ts'

export interface MeasuredTable {
  readonly title: string
  /** The first column is text, the others are numbers. */
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export interface Report {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly tables: readonly MeasuredTable[]
}

/** The conditions of every benchmark. */
export const machine = (who: string): Readonly<Record<string, string>> => ({
  Node: process.version,
  cores: pinned ? who : 'not pinned: there is no taskset here',
})

/** Prints the tables, and writes them to the file of `--json` unless it is empty. */
export function printReport({ conditions, tables }: Report, json: string): void {
  const lines = Object.entries(conditions).map(([name, value]) => `${name}: ${value}`)
  console.log(`\n${lines.join('\n')}`)
  for (const { title, columns, rows } of tables) {
    const shown = columns.map((column, at) => ({
      title: column,
      cell: (row: readonly string[]) => row[at] ?? '',
      fits: at === 0 ? ('whole' as const) : ('cut' as const),
    }))
    console.log(`\n${title}\n${table(shown, rows, { empty: '', now: 0 })}`)
  }
  if (json) writeFileSync(json, `${JSON.stringify({ conditions, tables }, null, 2)}\n`)
}
