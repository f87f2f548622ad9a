/**
 * The port of tracing: what the API and the relay need of it. `openTelemetry()` of `folkmoot/telemetry` fills it. Nothing in a
 * span is about a person, and no key, query or body is in one.
 */

/** Facts of a span, by the names of OpenTelemetry's semantic conventions. */
export type SpanFacts = Readonly<Record<string, string | number | boolean>>

/** A span to begin. */
export interface SpanStart {
  /** One of few, such as `POST`: tracing groups spans by it. `add` may change it later. */
  readonly name: string
  /** `server`: serves a request. `client`: makes one. `internal`: neither. */
  readonly kind: 'server' | 'internal' | 'client'
  /** What is known of it at its start; more facts may follow. */
  readonly facts: SpanFacts
  /**
   * A header of the request that it serves: a span that is active already goes before it. Or the stored `traceparent` that it
   * continues; `null` begins a trace. Left out: it belongs to the active span.
   */
  readonly parent?: ((header: string) => string | null) | string | null
}

/** A piece of work that is measured. */
export interface Span {
  /** What continues its trace elsewhere, in W3C's form; `undefined` if nothing records traces. */
  readonly traceparent: string | undefined
  /** Runs work of the span: spans that begin inside belong to it. */
  within<T>(work: () => T): T
  /** Adds facts, and may give it another name. */
  add(facts: SpanFacts, name?: string): void
  /** Ends it. @param failed the type of what went wrong, if anything did */
  end(failed?: string): void
}

/** Makes spans. No method may throw. */
export interface Tracing {
  /** Begins a span, which lasts until its `end` is called. */
  start(span: SpanStart): Span
}

const version00 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/
const isZero = (digits: string | undefined): boolean => digits === undefined || /^0+$/.test(digits)

/** Whether a value is a `traceparent` that can be continued. */
export function isTraceparent(value: unknown): value is string {
  const [, trace, span] = (typeof value === 'string' && version00.exec(value)) || []
  return !isZero(trace) && !isZero(span)
}

/** The type of an error, for `end`: its code where it has one. Messages may hold what is private. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code: unknown = 'code' in error ? error.code : undefined
  return typeof code === 'string' && code !== '' ? code : error.name
}
