/** Requests of Node answered by a community, for the adapters of its frameworks. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Incoming } from '../../lib/http/exchange.ts'
import type { Community } from '../../lib/index.ts'
import { writeAnswer } from './node-answer.ts'
import type { Kept } from './node-body.ts'
import type { Bounds } from './node-bounds.ts'
import { toIncoming } from './node-request.ts'
import { cut } from './node-stream.ts'
import { isMadeUp, takeTurn } from './node-turns.ts'

/**
 * Answers a request.
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
    // There is no answer to a request that was never carried out; but its client need not wait.
    const failed = () => {
      cut(response)
      sent()
    }
    // A `serve` of the host's may throw.
    const serve = async () => community.serve(toIncoming(request, bounds, whenSent, kept, requestId))
    serve()
      .then((result) => writeAnswer(request, response, result, bounds, () => sent()))
      .catch(failed)
  }
  if (isToContinue(request, response)) response.writeContinue()
  takeTurn(request, response, begin)
}

// Node answers `Expect: 100-continue` by itself, unless the server has a listener for it, as that of hapi has. Such a listener may
// have answered already, which only this property of Node shows.
const isToContinue = (request: IncomingMessage, response: ServerResponse & { readonly _sent100?: boolean }): boolean =>
  request.headers.expect?.toLowerCase() === '100-continue' &&
  request.httpVersionMajor < 2 &&
  !isMadeUp(request) &&
  !response._sent100
