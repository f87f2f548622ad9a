/** Wrong usage or configuration: one sentence for standard error, and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A command that was running cannot continue: one sentence for standard error, and exit code 1. */
export class Ended extends Error {
  override readonly name = 'Ended'
}

/** No relay has remembered anything of an outbox. */
export class NoRelayYet extends UsageError {}
