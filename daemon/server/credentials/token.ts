/** API tokens of commands that call a server: on the command line, in a file, or on standard input. */
import { UsageError } from '../../usage.ts'
import { secretOf } from './secrets.ts'

/**
 * The token of a command.
 * @param option its name
 * @param token the value of the option
 * @param file the value of its `-file` twin
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
