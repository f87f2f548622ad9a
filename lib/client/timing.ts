/** The only place in the client that reads the time, waits and draws numbers. Tests give their own. */

/** Time and chance. */
export interface Timing {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /** A number from 0 to below 1. */
  random(): number
  /**
   * Runs something later.
   * @param ms milliseconds from now
   * @returns takes it back
   */
  after(ms: number, run: () => void): () => void
}

/** The machine's own. */
export const systemTiming: Timing = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

/**
 * Waits for work, but not longer than until a signal.
 * @throws the reason of the signal
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    const done = (): void => signal.removeEventListener('abort', stop)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    work.then(
      (value) => {
        done()
        resolve(value)
      },
      (error: unknown) => {
        done()
        reject(error)
      },
    )
  })
}

/**
 * Waits.
 * @param ms milliseconds
 * @throws the reason of the signal, immediately
 */
export async function pause(timing: Timing, ms: number, signal: AbortSignal | undefined): Promise<void> {
  let takeBack = (): void => {}
  const waited = new Promise<void>((resolve) => {
    takeBack = timing.after(ms, resolve)
  })
  try {
    await (signal ? orAborted(waited, signal) : waited)
  } finally {
    takeBack()
  }
}
