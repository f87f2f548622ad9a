import type { Command } from 'commander'

/**
 * A message about a wrong command line names the help of the command: `(see folkmoot networks create --help)`.
 * @param words the command with those before it
 */
export function hintAtHelp(command: Command, words = command.name()): void {
  command.showHelpAfterError(`(see ${words} --help)`)
  for (const each of command.commands) hintAtHelp(each, `${words} ${each.name()}`)
}
