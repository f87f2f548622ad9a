import { CommanderError } from 'commander'
import { isApiError } from '../../lib/errors.ts'
import { isStorageError } from '../../lib/storage/contract.ts'
import { errorLine } from '../json.ts'
import { fault } from '../output.ts'
import { Ended, UsageError } from '../usage.ts'

/** The end of a program that cannot continue. */
export interface Exit {
  readonly code: 0 | 1 | 2
  /** For standard error; empty if everything has been written. */
  readonly text: string
}

/** The end of `folkmoot` after an error: 2 for wrong usage or configuration, 1 for a fault or a bad result. */
export async function folkmootExit(error: unknown, json: boolean): Promise<Exit> {
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? 0 : 2, text: '' }
  // Loaded late: help and mistakes come at once.
  const { isEncryptionError } = await import('../../lib/outbox/encryption.ts')
  const expected = error instanceof UsageError || [isStorageError, isApiError, isEncryptionError].some((isOne) => isOne(error))
  const whole = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: expected ? 2 : 1, text: errorLine('folkmoot', expected || error instanceof Ended ? fault(error) : whole, json) }
}
