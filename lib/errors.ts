/**
 * The errors with which operations refuse. Factories make plain failures; an operation declares them, and its handler throws
 * them with `fail` or `found`. The kernel turns them into responses: `{ error }` for an endpoint's own failures, `{ error,
 * message, status }` for authentication, permission, HTTPS and rate errors (interface.md, 6).
 */

/** One way in which an operation may fail, as declared and as thrown. */
export interface Failure {
  /** The HTTP status, from 400 to 599. */
  readonly status: number
  /** One sentence for the client; it names the field or the record and, where there is one, the remedy. */
  readonly error: string
  /** The fields whose values are refused, where it is about fields. */
  readonly fields?: readonly string[]
}

/** There is no such record in this network: 404. */
export const notFound = (record: string): Failure => ({ status: 404, error: `${record} not found` })

/** The values of these fields are refused: 422. Thrown with a more exact sentence than the declaration's. */
export const invalid = (...fields: readonly string[]): Failure => ({
  status: 422,
  error: `${fields.join(', ')} invalid`,
  fields,
})

/** The record is in a state that does not allow it: 409. */
export const conflict = (error: string): Failure => ({ status: 409, error })

/** The caller may do this elsewhere but not here: 403. */
export const refused = (error: string): Failure => ({ status: 403, error })

/** The request cannot be understood: 400. */
export const badRequest = (error: string): Failure => ({ status: 400, error })

/** There is more of it than the limits allow: 413. */
export const tooLarge = (error: string): Failure => ({ status: 413, error })

const brand = Symbol.for('folkmoot.ApiError')

/** The body of an authentication, permission, HTTPS or rate error. */
export interface AccessErrorBody {
  /** The kind of error in a few words, such as `unauthorized` or `rate limit exceeded`. */
  readonly error: string
  /** One sentence for the client: what is wrong, and the remedy. */
  readonly message: string
  /** The HTTP status again. */
  readonly status: number
}

/** A failure on its way to the client. Everything in it is meant to be read by the client. */
export class ApiError extends Error {
  readonly [brand] = true
  /** The HTTP status, such as 422. */
  readonly status: number
  /** The body of the response, sent as JSON. */
  readonly body: { readonly error: string } | AccessErrorBody
  /** Headers that the response has in addition to the usual ones, such as `retry-after`. */
  readonly headers: Readonly<Record<string, string>>
  /** A thrown error that an operation must declare. Never part of the response. */
  readonly failure: Failure | undefined

  constructor(
    status: number,
    body: { readonly error: string } | AccessErrorBody,
    headers: Readonly<Record<string, string>> = {},
    failure?: Failure,
  ) {
    super('message' in body ? body.message : body.error)
    this.name = 'ApiError'
    this.status = status
    this.body = body
    this.headers = headers
    this.failure = failure
  }
}

/** Whether a value is an `ApiError`, of this copy of the package or of another. */
export function isApiError(value: unknown): value is ApiError {
  return typeof value === 'object' && value !== null && brand in value
}

/**
 * Ends the operation with a failure.
 * @param failure one that the operation declares
 * @param error a more exact sentence for this request
 * @throws ApiError always
 */
export function fail(failure: Failure, error: string = failure.error): never {
  throw new ApiError(failure.status, { error }, {}, failure)
}

/**
 * The row, or the end of the operation with `notFound(record)`.
 * @throws ApiError 404 when there is no row
 */
export function found<R>(row: R | undefined, record: string): R {
  return row === undefined ? fail(notFound(record)) : row
}

/** An authentication, permission, HTTPS or rate error (interface.md, 6). */
export function accessError(
  status: number,
  error: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ApiError {
  return new ApiError(status, { error, message, status }, headers)
}

/** Whether a failure was declared: its status, and each of its fields or the record that was not found. */
export function isDeclared(failure: Failure, declared: readonly Failure[]): boolean {
  const same = declared.filter(({ status }) => status === failure.status)
  if (!failure.fields) return same.some(({ error }) => failure.status !== 404 || error === failure.error)
  const fields = new Set(same.flatMap((one) => one.fields ?? []))
  return failure.fields.every((field) => fields.has(field))
}
