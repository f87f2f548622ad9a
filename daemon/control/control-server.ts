/** The control of a running server or relay: HTTP on this machine alone, for callers with its token. */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { objectIn } from '../../lib/base/json-object.ts'
import { isApiError } from '../../lib/errors.ts'
import { controlVersion, versionHeader } from '../../lib/relay/calls.ts'
import { UsageError } from '../usage.ts'

/** The header that names the person for the audit, percent-encoded. */
export const actorHeader = 'folkmoot-actor'

export interface ControlResponse {
  readonly status: number
  /** JSON, or a text. */
  readonly body: object | string
  readonly contentType?: string
}

export interface ControlRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  /** The person for the audit; undefined for a caller that names no one. */
  readonly actor: string | undefined
  /** Reads the JSON object that was sent; nothing at all counts as an empty one. @throws UsageError */
  body(): Promise<Readonly<Record<string, unknown>>>
}

export interface ControlServerParts {
  readonly token: string
  /** Whether a request is meant for this control: a page in a browser may send requests here under another name. */
  readonly isAddressed: (request: IncomingMessage) => boolean
  /** For callers without the token. */
  readonly open?: (request: ControlRequest) => Promise<ControlResponse | undefined>
  readonly respond: (request: ControlRequest) => Promise<ControlResponse>
  /** The status of an error whose sentence is for the caller, in addition to the usual ones. */
  readonly statusOf: (error: Error) => number | undefined
  /** Called with the reason why a request failed, which the response leaves out. */
  readonly onFault: (what: string, error: unknown) => void
}

export const refusal = (status: number, error: string): ControlResponse => ({ status, body: { error } })
export const nothingHere = refusal(404, 'there is nothing here')

const longestBody = 1024 * 1024

export function controlServer({ token, isAddressed, open, respond, statusOf, onFault }: ControlServerParts): Server {
  const expected = Buffer.from(token)

  function hasToken({ headers }: IncomingMessage): boolean {
    const given = Buffer.from(/^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '')
    return given.length === expected.length && timingSafeEqual(given, expected)
  }

  async function respondTo(message: IncomingMessage): Promise<ControlResponse> {
    if (!isAddressed(message)) return refusal(403, 'wrong host')
    const { method = '', url: path = '/', headers } = message
    // Null for a malformed one, such as `//`.
    const url = URL.parse(path, 'http://127.0.0.1')
    if (!url) return nothingHere
    const request: ControlRequest = { method, url, headers, actor: actorIn(headers[actorHeader]), body: () => jsonOf(message) }
    try {
      const opened = await open?.(request)
      if (opened) return opened
      return hasToken(message) ? await respond(request) : refusal(401, 'the control token is missing or wrong')
    } catch (error) {
      const status = error instanceof Error ? knownStatus(error) : undefined
      if (error instanceof Error && status !== undefined) return refusal(status, error.message)
      onFault(`the control cannot respond to ${method} ${url.pathname}`, error)
      return refusal(500, 'this failed; see the log')
    }
  }

  const knownStatus = (error: Error): number | undefined =>
    statusOf(error) ?? (isApiError(error) ? error.status : error instanceof UsageError ? 422 : undefined)

  return createServer({ requestTimeout: 10_000 }, (message, response) => {
    respondTo(message).then(({ status, body, contentType = 'application/json' }) => {
      response.writeHead(status, { 'content-type': contentType, [versionHeader]: controlVersion })
      response.end(typeof body === 'string' ? body : `${JSON.stringify(body)}\n`)
    })
  })
}

function actorIn(header: string | readonly string[] | undefined): string | undefined {
  try {
    return (
      decodeURIComponent(String(header ?? ''))
        .trim()
        .slice(0, 500) || undefined
    )
  } catch {
    return undefined
  }
}

async function jsonOf(message: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > longestBody) throw new UsageError('the body is too long')
      chunks.push(chunk)
    }
  } catch (error) {
    // A client that leaves is no fault of this program, which operators are notified of.
    throw message.complete || error instanceof UsageError ? error : new UsageError('the body broke off')
  }
  const text = Buffer.concat(chunks).toString('utf8')
  if (text.trim() === '') return {}
  const value = objectIn(text)
  if (!value) throw new UsageError('the body must be a JSON object')
  return value
}
