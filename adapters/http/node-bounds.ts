/** How long bodies and answers may be on their way. */
export interface TransferBounds {
  /** Milliseconds without a new byte after which a body is given up with a 408. Default 30,000. */
  readonly bodyStallMs?: number
  /** Milliseconds after which a body that has not arrived as a whole is given up with a 408. Default 300,000. */
  readonly bodyTimeoutMs?: number
  /** Milliseconds in which a client takes nothing of an answer, after which its connection is closed. Default 30,000. */
  readonly answerStallMs?: number
  /** Milliseconds after which an answer that has not been taken as a whole is given up. Default 300,000. */
  readonly answerTimeoutMs?: number
}

/** The bounds with their defaults. */
export type Bounds = Required<TransferBounds>

export const defaultBounds: Bounds = {
  bodyStallMs: 30_000,
  bodyTimeoutMs: 300_000,
  answerStallMs: 30_000,
  answerTimeoutMs: 300_000,
}

// The longest interval of `setInterval`.
const longestMs = 2 ** 31 - 1

/**
 * Checks the bounds and fills in the defaults.
 * @throws TypeError that lists every problem
 */
export function boundsOf(given: TransferBounds = {}): Bounds {
  const problems: string[] = []
  const bounds = { ...defaultBounds }
  for (const [name, value] of Object.entries(given)) {
    if (!(name in defaultBounds)) problems.push(`option \`${name}\` does not exist`)
    else if (value !== undefined) bounds[name as keyof Bounds] = value
  }
  for (const [name, value] of Object.entries(bounds))
    if (!Number.isSafeInteger(value) || value < 1 || value > longestMs)
      problems.push(`option \`${name}\` must be a whole number of milliseconds from 1 to ${longestMs}, got ${value}`)
  if (problems.length > 0) throw new TypeError(problems.join('; '))
  return bounds
}

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
