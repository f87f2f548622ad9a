/** The surroundings that the parts of a running relay share. */
import type { Clock } from './clock.ts'
import type { RelayEvents } from './events.ts'
import type { Settings } from './settings.ts'

export interface RelayContext {
  readonly clock: Clock
  /** Milliseconds since 1970 that never go back; see `timeline` in `clock.ts`. */
  readonly timeline: () => number
  /** The present settings: read at each use, so that a reload takes effect. */
  readonly settings: () => Settings
  readonly events: Required<RelayEvents>
}
