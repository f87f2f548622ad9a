import Table from 'cli-table3'
import { isApiError } from '../lib/index.ts'

/** Where a command writes. Only `daemon/bin` knows the process's own. */
export interface Output {
  /** Results: standard output. */
  line(text: string): void
  /** What the operator should know: standard error. */
  warn(text: string): void
}

/** A table for people to read. */
export function tableOf(head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } })
  for (const row of rows) table.push(row.map((cell) => cell ?? ''))
  return table.toString()
}

/** What went wrong, in one line for the operator. */
export function fault(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return isApiError(error) && error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}
