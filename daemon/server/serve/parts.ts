/** What the steps of a start share. */

import type { Tracing } from '../../../lib/base/tracing.ts'
import type { Output } from '../../output.ts'
import type { Log } from '../operate/log.ts'
import type { CheckedFlags } from './check-flags.ts'

/** A server that starts, from the moment that it has its port. */
export interface Starting extends CheckedFlags {
  readonly out: Output
  readonly log: Log
  /** The version of the program: its relay names it to receivers. */
  readonly version: string | undefined
  /** With `--telemetry`. */
  readonly tracing: Tracing | undefined
  /** The origin at which it listens. */
  readonly url: string
  /** Takes what closes a part. What was opened last is closed first, also when a later step fails. */
  readonly onClose: (close: () => Promise<unknown>) => void
}

/** Milliseconds that running requests and deliveries have when the server ends. */
export const grace = 10_000
