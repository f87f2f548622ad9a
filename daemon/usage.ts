const options = new WeakMap<Error, readonly string[]>()

/**
 * Notes which options' values an error is about: the first to note knows best. If a variable gave one, the message will name it.
 * @param names as in `storage` of `--storage`
 * @returns the error
 */
export function about<E>(error: E, ...names: readonly string[]): E {
  if (error instanceof Error && !options.has(error)) options.set(error, names)
  return error
}

/** The options that an error is about, as far as it is known. */
export const optionsOf = (error: Error): readonly string[] => options.get(error) ?? []

/** Wrong usage or configuration: one sentence for standard error, and exit code 2. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError'
}

/**
 * The command line is right, but what it requests cannot be had: no server runs, a record is not there, a port is taken. One
 * sentence for standard error, and exit code 1. Where the code makes no difference it is handled as a `UsageError`.
 */
export class CommandFailure extends UsageError {
  override readonly name = 'CommandFailure'
}

/** A command that was running cannot continue: one sentence for standard error, and exit code 1. */
export class Ended extends Error {
  override readonly name = 'Ended'
}

/** The person at the terminal pressed Ctrl-C or closed the input instead of replying: no sentence, and exit code 130 as of SIGINT. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** No relay has remembered anything of an outbox. */
export class NoRelayYet extends UsageError {}
