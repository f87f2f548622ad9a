import { isApiError } from '../lib/errors.ts'

/** Where a command writes. Only `daemon/bin` passes the process's own. */
export interface Output {
  /** Results: standard output. */
  line(text: string): void
  /** Messages for the operator: standard error. */
  warn(text: string): void
}

/** The error in one line for the operator. */
export function fault(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return isApiError(error) && error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}
