/** The options of API tokens. The help of every command loads this, so reading a token is elsewhere: `token.ts`. */
import { type Command, Option } from 'commander'
import { variableOption } from '../../variables.ts'

/**
 * Adds `--token` and `--token-file`.
 * @param option another name: `--a-token`
 * @param input whether a token may come on standard input
 */
export function withToken(command: Command, option = '--token', whose = 'the server', input = true): Command {
  const dash = input ? '; - is standard input' : ''
  const about = `an API token of ${whose}${dash}; better in a file`
  return command
    .addOption(option === '--token' ? variableOption('--token <token>', about) : new Option(`${option} <token>`, about))
    .option(`${option}-file <file>`, `a file that holds the token${dash}`)
}
