/** The spans of a test file, by the SDK and its exporter in memory. */
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { beforeEach } from 'vitest'

const exporter = new InMemorySpanExporter()
const fail = (): void => {
  if (faults.on) throw new Error('a broken part of the SDK')
}
/** A part of the SDK that throws while it is on. */
export const faults = { on: false }
const processors = [
  { onStart: fail, onEnd: fail, forceFlush: async () => undefined, shutdown: async () => undefined },
  new SimpleSpanProcessor({ exporter }),
]
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: processors }))
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
beforeEach(() => exporter.reset())

/** Spans by their names, in the order of their ends. */
export const recordedSpans = (named = /^/): ReadableSpan[] => exporter.getFinishedSpans().filter(({ name }) => named.test(name))

export const traceOf = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().traceId
export const idOf = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().spanId
export const parentOf = (span: ReadableSpan | undefined): string | undefined => span?.parentSpanContext?.spanId
