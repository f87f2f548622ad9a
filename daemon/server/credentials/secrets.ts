/** Secrets come from files or standard input: a command line is read by every user of the machine. */
import { readFileSync } from 'node:fs'
import { errorCode } from '../../../adapters/files/errors.ts'
import { UsageError } from '../../usage.ts'

/** A token or secret is no longer than this, in characters. */
const longest = 4096

/**
 * The secrets of an option and of its `-file` twin, in this order.
 * @param option as it is typed: `--token`
 * @param files that hold one each, `-` for standard input
 * @throws UsageError
 */
export function secretsOf(option: string, given: readonly string[], files: readonly string[]): readonly string[] {
  if (files.filter((file) => file === '-').length > 1) throw new UsageError(`${option}-file can be - only once`)
  return [...given, ...files.map((file) => secretIn(option, file))]
}

/** The one secret of an option or of its `-file` twin; `undefined` when neither was given. */
export function secretOf(option: string, given: string | undefined, file: string | undefined): string | undefined {
  if (given !== undefined && file !== undefined)
    throw new UsageError(`${option} and ${option}-file are the same: give one of them`)
  return file === undefined ? given : secretIn(option, file)
}

function secretIn(option: string, file: string): string {
  const text = textOf(option, file)
  const secret = text.trim()
  if (secret === '') throw new UsageError(`${option}-file ${file} is empty`)
  if (secret.length > longest) throw new UsageError(`${option}-file ${file} is too long for a token or secret`)
  return secret
}

/** The lines of a file that an option names; blank ones are left out. @throws UsageError */
export function linesOf(option: string, file: string): readonly string[] {
  const lines = textOf(option, file).split(/\r?\n/)
  const filled = lines.filter((line) => line.trim() !== '')
  if (filled.length === 0) throw new UsageError(`${option}-file ${file} is empty`)
  return filled
}

function textOf(option: string, file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new UsageError(`${option}-file ${file} cannot be read (${errorCode(error)})`)
  }
}

/**
 * The token of a command.
 * @param inputUser the user of standard input, if a token cannot come that way
 * @throws UsageError without a token
 */
export function tokenOf(option: string, token: string | undefined, file: string | undefined, inputUser?: string): string {
  if (inputUser !== undefined && (token === '-' || file === '-'))
    throw new UsageError(`${option} and ${option}-file cannot be - here, because ${inputUser} uses standard input: name a file`)
  const given = token === '-' ? secretOf(option, undefined, file ?? '-') : secretOf(option, token, file)
  if (given === undefined)
    throw new UsageError(`give a token by ${option} or ${option}-file${inputUser === undefined ? '; - is standard input' : ''}`)
  return given
}
