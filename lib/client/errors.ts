/** The errors of the client. */

/** The facts of a failure, in addition to its sentence. */
export interface FailureFacts {
  /** The status of the response; `undefined` without a response. */
  readonly status?: number | undefined
  /** The kind of failure as a word, such as `not_found`. */
  readonly code: string
  /** The id under which the server has logged the request, if it sent one. */
  readonly requestId?: string | undefined
  /** The headers of the response; `undefined` without a response. */
  readonly headers?: Headers | undefined
  /** The body of the response: its JSON, or its text if it is not JSON. */
  readonly body?: unknown
  /** The error behind it, such as that of `fetch`. */
  readonly cause?: unknown
}

/** A message has sentences of the server. A terminal and a log must not obey what is in them. */
const inOneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ')

const brand = Symbol.for('folkmoot.ClientError')

/**
 * A request that failed. The message has the method, the path and the server's sentence. It never has the token.
 * A subclass stands for each common status. Other refusals, such as 405 and 413, are this class itself.
 */
export class ClientError extends Error {
  // Bundlers shorten the names of classes, and the stack begins with this one.
  static {
    ClientError.prototype.name = 'ClientError'
  }
  readonly [brand] = true
  /** The status of the response; `undefined` without a response. */
  readonly status: number | undefined
  /**
   * A word for programs: that of the server if it sends one, such as `token_expired`, else one that stands for the status,
   * such as `not_found`.
   */
  readonly code: string
  /** The id under which the server has logged the request, if it sends one. */
  readonly requestId: string | undefined
  /** The headers of the response; none if there was no response. */
  readonly headers: Headers
  /** The body of the response: its JSON, or its text if it is not JSON. */
  readonly body: unknown

  constructor(message: string, { status, code, requestId, headers, body, cause }: FailureFacts) {
    super(inOneLine(message), cause === undefined ? {} : { cause })
    this.status = status
    this.code = code
    this.requestId = requestId
    this.headers = headers ?? new Headers()
    this.body = body
  }
}

/** 400: the server does not understand the request. */
export class BadRequest extends ClientError {
  static {
    BadRequest.prototype.name = 'BadRequest'
  }
}
/** 401: the token is missing, unknown, revoked or expired. */
export class Unauthorized extends ClientError {
  static {
    Unauthorized.prototype.name = 'Unauthorized'
  }
}
/** 403: the token lacks a scope, or the record may not be changed in this way. */
export class Forbidden extends ClientError {
  static {
    Forbidden.prototype.name = 'Forbidden'
  }
}
/** 404: there is no such record, network or path. */
export class NotFound extends ClientError {
  static {
    NotFound.prototype.name = 'NotFound'
  }
}
/** 409: the record is in a state that does not allow it. */
export class Conflict extends ClientError {
  static {
    Conflict.prototype.name = 'Conflict'
  }
}
/** 422: a value is missing or refused. */
export class UnprocessableContent extends ClientError {
  static {
    UnprocessableContent.prototype.name = 'UnprocessableContent'
  }
}
/** 429: too many requests in a minute. */
export class RateLimited extends ClientError {
  static {
    RateLimited.prototype.name = 'RateLimited'
  }
}
/** 5xx: a fault of the server. */
export class ServerError extends ClientError {
  static {
    ServerError.prototype.name = 'ServerError'
  }
}
/** There was no whole response: the server was not reached, or the connection was lost. The request may have been carried out. */
export class ConnectionError extends ClientError {
  static {
    ConnectionError.prototype.name = 'ConnectionError'
  }
}
/** There was no whole response in time. The request may have been carried out. */
export class TimeoutError extends ConnectionError {
  static {
    TimeoutError.prototype.name = 'TimeoutError'
  }
}
/** The response does not belong to this API: not JSON, too large, or a redirect to another place. */
export class InvalidResponse extends ClientError {
  static {
    InvalidResponse.prototype.name = 'InvalidResponse'
  }
}

/** Whether a value is an error of the client, of this copy of the package or of another. */
export function isClientError(value: unknown): value is ClientError {
  return typeof value === 'object' && value !== null && brand in value
}

const byStatus: Readonly<Record<number, readonly [code: string, kind: typeof ClientError]>> = {
  400: ['bad_request', BadRequest],
  401: ['unauthorized', Unauthorized],
  403: ['forbidden', Forbidden],
  404: ['not_found', NotFound],
  405: ['method_not_allowed', ClientError],
  408: ['request_timeout', ClientError],
  409: ['conflict', Conflict],
  413: ['content_too_large', ClientError],
  415: ['unsupported_media_type', ClientError],
  422: ['unprocessable_content', UnprocessableContent],
  429: ['rate_limited', RateLimited],
}

const textOf = (body: unknown, name: string): string | undefined => {
  const value = typeof body === 'object' && body !== null ? Object.entries(body).find(([key]) => key === name)?.[1] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The id of a request, from a header or from the body of a fault. */
export const requestIdOf = (headers: Headers, body: unknown): string | undefined =>
  headers.get('x-request-id') ?? headers.get('request-id') ?? textOf(body, 'request_id')

const maxSentence = 1000

/**
 * The error of a response.
 * @param request the method and the path
 */
export function errorOf(request: string, status: number, headers: Headers, body: unknown): ClientError {
  const [code, Kind] = byStatus[status] ?? (status >= 500 ? ['server_error', ServerError] : ['refused', ClientError])
  const message = textOf(body, 'message')
  const sentence = message ?? textOf(body, 'error')
  return new Kind(`${request}: ${status}${sentence ? ` ${sentence.slice(0, maxSentence)}` : ''}`, {
    status,
    // Next to a sentence, `error` is a word for programs.
    code: (message ? textOf(body, 'error') : undefined) ?? code,
    requestId: requestIdOf(headers, body),
    headers,
    body,
  })
}
