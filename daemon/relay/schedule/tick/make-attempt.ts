/** Makes one attempt that was chosen and recorded, and brings its outcome. */

import type { SpanFacts, Tracing } from '../../../../lib/base/tracing.ts'
import { portOf } from '../../../port-of.ts'
import { attemptTimeout, coversAttempt, coversRequest } from '../../attempt-timeout.ts'
import type { RelayEvents } from '../../events.ts'
import { type Outcome, unsent } from '../../send/outcome.ts'
import type { Attempt, Sender } from '../../send/sender.ts'
import type { Settings } from '../../settings.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'
import type { RelayStore } from '../../store/store.ts'
import type { InFlightAttempt } from '../choose/in-flight.ts'
import type { EndpointRun } from '../endpoint/endpoint-run.ts'

export interface AttemptParts {
  readonly store: Pick<RelayStore, 'leasedFor'>
  readonly sender: Pick<Sender, 'send'>
  readonly settings: () => Settings
  /** Why an endpoint cannot be sent to, for a person: a certificate may have expired since its credentials were read. */
  readonly lacking?: (endpoint: Endpoint) => string | undefined
  readonly reread: (run: EndpointRun) => void
  readonly events: Required<RelayEvents>
  readonly tracing?: Tracing | undefined
}

/** Never rejects: whatever happens is an outcome. */
export async function makeAttempt(attempt: InFlightAttempt, parts: AttemptParts): Promise<Outcome> {
  try {
    const ready = prepare(attempt, parts)
    if ('result' in ready) return ready
    const { tracing, sender } = parts
    return await (tracing ? inAttemptSpan(tracing, attempt, (trace) => sender.send({ ...ready, trace })) : sender.send(ready))
  } catch (error) {
    parts.events.onFault('an attempt failed unexpectedly', error)
    return unsent('fault', 'unforeseen')
  }
}

/** The body to send; or the outcome if nothing may be sent. */
function prepare({ run, outgoing }: InFlightAttempt, { store, settings, lacking, reread }: AttemptParts): Attempt | Outcome {
  const timeout = attemptTimeout(settings(), run.endpoint)
  // This process may have been stopped since the tick was recorded, for so long that others send by now.
  if (!coversAttempt(store.leasedFor, timeout)) return unsent('aborted', 'the lease is nearly over')
  if (!outgoing) return unsent('fault', 'no such event')
  if (!outgoing.intact) return unsent('damaged', 'the stored body differs from the ingested one')
  const { state } = run
  // It was defined again since it was chosen.
  if (state.kind !== 'active') return unsent('aborted', 'the endpoint has changed since')
  const problem = lacking?.(run.endpoint)
  if (problem !== undefined) {
    reread(run)
    return unsent('aborted', problem)
  }
  return {
    endpoint: state.opened,
    event_id: outgoing.event_id,
    body: outgoing.body,
    timeout,
    trace: outgoing.trace,
    changed: outgoing.changed,
    // This process may be stopped while it waits for a connection, too.
    isAllowed: () => coversRequest(store.leasedFor),
  }
}

function serverOf(text: string): SpanFacts {
  const url = URL.parse(text)
  return url ? { 'server.address': url.hostname, 'server.port': portOf(url) } : {}
}

/** In OpenTelemetry's conventions for messaging and HTTP. No URL, no key, no body: they may be secrets. */
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

/** Makes an attempt in a span of its own, which continues the trace of its event. */
async function inAttemptSpan(
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
