/**
 * Regular work of a process, at minutes of the clock in UTC: a zone with summer time repeats an hour in autumn. If the process or
 * its machine stood still meanwhile, the work is done once as soon as it goes on. Work that is not over is not begun again.
 */
import { systemClock } from './clock.ts'

/** When work is done: at every multiple of so many minutes, and so many minutes later. */
export interface Times {
  readonly everyMinutes: number
  readonly afterMinutes?: number
}

const minuteMs = 60_000
/** The clock is read at least this often, because a timer does not count while a machine sleeps, and the clock may be set. */
const longestWaitMs = minuteMs

/**
 * @param failed called with what `work` throws
 * @returns ends it; work in progress is not waited for
 */
export function doRegularly(
  { everyMinutes, afterMinutes = 0 }: Times,
  work: () => void | Promise<void>,
  failed: (error: unknown) => void,
): () => void {
  const [every, after] = [everyMinutes * minuteMs, afterMinutes * minuteMs]
  /** The number of the last time that has come. */
  const passed = () => Math.floor((systemClock.now() - after) / every)
  let last = passed()
  let running = false
  let cancel = wait()

  function wait(): () => void {
    const untilNext = (passed() + 1) * every + after - systemClock.now()
    return systemClock.timer(Math.min(untilNext, longestWaitMs), () => {
      const now = passed()
      if (now > last && !running) void run()
      // Also after the clock was set back.
      last = now
      cancel = wait()
    })
  }

  async function run(): Promise<void> {
    running = true
    try {
      await work()
    } catch (error) {
      failed(error)
    } finally {
      running = false
    }
  }

  return () => cancel()
}
