/**
 * Variables of the environment that stand for options, so that you needn't repeat an address in each command: `FOLKMOOT_STORAGE` for
 * `--storage`. An option on the command line wins, and an empty variable counts as not set.
 */
import { type Command, Option } from 'commander'

/**
 * An option that its variable may give; the help names that.
 * @param flags with the name first: `--storage <address>`
 */
export function variableOption(flags: string, about: string): Option {
  const option = new Option(flags, about)
  return option.env(`FOLKMOOT_${option.attributeName().toUpperCase()}`)
}

/** Takes blanks off addresses, as a line of a file with variables may have them: a database would be taken for a directory. */
function trimAddresses(command: Command): void {
  for (const option of command.options.filter(({ flags }) => /<(?:address|url|origin|directory)>/.test(flags))) {
    const name = option.attributeName()
    const value: unknown = command.getOptionValue(name)
    if (typeof value === 'string') command.setOptionValueWithSource(name, value.trim(), command.getOptionValueSource(name))
  }
}

/** Applies the precedence of variables before each command of a program, and names the variables that an error may come from. */
export function applyEnvPrecedence(program: Command): void {
  let withVariables: Command | undefined
  program.hook('preAction', async (_, command) => {
    trimAddresses(command)
    if (!command.options.some((option) => command.getOptionValueSource(option.attributeName()) === 'env')) return
    const { dropOverridden } = await import('./env-precedence.ts')
    dropOverridden(command)
    withVariables = command
  })
  const parseAsync = program.parseAsync.bind(program)
  program.parseAsync = (...args) =>
    parseAsync(...args).catch(async (error: unknown) => {
      if (withVariables) (await import('./env-precedence.ts')).nameVariables(withVariables, error)
      throw error
    })
}
