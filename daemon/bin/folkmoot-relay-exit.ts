import { CommanderError } from 'commander'
import { isStorageError } from '../../lib/storage/contract.ts'
import { errorLine } from '../json.ts'
import type { Paint } from '../output.ts'
import { SettingsError } from '../relay/settings-error.ts'
import { CommandFailure, UsageError } from '../usage.ts'
import { type Exit, isPassing } from './folkmoot-exit.ts'

const usage = ['locked', 'newer', 'damaged', 'unavailable']

/** Errors that only a person can mend, as opposed to bugs. */
const isUsage = (error: unknown): error is Error =>
  error instanceof UsageError || error instanceof SettingsError || (isStorageError(error) && usage.includes(error.code))

/** The end of `folkmoot-relay` after an error: 2 for wrong usage or configuration, 1 for a failure, which may be over soon. */
export function relayExit(error: unknown, json: boolean, paint?: Paint): Exit {
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? 0 : 2, text: '' }
  if (error instanceof CommandFailure || isPassing(error))
    return { code: 1, text: errorLine('folkmoot-relay', error.message, json, paint) }
  if (isUsage(error)) return { code: 2, text: errorLine('folkmoot-relay', error.message, json, paint) }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 1, text: errorLine('folkmoot-relay', text, json, paint) }
}
