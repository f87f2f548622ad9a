/** A request as a span, in OpenTelemetry's conventions for HTTP servers. */
import type { Span, SpanFacts, Tracing } from '../base/tracing.ts'
import type { HttpResponse, Incoming } from './exchange.ts'

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY'])

/** Handles a request in a span of its own. @param respond never rejects */
export async function inRequestSpan(
  tracing: Tracing,
  incoming: Incoming,
  respond: (span: Span) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const isKnown = methods.has(incoming.method)
  const span = tracing.start({
    name: isKnown ? incoming.method : 'HTTP',
    kind: 'server',
    facts: { 'http.request.method': isKnown ? incoming.method : '_OTHER', 'url.scheme': incoming.secure ? 'https' : 'http' },
    parent: (name) => incoming.header(name),
  })
  const response = await span.within(() => respond(span))
  span.add({ 'http.response.status_code': response.status })
  // A refusal is the client's fault, and no failure of the server.
  span.end(response.status >= 500 ? String(response.status) : undefined)
  return response
}

const harmless = /^[A-Za-z0-9_-]{1,63}$/

/**
 * Names a span by its route. Its path is left out where a segment that the caller chose is more than an id: it may be anything.
 * @param route such as `/admin/v1/networks/{network_id}/members/{id}`
 * @param chosen what the caller gave for its placeholders
 */
export function nameSpan(
  span: Span,
  { method, path }: Incoming,
  route: string,
  chosen: readonly string[],
  more: SpanFacts = {},
): void {
  const shown = chosen.every((each) => harmless.test(each)) ? { 'url.path': path } : {}
  span.add({ 'http.route': route, ...shown, ...more }, `${method} ${route}`)
}
