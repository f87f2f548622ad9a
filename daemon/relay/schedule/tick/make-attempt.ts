/** Makes one attempt that was chosen and recorded, and brings its outcome. */

import type { Tracing } from '../../../../lib/base/tracing.ts'
import { attemptTimeout, coversAttempt, coversRequest } from '../../attempt-timeout.ts'
import type { RelayEvents } from '../../events.ts'
import { type Outcome, unsent } from '../../send/outcome.ts'
import type { Attempt, Sender } from '../../send/sender.ts'
import type { Settings } from '../../settings.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'
import type { RelayStore } from '../../store/store.ts'
import type { InFlightAttempt } from '../choose/in-flight.ts'
import type { EndpointRun } from '../endpoint/endpoint-run.ts'
import { inAttemptSpan } from './attempt-span.ts'

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
