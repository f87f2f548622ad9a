/** The trace that is stored with an event. */
import { isTraceparent } from '../../../../lib/base/tracing.ts'
import type { Addressed } from '../endpoint/endpoint-index.ts'

/** Anybody may write to an outbox: what is no `traceparent` is never sent. */
export const traceOf = ({ record: { trace } }: Addressed): string | null => (isTraceparent(trace) ? trace : null)
