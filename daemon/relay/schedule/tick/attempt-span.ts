/** An attempt as a span, in OpenTelemetry's conventions for messaging and HTTP. No URL, no key, no body: they may be secrets. */

import type { SpanFacts, Tracing } from '../../../../lib/base/tracing.ts'
import { portOf } from '../../../port-of.ts'
import type { Outcome } from '../../send/outcome.ts'
import type { InFlightAttempt } from '../choose/in-flight.ts'

function serverOf(text: string): SpanFacts {
  const url = URL.parse(text)
  if (!url) return {}
  return { 'server.address': url.hostname, 'server.port': portOf(url) }
}

function factsOf({ run: { endpoint }, waiting, outgoing }: InFlightAttempt): SpanFacts {
  return {
    'messaging.system': 'folkmoot',
    'messaging.operation.name': 'deliver',
    'messaging.operation.type': 'send',
    ...(outgoing ? { 'messaging.destination.name': outgoing.event_type, 'messaging.message.id': outgoing.event_id } : {}),
    'http.request.method': 'POST',
    ...(waiting.attempts > 0 ? { 'http.request.resend_count': waiting.attempts } : {}),
    ...serverOf(endpoint.url),
    'folkmoot.network_id': endpoint.network_id,
    'folkmoot.endpoint_id': endpoint.id,
  }
}

/**
 * Makes an attempt in a span of its own, which continues the trace of its event.
 * @param send is given the trace that the receiver continues
 */
export async function inAttemptSpan(
  tracing: Tracing,
  attempt: InFlightAttempt,
  send: (trace: string | null) => Promise<Outcome>,
): Promise<Outcome> {
  const { outgoing } = attempt
  const name = `deliver ${outgoing?.event_type ?? 'event'}`
  // Explicitly: what is active here belongs to whatever woke the relay up.
  const span = tracing.start({ name, kind: 'client', facts: factsOf(attempt), parent: outgoing?.trace ?? null })
  try {
    const outcome = await span.within(() => send(span.traceparent ?? outgoing?.trace ?? null))
    const { result, status } = outcome
    if (status !== null) span.add({ 'http.response.status_code': status })
    span.end(result === 'delivered' ? undefined : status === null ? result : String(status))
    return outcome
  } catch (error) {
    span.end('fault')
    throw error
  }
}
