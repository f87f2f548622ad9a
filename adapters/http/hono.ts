/** Hono, on any runtime: no module of Node is loaded here. */
import '../../lib/base/supported-runtime.ts'
import { cutsUnread, discardBody, fromRequest, type HttpResponse, responseParts } from '../../lib/http/exchange.ts'
import type { Community } from '../../lib/index.ts'
import type { Panel } from '../../lib/panel/index.ts'
import type { RulesOf } from '../options.ts'
import { checkHostOptions, requestIdRule } from './host-options.ts'
import { type FetchHandler, fetched, isCommunity, requireMounted } from './mounted.ts'
import { type PanelOf, requirePanel } from './require-panel.ts'

/** As much of Hono's context as is used. */
export interface HonoContext {
  readonly req: { readonly raw: Request; arrayBuffer(): Promise<ArrayBuffer> }
  /** Variables of the request. The middleware `requestId()` of Hono sets `requestId`. */
  readonly var: object
  /** The runtime's own objects. `@hono/node-server` puts Node's request and response here. */
  readonly env: unknown
  newResponse(body: string | Uint8Array<ArrayBuffer> | null, init: object): Response
}

/** Options of the middleware. */
export interface HonoOptions {
  /** The host's own id of a request, for the `request_id` of a 500 or 503; by default that of Hono's `requestId()`. */
  requestId?(context: HonoContext): unknown
}

const rules = { requestId: requestIdRule<NonNullable<HonoOptions['requestId']>>() } satisfies RulesOf<HonoOptions>

const idOfHono = ({ var: variables }: HonoContext): unknown => 'requestId' in variables && variables.requestId

/**
 * Middleware for Hono: serves the API's paths and leaves every other request, its body untouched, to the next handler. Headers
 * that earlier middleware has set, such as a request id, leave with the response, and a body that it has read is used. Mounted
 * below a path, give the community that `basePath`. A handler with only a `fetch` serves every request that reaches it, so mount
 * it at a path.
 * @param mounted a community, or what has a `fetch`, such as the tools of `createMcp`
 * @param options the host's ids of requests
 * @throws TypeError for what is neither, and when an option cannot be used
 */
export function communityMiddleware(
  mounted: Pick<Community, 'serve' | 'owns'> | FetchHandler,
  options: HonoOptions = {},
): (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined> {
  requireMounted(mounted, 'communityMiddleware')
  const { requestId = idOfHono } = checkHostOptions('communityMiddleware', rules, options)
  if (!isCommunity(mounted)) return async (context) => withEarlier(context, await fetched(mounted, await unread(context)))
  const community = mounted
  return async (context, next) => {
    const { raw } = context.req
    const url = new URL(raw.url)
    if (!community.owns(url.pathname)) {
      await next()
      return undefined
    }
    const request = await unread(context)
    const facts = { requestId: () => requestId(context), url, endsAtLength: isOfNode(request, context.env) }
    const response = await community.serve(fromRequest(request, facts))
    if (cutsUnread || isUnfinished(context.env)) return toResponse(context, await afterBody(request, response, context.env))
    if (isOnNode(context.env)) await turnOver()
    return toResponse(context, response)
  }
}

/** The request, with the body that Hono keeps once it has been read. */
const unread = async ({ req }: HonoContext): Promise<Request> =>
  req.raw.bodyUsed ? new Request(req.raw, { body: await req.arrayBuffer() }) : req.raw

/**
 * Middleware for Hono that serves the panel's requests, and leaves every other to the next handler.
 * @param panel made by `createPanel`; its `authorize` gets the context of Hono as its second argument, such as for a session
 * @throws TypeError for what is no panel
 */
export function panelMiddleware(panel: Panel): (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined>
export function panelMiddleware<Context extends HonoContext>(
  panel: Panel<Context>,
): (context: Context, next: () => Promise<void>) => Promise<Response | undefined>
export function panelMiddleware<Context extends HonoContext>(
  panel: PanelOf<Context>,
): (context: Context, next: () => Promise<void>) => Promise<Response | undefined> {
  requirePanel(panel, 'panelMiddleware')
  const { owns } = panel
  return async (context, next) => {
    const isOurs = owns === undefined || owns(new URL(context.req.raw.url).pathname)
    const response = isOurs ? await (panel as Panel<Context>)(await unread(context), context) : undefined
    if (response === undefined) {
      await next()
      return undefined
    }
    return withEarlier(context, response)
  }
}

/** A response with the headers that earlier middleware has set. */
function withEarlier(context: HonoContext, { status, headers, body }: Response): Response {
  const all = new Headers(context.newResponse(null, { status }).headers)
  for (const [name, value] of headers) if (name !== 'set-cookie') all.set(name, value)
  for (const cookie of headers.getSetCookie()) all.append('set-cookie', cookie)
  return new Response(body, { status, headers: all })
}

const isOnNode = (env: unknown): boolean => typeof env === 'object' && env !== null && 'outgoing' in env

/** Whether a request stands directly on that of Node, which ends a body at its announced length. */
const isOfNode = (request: Request, env: unknown): boolean =>
  typeof env === 'object' &&
  env !== null &&
  'incoming' in env &&
  Object.getOwnPropertySymbols(request).some((key) => Reflect.get(request, key) === env.incoming)

/** Whether Node still waits for a part of the body. A stream of HTTP/2 belongs to one request. */
const isUnfinished = (env: unknown): boolean => {
  if (typeof env !== 'object' || env === null || !('incoming' in env)) return false
  const { incoming } = env
  if (typeof incoming !== 'object' || incoming === null || !('complete' in incoming)) return false
  return incoming.complete === false && 'httpVersionMajor' in incoming && incoming.httpVersionMajor === 1
}

/**
 * The server for Node cuts a connection half a second after a response if the body is unfinished by then, and workerd
 * immediately. So the body comes first. If it does not end in time, the response announces the cut, and the client sends no other
 * request there.
 */
async function afterBody(request: Request, response: HttpResponse, env: unknown): Promise<HttpResponse> {
  await discardBody(request)
  return isUnfinished(env) ? { ...response, headers: { ...response.headers, connection: 'close' } } : response
}

let turn: Promise<void> | undefined

// The responses of one turn of the event loop leave straight after each other. `node.ts` describes why.
function turnOver(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined
      resolve()
    })
  })
  return turn
}

/**
 * A response with the headers that earlier middleware has set. Hono copies headers into `Headers` twice, and its server for Node
 * takes them out again. That server writes plain headers as they are.
 */
function toResponse(context: HonoContext, response: HttpResponse): Response {
  const { status } = response
  const { body, headers } = responseParts(response, context.req.raw.method)
  const earlier = context.newResponse(null, { status }).headers
  // Several cookies have one name each time.
  if (earlier.has('set-cookie')) return context.newResponse(body, { status, headers })
  return new Response(body, { status, headers: { ...Object.fromEntries(earlier), ...headers } })
}
