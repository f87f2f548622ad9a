/** How long bodies and responses may be on their way. */
import * as v from 'valibot'
import { must, type RulesOf } from '../../lib/base/options.ts'

/** The bounds of transfers. */
export interface TransferBounds {
  /** Milliseconds without a new byte after which a body is refused with a 408. Default 30,000. */
  readonly bodyStallMs?: number
  /** Milliseconds after which a body that has not arrived completely is refused with a 408. Default 300,000. */
  readonly bodyTimeoutMs?: number
  /** Milliseconds in which a client takes nothing of a response, after which its connection is closed. Default 30,000. */
  readonly responseStallMs?: number
  /** Milliseconds after which a response that has not been read completely is cut off. Default 300,000. */
  readonly responseTimeoutMs?: number
}

export type Bounds = Required<TransferBounds>

export const defaultBounds: Bounds = {
  bodyStallMs: 30_000,
  bodyTimeoutMs: 300_000,
  responseStallMs: 30_000,
  responseTimeoutMs: 300_000,
}

// The longest interval of `setInterval`.
const longestMs = 2 ** 31 - 1

const milliseconds = v.custom<number>(
  (value) => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= longestMs,
  must(`be a whole number of milliseconds from 1 to ${longestMs}`),
)

export const boundRules = {
  bodyStallMs: v.optional(milliseconds, defaultBounds.bodyStallMs),
  bodyTimeoutMs: v.optional(milliseconds, defaultBounds.bodyTimeoutMs),
  responseStallMs: v.optional(milliseconds, defaultBounds.responseStallMs),
  responseTimeoutMs: v.optional(milliseconds, defaultBounds.responseTimeoutMs),
} satisfies RulesOf<TransferBounds>

/** Watches over progress: it may neither stall nor take too long. */
export interface Watch {
  /** Reports progress. */
  moved(): void
  end(): void
}

/** @param giveUp called once, when nothing has moved for `stallMs`, or when `timeoutMs` are over */
export function watch(stallMs: number, timeoutMs: number, giveUp: () => void): Watch {
  let hasMoved = false
  let passed = 0
  const timer = setInterval(() => {
    passed += stallMs
    const goesOn = hasMoved && passed < timeoutMs
    hasMoved = false
    if (goesOn) return
    clearInterval(timer)
    giveUp()
  }, stallMs)
  timer.unref()
  return {
    moved() {
      hasMoved = true
    },
    end: () => clearInterval(timer),
  }
}
