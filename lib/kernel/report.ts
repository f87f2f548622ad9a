import type { FaultContext, Report } from '../settings.ts'

/** The place of a fault, for a line of a log. */
export const placeOf = ({ operation, task, event_id, request_id }: FaultContext): string =>
  [operation, task, event_id && `event ${event_id}`, request_id && `request ${request_id}`]
    .filter((part) => part !== undefined)
    .join(', ')

// Without a hook a fault would otherwise leave no trace: the client gets a `request_id` and nothing else.
const toConsole: Report = (error, about) => console.error(`folkmoot: fault in ${placeOf(about)}:`, error)

/**
 * Faults go to `hooks.onError`, or to `console.error` without that hook. An error of the hook is a fault as well: both then go
 * to the console.
 */
export function reporterOf(onError?: (error: unknown, about: FaultContext) => void): Report {
  if (!onError) return toConsole
  return (error, about) => {
    const failed = (thrown: unknown) => {
      toConsole(error, about)
      toConsole(thrown, { task: 'hooks.onError' })
    }
    try {
      Promise.resolve(onError(error, about)).catch(failed)
    } catch (thrown) {
      failed(thrown)
    }
  }
}
