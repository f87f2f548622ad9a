/** The rules of variables that stand for options. It is loaded where such a variable is set. */
import type { Command, Option } from 'commander'
import { optionsOf, UsageError } from './usage.ts'

/** What the command line names instead of it: such an option wins over the variable of the other one. */
const instead: Readonly<Record<string, readonly string[]>> = {
  server: ['storage', 'port'],
  storage: ['server'],
  token: ['tokenFile'],
}

const isByVariable = (command: Command, option: Option): boolean => command.getOptionValueSource(option.attributeName()) === 'env'

/** Whether the command line names a storage that holds its own outbox. */
const holdsOutbox = (command: Command): boolean =>
  command.getOptionValueSource('storage') === 'cli' && !/^(?:lowdb|memory):/.test(command.getOptionValue('storage'))

/** Drops what an empty variable has given, and what the command line replaces. @throws UsageError for an option that is needed */
export function dropOverridden(command: Command): void {
  for (const option of command.options.filter((each) => isByVariable(command, each))) {
    const name = option.attributeName()
    const isReplaced =
      instead[name]?.some((other) => command.getOptionValueSource(other) === 'cli') || (name === 'outbox' && holdsOutbox(command))
    if (command.getOptionValue(name) !== '' && !isReplaced) continue
    if (option.mandatory) throw new UsageError(`required option '${option.flags}' not specified`)
    command.setOptionValueWithSource(name, option.defaultValue, 'default')
  }
}

/** Adds to an error the variables that gave the values it is about: who has not typed an option doesn't look for it there. */
export function nameVariables(command: Command, error: unknown): void {
  if (!(error instanceof Error)) return
  const names = optionsOf(error)
  const variables = command.options.flatMap((option) => {
    const isCause = names.includes(option.attributeName()) && isByVariable(command, option)
    return isCause && option.envVar !== undefined ? [option.envVar] : []
  })
  if (variables.length > 0)
    Object.defineProperty(error, 'message', { value: `${error.message} (set by ${variables.join(' and ')})`, configurable: true })
}
