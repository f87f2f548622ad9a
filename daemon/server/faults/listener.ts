/** Makes the faults of a plan, in front of the API. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { accessError } from '../../../lib/errors.ts'
import { jsonResponse } from '../../../lib/http/exchange.ts'
import type { FaultKind } from './kinds.ts'
import { type FaultPlan, lotsOf } from './plan.ts'

/** Names the fault in the response, so that a tester can distinguish it from a real one. */
const header = 'folkmoot-fault'
/** Seconds after which a client may try again. */
const retryAfter = '1'

const page = (title: string): string => `<html>\n<head><title>${title}</title></head>\n<body><h1>${title}</h1></body>\n</html>\n`

/** Each request draws its lot when it arrives: a latency, and a fault or none. */
export function withFaults(plan: FaultPlan, next: RequestListener): RequestListener {
  const draw = lotsOf(plan)
  return (request, response) => {
    const { kind, latency } = draw()
    const respond = () => (kind ? makeFault(kind, request, response, next) : next(request, response))
    if (latency === 0) return respond()
    const timer = setTimeout(respond, latency)
    // The client may leave before, or the server end.
    response.once('close', () => clearTimeout(timer))
  }
}

function makeFault(kind: FaultKind, request: IncomingMessage, response: ServerResponse, next: RequestListener): void {
  switch (kind) {
    case 'drop':
      request.socket.destroy()
      return
    case 'drop-after':
      response.writeHead = () => {
        request.socket.destroy()
        return response
      }
      next(request, response)
      return
    case 'stall':
      // Read, so that a client that sends much waits for the response, and not for its own body.
      request.resume()
      return
    default:
      refuse(kind, request, response)
  }
}

type StatusKind = Exclude<FaultKind, 'drop' | 'drop-after' | 'stall'>

function refuse(kind: StatusKind, request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  const status = Number(kind)
  const { headers, body } = bodyOf(kind)
  response.writeHead(status, { ...headers, [header]: kind, 'content-length': Buffer.byteLength(body) })
  response.end(request.method === 'HEAD' ? undefined : body)
}

function bodyOf(kind: StatusKind): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const json = (body: object, headers: Readonly<Record<string, string>> = {}) => {
    const text = JSON.stringify(body)
    return { headers: jsonResponse(Number(kind), text, headers).headers, body: text }
  }
  const html = (title: string) => ({ headers: { 'content-type': 'text/html' }, body: page(title) })
  const request_id = crypto.randomUUID()
  switch (kind) {
    case '429': {
      const { body } = accessError(429, 'rate limit exceeded', `This 429 is a fault of --fault. Wait ${retryAfter} second.`)
      return json(body, { 'retry-after': retryAfter })
    }
    case '500':
      return json({ error: 'Internal server error', request_id })
    case '502':
      return html('502 Bad Gateway')
    case '503':
      return json(
        { error: 'The storage is busy or cannot be reached; nothing was written. Try again', request_id },
        { 'retry-after': retryAfter },
      )
    case '504':
      return html('504 Gateway Time-out')
  }
}
