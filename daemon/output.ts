import { isApiError } from '../lib/errors.ts'

/** Bytes of a log that may wait for a reader who does not read. Further lines are left out: they would take ever more memory. */
export const mostUnread = 16 * 1024 * 1024

/** Colours a text, where its reader's terminal shows colours. */
export type Paint = (format: 'bold' | 'red' | 'yellow' | 'green', text: string) => string

export const unpainted: Paint = (_, text) => text

/** Where a command writes. Only `daemon/bin` passes the process's own. */
export interface Output {
  /** Results: standard output. */
  line(text: string): void
  /** Messages for the operator: standard error. */
  warn(text: string): void
  /** Columns for tables: those of the terminal, `Infinity` for a pipe; 100 by default. */
  readonly width?: number
  readonly paint?: Paint
  /** Bytes of results that their reader has not taken yet. */
  unread?(): number
}

/** What may be replied to a question. */
export interface Replies {
  /** One of these, to be picked. */
  readonly choices?: readonly string[]
  /** What is wrong with a reply, if anything; then the question stays. */
  readonly problemOf?: (reply: string | undefined) => string | undefined
}

export type Ask = (question: string, replies?: Replies) => Promise<string>

/** The error in one line for the operator. */
export function fault(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return isApiError(error) && error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}
