/** Koa. */
import '../node-version.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Community } from '../../lib/index.ts'
import type { Panel } from '../../lib/panel/index.ts'
import type { RulesOf } from '../options.ts'
import { checkHostOptions, requestIdRule } from './host-options.ts'
import { type FetchHandler, isCommunity, requireMounted } from './mounted.ts'
import { boundRules, type TransferBounds } from './node-bounds.ts'
import { servePanel } from './node-panel.ts'
import { address } from './node-request.ts'
import { serveRequest } from './node-serve.ts'
import { serveFetch } from './node-web.ts'
import { type PanelOf, requirePanel } from './require-panel.ts'

/** As much of Koa's context as is used. */
export interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** The address as called, which stays when `koa-mount` cuts its prefix off. */
  readonly originalUrl: string
  /** Body parsers keep the body here. */
  readonly request: { readonly body?: unknown; readonly rawBody?: unknown }
  respond?: boolean
}

/** Options of the middleware. */
export interface KoaOptions extends TransferBounds {
  /** The host's own id of a request, such as `context.res.getHeader('x-request-id')`; see `NodeOptions` of `folkmoot/node`. */
  requestId?(context: KoaContext): unknown
}

const rules = { ...boundRules, requestId: requestIdRule<NonNullable<KoaOptions['requestId']>>() } satisfies RulesOf<KoaOptions>

/**
 * Middleware for Koa: serves the API's paths and leaves every other request, its body untouched, to the next middleware. Use it
 * before or after a body parser, and below `koa-mount`. Mounted below a path, give the community that `basePath`. A handler with
 * only a `fetch` serves every request that reaches it, so mount it at a path.
 * @param mounted a community, or what has a `fetch`, such as the tools of `createMcp`
 * @param options how long bodies and responses may be on their way, and the host's ids of requests
 * @returns middleware that is done when the response has left, so that a log around it has its status and duration
 * @throws TypeError for what is neither, and when an option cannot be used
 */
export function communityMiddleware(
  mounted: Pick<Community, 'serve' | 'owns'> | FetchHandler,
  options: KoaOptions = {},
): (context: KoaContext, next: () => Promise<unknown>) => Promise<void> {
  requireMounted(mounted, 'communityMiddleware')
  const { requestId, ...bounds } = checkHostOptions('communityMiddleware', rules, options)
  if (!isCommunity(mounted))
    return async (context) => {
      const { req, res, request, originalUrl } = context
      const ended = whenEnded(req, res)
      const taken = () => {
        context.respond = false
      }
      await serveFetch(mounted, bounds, req, res, taken, { originalUrl, body: request.body, rawBody: request.rawBody })
      await ended
    }
  const community = mounted
  return async (context, next) => {
    const { req, res, request, originalUrl } = context
    if (!community.owns(address(originalUrl).path)) {
      await next()
      return
    }
    context.respond = false
    const { body, rawBody } = request
    const ended = whenEnded(req, res)
    serveRequest(community, bounds, req, res, requestId && (() => requestId(context)), { originalUrl, body, rawBody })
    await ended
  }
}

/**
 * Middleware for Koa that serves the panel's requests, and leaves every other to the next middleware.
 * @param panel made by `createPanel`; its `authorize` gets the context of Koa as its second argument, such as for its `session`
 * @throws TypeError for what is no panel
 */
export function panelMiddleware(panel: Panel): (context: KoaContext, next: () => Promise<unknown>) => Promise<void>
export function panelMiddleware<Context extends KoaContext>(
  panel: Panel<Context>,
): (context: Context, next: () => Promise<unknown>) => Promise<void>
export function panelMiddleware<Context extends KoaContext>(
  panel: PanelOf<Context>,
): (context: Context, next: () => Promise<unknown>) => Promise<void> {
  requirePanel(panel, 'panelMiddleware')
  return async (context, next) => {
    const { req, res, request, originalUrl } = context
    const taken = () => {
      context.respond = false
    }
    const kept = { originalUrl, body: request.body, rawBody: request.rawBody }
    if (!(await servePanel(panel, context, req, res, taken, kept))) await next()
  }
}

/** Waits until a response has left or its connection has ended. */
function whenEnded({ socket }: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      response.off('close', end)
      socket.off('close', end)
      resolve()
    }
    // Not every version of Node notifies a response that waits behind another one when their connection ends.
    response.on('close', end)
    socket.on('close', end)
    if (response.destroyed || socket.destroyed) end()
  })
}
