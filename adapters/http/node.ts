/** node:http and node:https, and every framework that hands on their requests: Express, Connect, Polka, … */
import '../node-version.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Community } from '../../lib/index.ts'
import type { RulesOf } from '../options.ts'
import { checkHostOptions, requestIdRule } from './host-options.ts'
import { type FetchHandler, isCommunity, requireMounted } from './mounted.ts'
import type { HostRequest } from './node-body.ts'
import { boundRules, type TransferBounds } from './node-bounds.ts'
import { address } from './node-request.ts'
import { serveRequest } from './node-serve.ts'
import { failed, serveFetch } from './node-web.ts'

/** Continues with the host's next handler, or with that for errors. */
export type Next = (error?: unknown) => void

export type { FetchHandler } from './mounted.ts'
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
 * A listener for `http.createServer` and `https.createServer` that serves every request.
 * @param mounted a community, or what has a `fetch`, such as the tools of `createMcp`
 * @param options how long bodies and responses may be on their way, and the host's ids of requests
 * @throws TypeError for what is neither, and when an option cannot be used
 */
export function toNodeListener(
  mounted: Pick<Community, 'serve'> | FetchHandler,
  options: NodeOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  requireMounted(mounted, 'toNodeListener')
  const { bounds, idOf } = nodeOptions('toNodeListener', options)
  if (isCommunity(mounted))
    return (request, response) => serveRequest(mounted, bounds, request, response, idOf(request, response))
  return (request, response) => {
    serveFetch(mounted, bounds, request, response).catch((error: unknown) => failed(request, response, error))
  }
}

/**
 * Middleware for Express, Connect and their like: serves the API's paths and leaves every other request, its body untouched,
 * to the next handler. Mount it before or after a body parser. Mounted below a path, give the community that `basePath`. A
 * handler with only a `fetch` serves every request that reaches it, so mount it at a path.
 * @param mounted a community, or what has a `fetch`, such as the tools of `createMcp`
 * @param options how long bodies and responses may be on their way, and the host's ids of requests
 * @throws TypeError for what is neither, and when an option cannot be used
 */
export function communityMiddleware(
  mounted: Mounted | FetchHandler,
  options: NodeOptions = {},
): (request: IncomingMessage, response: ServerResponse, next: Next) => void {
  requireMounted(mounted, 'communityMiddleware')
  const { bounds, idOf } = nodeOptions('communityMiddleware', options)
  if (!isCommunity(mounted)) return (request, response, next) => void serveFetch(mounted, bounds, request, response).catch(next)
  const community = mounted
  let isHinted = false
  return (request: HostRequest, response, next) => {
    const { path } = address(request.originalUrl ?? request.url)
    if (community.owns(path)) return serveRequest(community, bounds, request, response, idOf(request, response))
    const hint = isHinted ? undefined : mountHint(community, path, request.baseUrl)
    if (hint !== undefined) {
      isHinted = true
      console.warn(hint)
    }
    next()
  }
}

/** For the developer, where Express would respond with 404 without a reason: a request that another `basePath` would own. */
function mountHint(community: Mounted, path: string, baseUrl: string | undefined): string | undefined {
  const { basePath = '' } = community
  if (typeof baseUrl !== 'string' || baseUrl === '' || baseUrl === basePath || !path.startsWith(baseUrl)) return undefined
  const below = path.slice(baseUrl.length)
  if (!community.owns(below) && !community.owns(basePath + below)) return undefined
  const place = baseUrl.slice(0, 100)
  return `folkmoot: communityMiddleware is mounted below ${JSON.stringify(place)}, and the community has basePath ${JSON.stringify(basePath)}: give createCommunity basePath: ${JSON.stringify(place)}`
}

/** The part of a community that the middleware needs. */
type Mounted = Pick<Community, 'serve' | 'owns'> & Partial<Pick<Community, 'basePath'>>

const rules = { ...boundRules, requestId: requestIdRule<NonNullable<NodeOptions['requestId']>>() } satisfies RulesOf<NodeOptions>

function nodeOptions(call: string, given: NodeOptions) {
  const { requestId, ...bounds } = checkHostOptions(call, rules, given)
  const idOf = (request: IncomingMessage, response: ServerResponse) => requestId && (() => requestId(request, response))
  return { bounds, idOf }
}
