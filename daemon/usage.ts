/** Wrong usage or configuration: one sentence for standard error, and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** No relay has remembered anything of an outbox. */
export class NoRelayYet extends UsageError {}
