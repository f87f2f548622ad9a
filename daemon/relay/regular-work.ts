/**
 * Regular work of a process, by cron expressions in UTC: a zone with summer time repeats an hour in autumn. If the process or its
 * machine stood still, the work is done once as soon as it continues. Work that is still running is not started again.
 *
 * node-cron says when the next run is due. Its own timer is not used: in the hour that the machine's zone repeats, it fires every
 * millisecond and misses the run, even with `timezone: 'UTC'`. And it skips runs that were missed, with a line on the console.
 */
import { createTask } from 'node-cron'
import { systemClock } from './clock.ts'

/** The clock is read at least this often, because a timer does not count while a machine sleeps, and the clock may be set. */
const longestWaitMs = 60_000

const nothing = (): void => undefined
/** node-cron would write to the console, which belongs to the host, or has one JSON object per line. */
const silent = { info: nothing, warn: nothing, error: nothing, debug: nothing }

/**
 * @param expression a cron expression of five fields, such as `13 * * * *`
 * @returns ends it; work in progress is not waited for
 */
export function doRegularly(expression: string, work: () => void | Promise<void>, failed: (error: unknown) => void): () => void {
  const cron = createTask(expression, nothing, { timezone: 'UTC', logger: silent, suppressMissedWarning: true })
  const next = (): number => cron.getNextRuns(1)[0]?.getTime() ?? Number.POSITIVE_INFINITY
  let due = next()
  let running = false
  let cancel = wait()

  function wait(): () => void {
    return systemClock.timer(Math.min(Math.max(due - systemClock.now(), 0), longestWaitMs), () => {
      if (due <= systemClock.now() && !running) void run()
      // Computed each time: the clock may have been set back.
      due = next()
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

  return () => {
    cancel()
    void cron.destroy()
  }
}
