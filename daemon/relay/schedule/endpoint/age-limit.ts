/**
 * Whether an endpoint refuses events because of their age, as receivers do that check the time of a signature.
 *
 * Such an endpoint takes a young event and refuses an older one. The newest events then go first, before those are too old as well.
 */
import type { CircuitChange } from './circuit.ts'

export interface AgeLimit {
  /** The youngest event that it took. */
  readonly youngest: number | null
  /** It took this event. */
  took(event: number): void
  /**
   * Whether it took an event that is younger than this one. A refusal of this event then does not count against the endpoint.
   */
  tookYounger(event: number): boolean
  /**
   * Its circuit changed by the result of this event.
   * @returns whether the age of events is the reason
   */
  circuitChanged(change: CircuitChange, event: number): boolean
  /** Its circuit closes for another reason. */
  forget(): void
}

export function createAgeLimit(recorded: number | null): AgeLimit {
  let youngest = recorded
  /** The event whose probe closed the circuit, until an older one is taken. */
  let closedBy: number | null = null
  return {
    get youngest() {
      return youngest
    },
    took(event) {
      youngest = Math.max(event, youngest ?? event)
      if (closedBy !== null && event < closedBy) closedBy = null
    },
    tookYounger: (event) => youngest !== null && event < youngest,
    circuitChanged(change, event) {
      // It closed with a young event, and what opens it again is older.
      const tooOld = change === 'opened' && closedBy !== null && event < closedBy
      closedBy = change === 'closed' ? event : null
      return tooOld
    },
    forget() {
      closedBy = null
    },
  }
}
