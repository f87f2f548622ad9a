import type { Span } from '../base/tracing.ts'
import { ApiError, fail, invalid, isApiError, notFound } from '../errors.ts'
import { isExtension, isPaged } from '../fields.ts'
import type { Preview } from '../host/preview.ts'
import { type Repeatable, readRepeatable } from '../kernel/idempotency.ts'
import type { Pipeline } from '../kernel/pipeline.ts'
import type { OperationRequest, TextResult } from '../kernel/run.ts'
import { retryAfter, storageTrouble } from '../kernel/storage-errors.ts'
import { apiRoot } from '../kernel/wire.ts'
import type { AnyOperation, Deprecation, Route } from '../operation.ts'
import { RecordWriter } from '../records/json/writer.ts'
import { authorise } from '../rules/scopes.ts'
import type { Settings } from '../settings.ts'
import { authenticator, bearerToken, type Caller } from './caller/authenticate.ts'
import { recheckIn } from './caller/recheck-caller.ts'
import { deprecationHeaders } from './deprecation.ts'
import { type HttpResponse, type Incoming, jsonResponse } from './exchange.ts'
import type { InFlightCounter, Usage } from './in-flight.ts'
import { PreviewRecord, previewedIn, previewRoute, previews } from './previews.ts'
import { requestIdOf } from './request-id.ts'
import type { RequestMetrics } from './request-metrics.ts'
import { inRequestSpan, nameSpan } from './request-span.ts'
import { routeTable } from './routes.ts'
import { printOf, readForm, readJson, readOptionalJson } from './steps/body.ts'
import { httpsHint, publicAddress, requireHost, requireHttps } from './steps/https.ts'
import { limitRate } from './steps/rate-limit.ts'
import { trafficCounter } from './traffic.ts'

/** Documents that anyone may read, by their path below the base path. */
export type Documents = ReadonlyMap<string, () => string>

const networksRoot = `${apiRoot}/networks/`

/** The operation that a path and a method name, and the network. */
interface Target {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
  /** An id or a subdomain. */
  readonly network: string
}

/** What counts the requests. */
interface Counting extends Pick<RequestMetrics, 'count'> {
  readonly inFlight: InFlightCounter
}

/** A request for an operation. */
interface Exchange {
  readonly incoming: Incoming
  readonly target: Target
  /** Those of the response, which the steps add to. */
  readonly headers: Record<string, string>
  readonly usage: Usage
  /** That of the body, once it was requested. */
  content?: Promise<unknown> | undefined
}

/**
 * Makes the function that responds to requests. The steps of a request, in this order: HTTPS, route, token, network, rate limit,
 * scope, query, body, then the operation and the response.
 */
export function server(
  operations: readonly AnyOperation[],
  settings: Settings,
  { text }: Pipeline,
  documents: Documents,
  preview: (request: OperationRequest) => Promise<Preview>,
  { inFlight, count }: Counting,
) {
  const { basePath, limits, tracing } = settings
  const match = routeTable(operations)
  const { withCaller, requireWorking, settled } = authenticator(settings)
  const traffic = trafficCounter(settings.clock)

  let isHinted = false
  /** For the developer, once: callers are required to use https, which a server without TLS does not speak. */
  function hintAtHttps(incoming: Incoming): void {
    if (isHinted) return
    isHinted = true
    settings.warn(httpsHint(incoming, settings))
  }

  /** Responds to any request; never rejects. */
  const serve = (incoming: Incoming): Promise<HttpResponse> =>
    tracing ? inRequestSpan(tracing, incoming, (span) => respond(incoming, span)) : respond(incoming)

  async function respond(incoming: Incoming, span?: Span): Promise<HttpResponse> {
    const headers: Record<string, string> = {}
    let usage: Usage | undefined
    let operation: string | undefined
    let deprecated: Deprecation | undefined
    let response: HttpResponse
    const began = settings.clock.now()
    try {
      usage = inFlight.begin()
      const target = await targetOf(incoming)
      if ('text' in target) {
        if (span) nameSpan(span, incoming, withoutSlash(incoming.path), [])
        usage.requireRoom()
        response = readDocument(incoming, target.text)
      } else {
        operation = target.route.id
        deprecated = target.route.operation.deprecated
        if (span) nameByRoute(span, incoming, target)
        response = await respondToRoute({ incoming, target, headers, usage })
      }
    } catch (error) {
      response = failureResponse(error, headers, operation, incoming)
    }
    if (deprecated) response = { ...response, headers: { ...response.headers, ...deprecationHeaders(deprecated) } }
    if (usage && usage.network !== '') traffic.count(usage.network, usage.key, response.status, headers)
    usage?.becomeResponse(response.body?.length ?? 0)
    const end = () => {
      usage?.end()
      count(operation, response.status, settings.clock.now() - began)
    }
    if (incoming.whenSent) incoming.whenSent(end)
    else end()
    return response
  }

  /** @throws ApiError 403 without HTTPS, 400 for two Host headers or a malformed one, 404 for an unknown path, 405 */
  async function targetOf(incoming: Incoming): Promise<Target | { readonly text: () => string }> {
    requireHttps(incoming, settings, () => hintAtHttps(incoming))
    requireHost(incoming, settings)
    const path = incoming.path.startsWith(basePath) ? incoming.path.slice(basePath.length) : ''
    const address = splitPath(path)
    const text = address ? undefined : documents.get(withoutSlash(path))
    if (text) return { text }
    if (address && withoutSlash(address.below) === previews.path) {
      if (incoming.method !== 'POST') throw wrongMethod(incoming, 'POST')
      return { route: previewRoute, params: {}, network: address.network }
    }
    const matched = address && (await match(incoming.method, address.below))
    if (!address || !matched) fail({ status: 404, error: `There is no path ${shown(incoming.path)}` })
    if (matched.kind === 'wrong method') throw wrongMethod(incoming, matched.allow)
    return { route: matched.route, params: matched.params, network: address.network }
  }

  function nameByRoute(span: Span, incoming: Incoming, { route, params, network }: Target): void {
    const path = withoutSlash(route.operation.path).replace(/:(\w+)/g, '{$1}')
    const name = `${basePath}${networksRoot}{network_id}${path}`
    nameSpan(span, incoming, name, [network, ...Object.values(params)], { 'folkmoot.operation': route.id })
  }

  function respondToRoute(exchange: Exchange): Promise<HttpResponse> {
    const { incoming, target, headers } = exchange
    const token = bearerToken(incoming.header('authorization'))
    // No file is stored for a caller whose key may have been revoked.
    const fresh = target.route.operation.prepare !== undefined
    return withCaller({ token, network: target.network, fresh }, headers, (caller) => respondToCaller(exchange, caller))
  }

  async function respondToCaller(exchange: Exchange, caller: Caller): Promise<HttpResponse> {
    const { incoming, target, headers, usage } = exchange
    const { operation, method } = target.route
    usage.countFor(caller.network.id, caller.countedBy)
    const limited = limitRate(settings.rateLimiter, caller.countedBy, caller.network, limits, headers)
    if (limited) await limited
    // Counted first: who tries other networks' addresses uses up the limit of the key.
    if (!caller.isAddressed) fail(notFound('Network'))
    if (operation === previews) return respondToPreview(exchange, caller)
    authorise(caller.principal.scopes, operation.scope)
    const content = method === 'GET' ? undefined : await contentOf(exchange)
    // Of an operation that needs no body, what came in one may be parameters.
    const [body, parameters] = operation.body ? [content, undefined] : [undefined, content]
    const { isReplay, ...result } = await text({
      operation,
      network: caller.network,
      caller: caller.principal,
      params: target.params,
      query: incoming.search === '' ? noQuery : queryOf(operation, incoming.search),
      queryInBody: objectOrNone(parameters),
      body,
      address: { ...publicAddress(incoming, settings), search: incoming.search },
      recheck: recheckIn(caller, operation, () => settings.clock.now()),
      // An empty one is the token of no preview.
      if: (method === 'GET' ? null : incoming.header('if-preview')) ?? undefined,
      repeat: repeatOf(exchange, caller, content),
      usage,
    })
    return responseOf(result, isReplay ? { ...headers, 'idempotency-replayed': 'true' } : headers)
  }

  async function respondToPreview(exchange: Exchange, caller: Caller): Promise<HttpResponse> {
    const { incoming, headers, usage } = exchange
    const previewed = previewedIn(operations, await contentOf(exchange), limits)
    const { operation } = previewed
    authorise(caller.principal.scopes, operation.scope)
    const address = { ...publicAddress(incoming, settings), search: '' }
    const recheck = recheckIn(caller, operation, () => settings.clock.now())
    const { network, principal } = caller
    const queryInBody = objectOrNone(operation.body ? undefined : previewed.body)
    const shown = await preview({ ...previewed, queryInBody, network, caller: principal, address, recheck, usage })
    return jsonResponse(200, new RecordWriter(settings.ids, '').text(PreviewRecord, shown), headers)
  }

  /** The response that refuses a request for its token alone; `undefined` if the token works. The request is not counted. */
  async function tokenRefusal(incoming: Incoming): Promise<HttpResponse | undefined> {
    try {
      await requireWorking(bearerToken(incoming.header('authorization')))
    } catch (error) {
      return isApiError(error) && error.status !== 401 ? undefined : failureResponse(error, {}, undefined, incoming)
    }
  }

  /** The content of a body, which can be read once. */
  function contentOf(exchange: Exchange): Promise<unknown> | undefined {
    exchange.content ??= readContent(exchange)
    return exchange.content
  }

  function readContent({ incoming, target, usage }: Exchange): Promise<unknown> | undefined {
    const { operation } = target.route
    if (operation.form) return readForm(incoming, usage, limits)
    if (operation.body) return readJson(incoming, usage, limits.bodyBytes)
    return operation.query && readOptionalJson(incoming, usage, limits.bodyBytes)
  }

  function failureResponse(
    error: unknown,
    headers: Readonly<Record<string, string>>,
    operation: string | undefined,
    incoming: Incoming,
  ): HttpResponse {
    if (isApiError(error)) return jsonResponse(error.status, JSON.stringify(error.body), { ...headers, ...error.headers })
    const request_id = hostId(incoming) ?? settings.chance.uuid()
    settings.report(error, { request_id, ...(operation ? { operation } : {}) })
    const later = storageTrouble(error)
    if (later) return jsonResponse(503, JSON.stringify({ error: later, request_id }), { ...headers, 'retry-after': retryAfter })
    return jsonResponse(500, JSON.stringify({ error: 'Internal server error', request_id }), headers)
  }

  function hostId(incoming: Incoming): string | undefined {
    try {
      return requestIdOf(incoming)
    } catch (error) {
      settings.report(error, { task: 'option `requestId`' })
      return undefined
    }
  }

  return { serve, tokenRefusal, settled, trafficOf: traffic.of }
}

const noQuery = {}

/**
 * Of a parameter that comes twice the last one counts.
 * @throws ApiError 422 for an extension that comes twice or as a list: a filter of which a part is ignored finds too much
 */
function queryOf({ query = {}, returns }: AnyOperation, search: string): Readonly<Record<string, string>> {
  const all = [...new URLSearchParams(search)]
  const seen = new Set<string>()
  for (const [given] of all) {
    const name = given.replace(/\[.*/, '')
    const field = Object.hasOwn(query, name) && query[name]
    if (!(field ? isExtension(field) : name === 'count' && isPaged(returns))) continue
    if (given !== name || seen.has(name)) fail(invalid(name), `${name} must be given once, and not as a list`)
    seen.add(name)
  }
  return Object.fromEntries(all)
}

const objectOrNone = (value: unknown): object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}

const responseOf = ({ status, body }: TextResult, headers: Readonly<Record<string, string>>): HttpResponse =>
  body === '' ? { status, headers, body: null } : jsonResponse(status, body, headers)

/** What a POST with an `Idempotency-Key` is recognised by, if it is repeated. */
function repeatOf({ incoming, target }: Exchange, caller: Caller, content: unknown): (() => Promise<Repeatable>) | undefined {
  const { method, id, operation } = target.route
  const key = method === 'POST' ? incoming.header('idempotency-key') : null
  if (key === null) return undefined
  return async () => {
    const sent = operation.form ? await printOf(content) : content
    // By the id of the network or its subdomain, with and without a trailing slash, it is the same request.
    return readRepeatable(key, caller.countedBy, [id, target.params, sorted(incoming.search), sent])
  }
}

const sorted = (search: string): string => {
  const query = new URLSearchParams(search)
  query.sort()
  return query.toString()
}

const splitPath = (path: string): { network: string; below: string } | undefined => {
  if (!path.startsWith(networksRoot)) return undefined
  const end = path.indexOf('/', networksRoot.length)
  const network = path.slice(networksRoot.length, end === -1 ? undefined : end)
  return network === '' ? undefined : { network, below: end === -1 ? '/' : path.slice(end) }
}

// Not by /\/+$/: on a path of nothing but slashes its cost grows with the square of their number, before any token is seen.
const withoutSlash = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path)

const shown = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path)

const readDocument = (incoming: Incoming, document: () => string): HttpResponse => {
  if (incoming.method !== 'GET' && incoming.method !== 'HEAD') throw wrongMethod(incoming, 'GET, HEAD')
  return jsonResponse(200, document())
}

const wrongMethod = (incoming: Incoming, allow: string): ApiError =>
  new ApiError(405, { error: `${incoming.method} is not allowed here. Allowed: ${allow}.` }, { allow })
