/** Why a request is not a delivery that the receiver may believe. */

/** The reasons, each with the status to respond with. `docs/receiver.md` describes them in the order of the checks. */
export const statuses = {
  method_not_allowed: 405,
  token_missing: 401,
  token_wrong: 401,
  body_parsed: 500,
  body_too_large: 413,
  body_incomplete: 400,
  body_missing: 400,
  signature_missing: 401,
  timestamp_invalid: 400,
  timestamp_too_old: 400,
  timestamp_too_new: 400,
  signature_wrong: 401,
  body_invalid: 400,
} as const

/** The check that a request has failed: `error.code`. */
export type WebhookErrorCode = keyof typeof statuses

/** A request that is refused. Its message is a sentence for the sender's operator: it contains no token and no data. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  /** Why it is refused, such as `signature_wrong`. */
  readonly code: WebhookErrorCode
  /** The status to respond with. */
  readonly status: number

  constructor(code: WebhookErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
    this.status = statuses[code]
  }
}

/** Whether an error is a `WebhookError`, also of another copy of this module. */
export const isWebhookError = (error: unknown): error is WebhookError => error instanceof Error && error.name === 'WebhookError'
