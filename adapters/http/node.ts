/** node:http and node:https, and every framework that hands on their requests: Express, Connect, Polka, … */
import '../node-version.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer, Incoming } from '../../lib/http/exchange.ts'
import type { Community } from '../../lib/index.ts'
import type { RulesOf } from '../options.ts'
import { checkHostOptions, requestIdRule } from './host-options.ts'
import { writeAnswer } from './node-answer.ts'
import type { HostRequest, Kept } from './node-body.ts'
import { type Bounds, boundRules, type TransferBounds } from './node-bounds.ts'
import { address, toIncoming } from './node-request.ts'
import { cut } from './node-stream.ts'
import { inOwnContext, isMadeUp, takeTurn } from './node-turns.ts'
import { requireCommunity } from './require-community.ts'

/** Continues with the host's next handler. */
export type Next = () => void

export type { TransferBounds } from './node-bounds.ts'
export { panelMiddleware } from './node-panel.ts'
export { scalarFile } from './scalar.ts'

/** Options of the listener and the middleware. */
export interface NodeOptions extends TransferBounds {
  /**
   * The host's own id of a request, such as `request.id` or `response.getHeader('x-request-id')`: a 500 or 503 and its report
   * have it as `request_id`. A text of 1 to 128 letters, digits and `-_.:;/+=@`, or a number. In place of any other value the
   * community draws an id.
   */
  requestId?(request: IncomingMessage, response: ServerResponse): unknown
}

/**
 * A listener for `http.createServer` and `https.createServer` that answers every request.
 * @param community what answers
 * @param options how long bodies and answers may be on their way, and the host's ids of requests
 * @throws TypeError for what is no community, and when an option cannot be used
 */
export function toNodeListener(
  community: Pick<Community, 'serve'>,
  options: NodeOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  requireCommunity(community, 'toNodeListener')
  const { bounds, idOf } = nodeOptions('toNodeListener', options)
  return (request, response) => answer(community, bounds, request, response, idOf(request, response))
}

/**
 * Middleware for Express, Connect and their like: answers the API's paths and leaves every other request, its body untouched,
 * to the next handler. Mount it before or after a body parser. Mounted below a path, give the community that `basePath`.
 * @param community what answers
 * @param options how long bodies and answers may be on their way, and the host's ids of requests
 * @throws TypeError for what is no community, and when an option cannot be used
 */
export function communityMiddleware(
  community: Pick<Community, 'serve' | 'owns'>,
  options: NodeOptions = {},
): (request: IncomingMessage, response: ServerResponse, next: Next) => void {
  requireCommunity(community, 'communityMiddleware')
  const { bounds, idOf } = nodeOptions('communityMiddleware', options)
  return (request: HostRequest, response, next) => {
    if (community.owns(address(request.originalUrl ?? request.url).path))
      answer(community, bounds, request, response, idOf(request, response))
    else next()
  }
}

const rules = { ...boundRules, requestId: requestIdRule<NonNullable<NodeOptions['requestId']>>() } satisfies RulesOf<NodeOptions>

function nodeOptions(call: string, given: NodeOptions) {
  const { requestId, ...bounds } = checkHostOptions(call, rules, given)
  const idOf = (request: IncomingMessage, response: ServerResponse) => requestId && (() => requestId(request, response))
  return { bounds, idOf }
}

/**
 * Answers a request, for the adapters of frameworks.
 * @param requestId gives the host's id of the request
 * @param kept the parts that the framework keeps, if not on the request itself
 */
export function answer(
  community: Pick<Community, 'serve'>,
  bounds: Bounds,
  request: IncomingMessage,
  response: ServerResponse,
  requestId?: Incoming['requestId'],
  kept?: Kept,
): void {
  const begin = (done: () => void) => {
    let sent = done
    const whenSent = (release: () => void) => {
      sent = () => {
        release()
        done()
      }
    }
    // Nothing can be said about a request that was never carried out; but its client need not wait.
    const failed = () => {
      cut(response)
      sent()
    }
    try {
      community.serve(toIncoming(request, bounds, whenSent, kept, requestId)).then((result) => {
        if (finished.length === 0) setImmediate(writeFinished)
        finished.push({ request, response, result, bounds, sent: () => sent() })
      }, failed)
    } catch {
      // A `serve` of the host's that throws. Others of its turn begin all the same.
      failed()
    }
  }
  if (isToContinue(request, response)) response.writeContinue()
  takeTurn(request, response, waitsForOthers(request) ? (done) => beginTogether(() => begin(done)) : begin)
}

// Node answers `Expect: 100-continue` by itself, unless the server has a listener for it, as that of hapi has. Such a listener may
// have answered already, which only this property of Node shows.
const isToContinue = (request: IncomingMessage, response: ServerResponse & { readonly _sent100?: boolean }): boolean =>
  request.headers.expect?.toLowerCase() === '100-continue' &&
  request.httpVersionMajor < 2 &&
  !isMadeUp(request) &&
  !response._sent100

const waitsForOthers = ({ method, httpVersionMajor }: IncomingMessage): boolean =>
  method !== 'GET' && method !== 'HEAD' && httpVersionMajor < 2

let arrived: (() => void)[] = []

// Writes that have arrived in a turn of the event loop begin at its end, one straight after the other. A write runs through a lot
// of code. A processor that has it at hand from the one before needs a tenth less time. Reads are too short to gain by it.
function beginTogether(begin: () => void): void {
  if (arrived.length === 0) setImmediate(beginArrived)
  arrived.push(inOwnContext(begin))
}

function beginArrived(): void {
  const ready = arrived
  arrived = []
  for (const begin of ready) begin()
}

interface Finished {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly result: Answer
  readonly bounds: Bounds
  readonly sent: () => void
}

// Answers are written at the end of the turn of the event loop in which they were ready, one straight after the other. Waking a
// client costs as much as the rest of a read. A proxy that gets many answers at once wakes up once for them.
let finished: Finished[] = []

function writeFinished(): void {
  const ready = finished
  finished = []
  for (const { request, response, result, bounds, sent } of ready)
    try {
      writeAnswer(request, response, result, bounds, sent)
    } catch {
      // The connection is beyond help.
      cut(response)
      sent()
    }
}
