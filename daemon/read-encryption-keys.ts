/** Reads the encryption keys of a process, apart from the command line: help needs none of this. */
import { readFileSync } from 'node:fs'
import { errorCode } from '../adapters/files/errors.ts'
import { encryptionKeyBytes, encryptionKeyRule } from '../lib/outbox/encryption.ts'
import { type EncryptionFlags, encryptionKeysVariable } from './encryption-keys.ts'
import { UsageError } from './usage.ts'

/**
 * The encryption keys, the one that encrypts first; none where neither a file nor the variable gives any.
 * @throws UsageError that names a malformed key by its position, never by its value
 */
export function encryptionKeysOf({ encryptionKeyFile: file, encryptionKeys: variable = '' }: EncryptionFlags): readonly string[] {
  const source = file === undefined ? encryptionKeysVariable : `the encryption key file ${file}`
  const text = file === undefined ? variable : textOf(file)
  const keys = text.split(/[\s,]+/).filter((each) => each !== '')
  // A named file that holds nothing is a mistake; a variable may be set to nothing.
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
