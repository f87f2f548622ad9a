/** What the commands print: tables for people, one JSON object per line for programs. */
import Table from 'cli-table3'

export type Cell = string | number | null

/** Text from outside must not move the cursor or change colours of somebody's terminal. */
const plain = (cell: Cell): string => (cell === null ? '–' : String(cell).replace(/[\u0000-\u001f\u007f-\u009f]/g, '?'))

/** A table with these columns. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const made = new Table({ head: [...head], style: { head: [], border: [], compact: true } })
  for (const row of rows) made.push(row.map(plain))
  return `${made.toString()}\n`
}

export const jsonLines = (records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('')
