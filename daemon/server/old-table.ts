import Table from 'cli-table3'

/** A table for people to read. */
export function tableOf(head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } })
  for (const row of rows) table.push(row.map((cell) => cell ?? ''))
  return table.toString()
}
