/**
 * How long an attempt may take under a lease, where several relays share a database.
 *
 * Only the holder of a lease sends to its endpoints. So an attempt begins only if it must be over before the lease is. An
 * attempt longer than every lease would never begin, without a visible reason. So such a time-out cannot be set, and cannot be
 * sent with.
 */

/** An attempt ends within its time-out. After this much more, in milliseconds, its last byte has left this machine. */
const marginMs = 500
/** The part of a lease that may have passed when an attempt begins, in milliseconds: the time to record that it begins. */
const recordingMs = 500

declare const covered: unique symbol
/** Milliseconds for a whole attempt, which a lease covers. Made by `attemptTimeout` alone. */
export type AttemptTimeout = number & { readonly [covered]: true }

/** Seconds of the shortest lease under which attempts of so many seconds are sent. */
export const shortestLease = (timeout: number): number => Math.max(2 * timeout, timeout + (marginMs + recordingMs) / 1000)

/**
 * The time-out of every request to an endpoint, of its deliveries as of its tests.
 * @param settings `timeout`: seconds for a whole attempt; `lease`: seconds of a whole lease
 * @throws RangeError when no lease of this length covers it
 */
export function attemptTimeout(
  { timeout, lease }: { readonly timeout: number; readonly lease: number },
  { id }: { readonly id: string },
): AttemptTimeout {
  if (lease < shortestLease(timeout))
    throw new RangeError(
      `endpoint ${id}: a time-out of ${timeout} s needs a lease of ${shortestLease(timeout)} s, not of ${lease} s`,
    )
  return (timeout * 1000) as AttemptTimeout
}

/**
 * Whether an attempt that begins now is over before the lease is.
 * @param leasedFor milliseconds that are left of the lease
 */
export const coversAttempt = (leasedFor: number, timeout: AttemptTimeout): boolean => leasedFor >= timeout + marginMs

/** Whether a request may still leave this machine. */
export const coversRequest = (leasedFor: number): boolean => leasedFor > marginMs
