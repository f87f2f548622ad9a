/** `folkmoot/telemetry`: traces by OpenTelemetry. The host registers its SDK; this only makes spans. */
import '../../lib/base/supported-runtime.ts'
import type { Context, Span as OtherSpan } from '@opentelemetry/api'
import { isTraceparent, type Span, type SpanStart, type Tracing } from '../../lib/base/tracing.ts'
import { notLoaded, requirePackage } from '../optional-package.ts'
import { version } from '../version.ts'

export type { Span, SpanFacts, SpanStart, Tracing } from '../../lib/base/tracing.ts'

const name = '@opentelemetry/api'
const needing = 'openTelemetry()'

/** In `try`, which shows bundlers that it may be missing. */
async function load() {
  requirePackage(needing, name)
  try {
    return await import('@opentelemetry/api')
  } catch (error) {
    throw notLoaded(error, needing, name)
  }
}

type Api = Awaited<ReturnType<typeof load>>

/**
 * The option `tracing` of `createCommunity` and of `startRelay`: spans by the OpenTelemetry SDK of this process. Register the SDK
 * before or after, such as with `node --import ./instrumentation.js`; without one nothing is recorded.
 * @throws Error that names the command, if the package `@opentelemetry/api` is not installed
 */
export async function openTelemetry(): Promise<Tracing> {
  const api = await load()
  const tracer = api.trace.getTracer('folkmoot', version)
  const contexts = contextsOf(api)
  const kinds = { server: api.SpanKind.SERVER, internal: api.SpanKind.INTERNAL, client: api.SpanKind.CLIENT }

  function started({ name, kind, facts, parent }: SpanStart): Span {
    const context = contexts.of(parent)
    // A request that the host's own instrumentation has a span of already has been received by that one.
    const isReceived = kind === 'server' && contexts.isActive(context)
    const span = tracer.startSpan(name, { kind: isReceived ? kinds.internal : kinds[kind], attributes: facts }, context)
    const inside = api.trace.setSpan(context, span)
    return {
      traceparent: traceparentOf(span),
      within: (work) => api.context.with(inside, work),
      add: (more, name) =>
        void harmless(() => {
          span.setAttributes(more)
          if (name !== undefined) span.updateName(name)
        }),
      end: (failed) =>
        void harmless(() => {
          if (failed !== undefined) span.setAttribute('error.type', failed).setStatus({ code: api.SpanStatusCode.ERROR })
          span.end()
        }),
    }
  }
  // An SDK is made of parts of others, and a fault in one of them fails no request and no delivery.
  return { start: (span) => harmless(() => started(span)) ?? none }
}

/** Where there is no span. */
const none: Span = { traceparent: undefined, within: (work) => work(), add: () => undefined, end: () => undefined }

function harmless<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

const hex = (number: number): string => number.toString(16).padStart(2, '0')

function traceparentOf(span: OtherSpan): string | undefined {
  const { traceId, spanId, traceFlags } = span.spanContext()
  const text = `00-${traceId}-${spanId}-${hex(traceFlags)}`
  return isTraceparent(text) ? text : undefined
}

/** The contexts that spans begin in. */
function contextsOf({ context, propagation, trace, ROOT_CONTEXT }: Api) {
  /** By its text alone: a process without propagators has traces, too. */
  function continued(traceparent: string | null): Context {
    if (!isTraceparent(traceparent)) return ROOT_CONTEXT
    const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
    const traceFlags = Number.parseInt(flags, 16)
    return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
  }

  /** By the propagators of the SDK, which may know more than `traceparent`. */
  function received(header: (name: string) => string | null): Context {
    const getter = { get: (_: unknown, key: string) => header(key.toLowerCase()) ?? undefined, keys: () => [] }
    const found = propagation.extract(ROOT_CONTEXT, undefined, getter)
    return trace.getSpanContext(found) ? found : continued(header('traceparent'))
  }

  const isActive = (of: Context): boolean => of === context.active() && trace.getSpan(of) !== undefined
  return {
    isActive,
    of(parent: SpanStart['parent']): Context {
      const active = context.active()
      if (parent === undefined || (typeof parent === 'function' && isActive(active))) return active
      return typeof parent === 'function' ? received(parent) : continued(parent)
    },
  }
}
