/** The rules of variables that stand for options. It is loaded where such a variable is set. */
import type { Command, Option } from 'commander'
import { UsageError } from './usage.ts'

/** What the command line names instead of it: such an option wins over the variable of the other one. */
const instead: Readonly<Record<string, readonly string[]>> = {
  server: ['storage', 'port'],
  storage: ['server'],
  token: ['tokenFile'],
}

const isByVariable = (command: Command, option: Option): boolean => command.getOptionValueSource(option.attributeName()) === 'env'

/** Drops what an empty variable has given, and what the command line replaces. @throws UsageError for an option that is needed */
export function dropUnheeded(command: Command): void {
  for (const option of command.options.filter((each) => isByVariable(command, each))) {
    const name = option.attributeName()
    const isReplaced = instead[name]?.some((other) => command.getOptionValueSource(other) === 'cli') ?? false
    if (command.getOptionValue(name) !== '' && !isReplaced) continue
    if (option.mandatory) throw new UsageError(`required option '${option.flags}' not specified`)
    command.setOptionValueWithSource(name, option.defaultValue, 'default')
  }
}

/** Whether a message may be about a value: it has the name of the option, or a part of the value, such as a file or a host. */
const isAbout = (message: string, name: string, value: string): boolean =>
  new RegExp(`\\b${name}`, 'i').test(message) ||
  value.split(/[/\\:@?]+/).some((part) => part.length > 3 && message.includes(part))

/** Adds to an error the variables that it may come from: whoever has not typed an option does not look for it there. */
export function nameVariables(command: Command, error: unknown): void {
  if (!(error instanceof Error)) return
  const variables = command.options.flatMap((option) => {
    const name = option.attributeName()
    const isCause = isByVariable(command, option) && isAbout(error.message, name, String(command.getOptionValue(name)))
    return isCause && option.envVar !== undefined ? [option.envVar] : []
  })
  if (variables.length > 0)
    Object.defineProperty(error, 'message', { value: `${error.message} (set by ${variables.join(' and ')})`, configurable: true })
}
