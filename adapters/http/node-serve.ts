/** Requests of Node, served by a community, for the adapters of its frameworks. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpResponse, Incoming } from '../../lib/http/exchange.ts'
import type { Community } from '../../lib/index.ts'
import type { HostBody } from './node-body.ts'
import type { Bounds } from './node-bounds.ts'
import { toIncoming } from './node-request.ts'
import { writeResponse } from './node-response.ts'
import { cut } from './node-stream.ts'
import { inOwnContext, isMadeUp, takeTurn } from './node-turns.ts'

/**
 * Serves a request.
 * @param requestId gives the host's id of the request
 * @param kept the parts that the framework keeps, if not on the request itself
 */
export function serveRequest(
  community: Pick<Community, 'serve'>,
  bounds: Bounds,
  request: IncomingMessage,
  response: ServerResponse,
  requestId?: Incoming['requestId'],
  kept?: HostBody,
): void {
  const begin = (done: () => void) => {
    let sent = done
    const whenSent = (release: () => void) => {
      sent = () => {
        release()
        done()
      }
    }
    // There is no response to a request that was never carried out, but its client need not wait.
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

// Node responds to `Expect: 100-continue` by itself, unless the server has a listener for it, as that of hapi has. Such a
// listener may have responded already, which only this property of Node shows.
const isToContinue = (request: IncomingMessage, response: ServerResponse & { readonly _sent100?: boolean }): boolean =>
  request.headers.expect?.toLowerCase() === '100-continue' &&
  request.httpVersionMajor < 2 &&
  !isMadeUp(request) &&
  !response._sent100

const waitsForOthers = ({ method, httpVersionMajor }: IncomingMessage): boolean =>
  method !== 'GET' && method !== 'HEAD' && httpVersionMajor < 2

let arrived: (() => void)[] = []

// Writes that have arrived in a turn of the event loop begin at its end, one straight after the other. Running
// them back to back keeps their code in the processor's cache, which saves a tenth of the CPU. Reads are too short to gain by it.
function beginTogether(begin: () => void): void {
  if (arrived.length === 0) setImmediate(beginArrived)
  arrived.push(inOwnContext(begin))
}

function beginArrived(): void {
  const ready = arrived
  arrived = []
  for (const begin of ready) begin()
}

interface ReadyResponse {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly result: HttpResponse
  readonly bounds: Bounds
  readonly sent: () => void
}

// Responses are written at the end of the turn of the event loop in which they were ready, one straight after the other. Waking a
// client costs as much as the rest of a read. A proxy that gets many responses together wakes up once for them.
let finished: ReadyResponse[] = []

function writeFinished(): void {
  const ready = finished
  finished = []
  for (const { request, response, result, bounds, sent } of ready)
    try {
      writeResponse(request, response, result, bounds, sent)
    } catch {
      // The connection can't be recovered.
      cut(response)
      sent()
    }
}
