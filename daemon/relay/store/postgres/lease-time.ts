/**
 * How much is left of a relay's lease.
 *
 * The database's clock alone decides when a lease is over. A relay's own reckoning (`left`) begins when it requested the
 * renewal, and ends no later.
 */
import type { Clock } from '../../clock.ts'

/** One moment on two clocks: monotonic time stands still while a machine sleeps, the wall clock may be set back. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

export interface LeaseTime {
  /** Milliseconds that are certainly left of the lease. */
  readonly left: number
  /** Milliseconds that the database's clock is ahead of this machine's. */
  readonly skew: number
  /** Milliseconds of a whole lease. */
  readonly length: number
  /** Milliseconds for which a relay and PostgreSQL wait for each other under this lease. */
  readonly patience: number
  /** Whether the last response came too late to send by. */
  readonly isLate: boolean
  /** Whether responses take so long that the endpoints are better off with a relay that is nearer. */
  readonly isFar: boolean
  moment(): Moment
  /** Records how long a response took that had no connection to wait for. */
  responded(sentAt: Moment): void
  /** Counts as far for a lease's time: it was lost, and whether the next one lasts is unknown. */
  doubt(): void
  /**
   * Records that a statement renewed the lease.
   * @param sentAt when it was sent, as `moment` gave it
   */
  renewed(sentAt: Moment): void
  /**
   * Computes from the database's time how far the clocks are apart.
   * @param time milliseconds since 1970, by the database's clock
   */
  compare(sentAt: Moment, time: number): void
}

/**
 * How long a relay and PostgreSQL wait for each other, in milliseconds. PostgreSQL undoes a transaction that a relay leaves standing for
 * longer: others need what it holds. A relay that has to wait for longer does not renew its lease: it could not send in time.
 *
 * @param lease milliseconds
 */
export const patienceOf = (lease: number): number => Math.min(lease / 2, 10_000)

/** A relay is far after two round trips in a row that are longer than this, in milliseconds, until none has been for a lease's time. */
export const farMs = 400

/** A round trip longer than this, in milliseconds, does not measure the difference of two clocks. */
const longestRoundTrip = 2000

/** @param length milliseconds; read again at each renewal */
export function createLeaseTime(clock: Clock, length: () => number): LeaseTime {
  let until: Moment = { monotonic: 0, wall: 0 }
  let skew = 0
  let trip = 0
  let isDoubtful = false
  let farUntil = Number.NEGATIVE_INFINITY
  const doubt = (): void => {
    farUntil = clock.monotonic() + length()
  }
  const moment = (): Moment => ({ monotonic: clock.monotonic(), wall: clock.now() })
  return {
    get left() {
      const { monotonic, wall } = moment()
      return Math.min(until.monotonic - monotonic, until.wall - wall)
    },
    get skew() {
      return skew
    },
    get length() {
      return length()
    },
    get patience() {
      return patienceOf(length())
    },
    get isLate() {
      return trip > patienceOf(length())
    },
    get isFar() {
      return clock.monotonic() < farUntil
    },
    moment,
    responded(sentAt) {
      trip = clock.monotonic() - sentAt.monotonic
      if (trip > farMs && (isDoubtful || clock.monotonic() < farUntil)) doubt()
      isDoubtful = trip > farMs
    },
    doubt,
    renewed(sentAt) {
      const lasting = length()
      until = { monotonic: sentAt.monotonic + lasting, wall: sentAt.wall + lasting }
    },
    compare(sentAt, time) {
      const trip = clock.monotonic() - sentAt.monotonic
      if (trip < longestRoundTrip) skew = time - (sentAt.wall + trip / 2)
    },
  }
}
