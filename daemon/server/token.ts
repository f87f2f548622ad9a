/** API tokens of commands that call a server: on the command line, in a file, or on standard input. */
import type { Command } from 'commander'
import { UsageError } from '../usage.ts'
import { secretOf } from './secrets.ts'

/**
 * Adds `--token` and `--token-file`.
 * @param option another name: `--a-token`
 * @param whose the server that it is for
 */
export const withToken = (command: Command, option = '--token', whose = 'the server'): Command =>
  command
    .option(`${option} <token>`, `an API token of ${whose}; - is standard input; better in a file`)
    .option(`${option}-file <file>`, 'a file that holds the token; - is standard input')

/**
 * The token of a command.
 * @param option its name
 * @param token the value of the option
 * @param file the value of its `-file` twin
 * @throws UsageError without a token
 */
export function tokenOf(option: string, token: string | undefined, file: string | undefined): string {
  const given = token === '-' ? secretOf(option, undefined, file ?? '-') : secretOf(option, token, file)
  if (given === undefined) throw new UsageError(`give a token by ${option} or ${option}-file; - is standard input`)
  return given
}
