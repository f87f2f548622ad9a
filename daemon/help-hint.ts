/** What errors about a wrong command line say besides. */
import type { Command } from 'commander'
import { commandsOf, type ProgramName } from './help.ts'
import { usageLine } from './json.ts'
import type { Paint } from './output.ts'

/**
 * A message about a wrong command line names the help of the command: `(see folkmoot networks create --help)`.
 * @param words the command with those before it
 */
export function hintAtHelp(command: Command, words = command.name()): void {
  command.showHelpAfterError(`(see ${words} --help)`)
  for (const each of command.commands) hintAtHelp(each, `${words} ${each.name()}`)
}

/** Names the other program in errors about a command that only that one has. */
export function hintAtOtherProgram(program: Command, name: ProgramName, json: boolean, paint?: Paint): void {
  const other = name === 'folkmoot' ? 'folkmoot-relay' : 'folkmoot'
  const hint = (command: Command, before: string): void => {
    if (command.commands.length === 0) return
    for (const each of command.commands) hint(each, `${before}${each.name()} `)
    // Help of a word that is no command would be that of all commands, and look like success.
    command.on('beforeHelp', () => {
      const [first = '', second = ''] = command.args
      const given = first === 'help' ? second : first
      const isCommand = command.commands.some((each) => each.name() === given)
      if (given !== '' && !given.startsWith('-') && !isCommand) command.error(`error: unknown command '${given}'`)
    })
    command.configureOutput({
      outputError(text, write) {
        const given = command.args[command.args[0] === 'help' ? 1 : 0] ?? ''
        const words = `${before}${given}`
        const isThere = commandsOf(other).some((known) => known === words || known.startsWith(`${words} `))
        const isHere = command.commands.some((each) => each.name() === given)
        write(usageLine(name, isThere && !isHere ? `unknown command '${given}': it is \`${other} ${words}\`` : text, json, paint))
      },
    })
  }
  hint(program, '')
}
