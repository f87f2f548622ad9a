/** Waiting for another process that writes to a SQLite file. */
import { setTimeout } from 'node:timers/promises'
import { faultOf } from './errors.ts'

/** Milliseconds between two tries. */
const pause = 5

/**
 * Does something that fails immediately while another connection holds the file; again until it no longer does. SQLite's own
 * waiting would hold up the whole process.
 *
 * @param timeoutMs after this long the last error is thrown
 * @throws what `work` throws
 */
export async function whileBusy<T>(timeoutMs: number, work: () => T): Promise<T> {
  const begun = performance.now()
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (faultOf(error) !== 'busy' || performance.now() - begun > timeoutMs) throw error
      await setTimeout(pause)
    }
  }
}
