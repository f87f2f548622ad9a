/** The encryption keys of a process: from a file or the environment, for a command line is read by every user of the machine. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { errorCode } from '../adapters/outbox/file-system.ts'
import { encryptionKeyBytes, encryptionKeyRule } from '../lib/outbox/encryption.ts'
import { UsageError } from './usage.ts'

/** The variable that holds them, separated by commas. */
export const encryptionKeysVariable = 'FOLKMOOT_ENCRYPTION_KEYS'

/** How a command is given encryption keys. */
export interface EncryptionFlags {
  readonly encryptionKeyFile?: string
  /** What the variable holds; no option, so that it is never on a command line. */
  readonly encryptionKeys?: string
}

/** Adds the option to a command. */
export const withEncryptionKeys = (command: Command): Command =>
  command.option(
    '--encryption-key-file <file>',
    `what encrypts keys of endpoints; by default the variable ${encryptionKeysVariable}`,
  )

/**
 * Hands what the variable holds to each command that takes encryption keys.
 * @param variable its text
 */
export function handOverKeys(program: Command, variable: string | undefined): void {
  program.hook('preAction', (_, command) => {
    const takes = command.options.some((option) => option.attributeName() === 'encryptionKeyFile')
    if (takes && variable !== undefined) command.setOptionValueWithSource('encryptionKeys', variable, 'env')
  })
}

/**
 * The encryption keys, the one that encrypts first; none where neither a file nor the variable gives any.
 * @throws UsageError that names a key that is none by its place, never by its value
 */
export function encryptionKeysOf({ encryptionKeyFile: file, encryptionKeys: variable = '' }: EncryptionFlags): readonly string[] {
  const source = file === undefined ? encryptionKeysVariable : `the encryption key file ${file}`
  const text = file === undefined ? variable : textOf(file)
  const keys = text.split(/[\s,]+/).filter((each) => each !== '')
  // A file that somebody named and that holds nothing is a mistake; a variable may be set to nothing.
  if (file !== undefined && keys.length === 0) throw new UsageError(`${source} is empty: each key ${encryptionKeyRule}`)
  for (const [place, key] of keys.entries())
    if (!encryptionKeyBytes(key)) throw new UsageError(`${source}: key ${place + 1} of ${keys.length} ${encryptionKeyRule}`)
  return keys
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`the encryption key file ${file} cannot be read (${errorCode(error)})`)
  }
}
