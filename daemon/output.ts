import { isApiError } from '../lib/errors.ts'

/** Where a command writes. Only `daemon/bin` knows the process's own. */
export interface Output {
  /** Results: standard output. */
  line(text: string): void
  /** What the operator should know: standard error. */
  warn(text: string): void
}

/** What went wrong, in one line for the operator. */
export function fault(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return isApiError(error) && error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}
