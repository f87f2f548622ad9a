/** The relay's events for a program that embeds it. */
import type { Outcome } from './send/outcome.ts'
import type { Notice } from './store/notice.ts'

/** One attempt, reported when its result is recorded. No key, no body, no URL. */
export interface AttemptReport {
  /** The network that the event is from. */
  readonly network_id: string
  /** The endpoint that it went to. */
  readonly endpoint_id: string
  /** The same on every attempt and at every endpoint; receivers de-duplicate by it. */
  readonly event_id: string
  /** As on the wire, with `Hook`: `PostCreatedHook`. */
  readonly event_type: string
  /** The size of its body. */
  readonly bytes: number
  /** Which attempt of this delivery it was, from 1. */
  readonly attempt: number
  /** `delivered` after a 2xx; otherwise the class of the failure, such as `timeout`. */
  readonly outcome: Outcome['result']
  /** The HTTP status of the response; null if none came. */
  readonly status: number | null
  /** The outcome in words, without URLs, keys and bodies. */
  readonly reason: string
  /** How long the attempt took. */
  readonly milliseconds: number
  /** Whether the request was sent twice, because a connection that had been kept broke before any response. Absent if not. */
  readonly repeated?: true
  /** The new state of the delivery. */
  readonly state: 'delivered' | 'pending' | 'dead'
  /** When it is tried again, ISO 8601; null when it is not. */
  readonly next_at: string | null
  /** The endpoint's circuit after this attempt. */
  readonly breaker: 'closed' | 'open' | 'ready' | 'probing'
  /** Milliseconds from when the event was ingested until this attempt ended. */
  readonly age: number
}

/** What a relay reports to its host while it runs. Nothing waits for these functions. */
export interface RelayEvents {
  /** Called after each attempt, when its result is recorded. */
  onAttempt?(report: AttemptReport): void
  /** Called for what a person should know, such as an endpoint that began to fail. */
  onNotice?(notice: Notice): void
  /** The relay itself failed (a full disk, an unreadable outbox); it continues and retries. */
  onFault?(what: string, error: unknown): void
  /** Records were ingested from the outbox. */
  onIngested?(counts: { readonly events: number; readonly duplicates: number }): void
}

/** Calls listeners so that a bug in one of them never stops a delivery. */
export function safely(events: RelayEvents): Required<RelayEvents> {
  const call = (work: () => void): void => {
    try {
      work()
    } catch {
      // A listener's failure is the listener's own: there is no one left to notify.
    }
  }
  return {
    onAttempt: (report) => call(() => events.onAttempt?.(report)),
    onNotice: (notice) => call(() => events.onNotice?.(notice)),
    onFault: (what, error) => call(() => events.onFault?.(what, error)),
    onIngested: (counts) => call(() => events.onIngested?.(counts)),
  }
}

/** Several listeners as one; a bug in one of them is nothing to the others. */
export function combine(...listeners: readonly RelayEvents[]): RelayEvents {
  const each = listeners.map(safely)
  return {
    onAttempt: (report) => each.forEach(({ onAttempt }) => void onAttempt(report)),
    onNotice: (notice) => each.forEach(({ onNotice }) => void onNotice(notice)),
    onFault: (what, error) => each.forEach(({ onFault }) => void onFault(what, error)),
    onIngested: (counts) => each.forEach(({ onIngested }) => void onIngested(counts)),
  }
}
