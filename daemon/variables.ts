/**
 * Variables of the environment that stand for options, so that nobody repeats an address in each command: `FOLKMOOT_STORAGE` for
 * `--storage`. An option on the command line wins, and an empty variable counts as not set.
 */
import { type Command, Option } from 'commander'
import { UsageError } from './usage.ts'

/**
 * An option that its variable may give; the help names that.
 * @param flags with the name first: `--storage <address>`
 */
export function variableOption(flags: string, about: string): Option {
  const option = new Option(flags, about)
  return option.env(variableOf(option.attributeName()))
}

const variableOf = (name: string): string => `FOLKMOOT_${name.toUpperCase()}`

/** What the command line names instead of it: such an option wins over the variable of the other one. */
const instead: Readonly<Record<string, readonly string[]>> = {
  server: ['storage', 'port'],
  storage: ['server'],
  token: ['tokenFile'],
}

/**
 * Heeds the rules of variables before each command of a program, and names those that an error may come from.
 * @param program all of its commands are there
 */
export function heedVariables(program: Command): void {
  let given: readonly Given[] = []
  program.hook('preAction', (_, command) => {
    const byVariable = () => command.options.filter((each) => command.getOptionValueSource(each.attributeName()) === 'env')
    for (const option of byVariable()) {
      const name = option.attributeName()
      const isReplaced = instead[name]?.some((other) => command.getOptionValueSource(other) === 'cli') ?? false
      if (command.getOptionValue(name) === '' || isReplaced) dropVariable(command, option)
    }
    given = byVariable().map((each) => ({
      name: each.attributeName(),
      value: String(command.getOptionValue(each.attributeName())),
    }))
  })
  const parseAsync = program.parseAsync.bind(program)
  program.parseAsync = (...args) =>
    parseAsync(...args).catch((error: unknown) => {
      throw naming(given, error)
    })
}

/** An option that a variable has given. */
interface Given {
  readonly name: string
  readonly value: string
}

function dropVariable(command: Command, option: Option): void {
  if (option.mandatory) throw new UsageError(`required option '${option.flags}' not specified`)
  command.setOptionValueWithSource(option.attributeName(), option.defaultValue, 'default')
}

/** Whether a message may be about a value: it has the name of the option, or a part of the value, such as a file or a host. */
const isAbout = (message: string, { name, value }: Given): boolean =>
  new RegExp(`\\b${name}`, 'i').test(message) ||
  value.split(/[/\\:@?]+/).some((part) => part.length > 3 && message.includes(part))

/** The error with the variables that it may come from: whoever has not typed an option does not look for it there. */
function naming(given: readonly Given[], error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const variables = given.filter((each) => isAbout(error.message, each)).map(({ name }) => variableOf(name))
  if (variables.length > 0)
    Object.defineProperty(error, 'message', { value: `${error.message} (set by ${variables.join(' and ')})`, configurable: true })
  return error
}
