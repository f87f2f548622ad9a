/**
 * When a circuit opens: cockatiel's ConsecutiveBreaker, which counts the failures, and the events that they come from.
 *
 * It opens at the threshold of consecutive failures, if they came from at least two events, its witnesses. A single event that
 * an endpoint cannot process must not stop the others. Two exceptions open the circuit of a dead endpoint. It opens on a single
 * witness if no other event of the endpoint is due. It opens at twice the threshold in any case.
 */
import { ConsecutiveBreaker } from 'cockatiel'

export class OpeningRule extends ConsecutiveBreaker {
  readonly #threshold: () => number
  witnesses: readonly number[]
  /** No other event could be a witness. */
  isAlone = false

  /** @param threshold consecutive failures that open it; asked again at each one, so that a reload takes effect */
  constructor(threshold: () => number, failures: number, witnesses: readonly number[]) {
    super(threshold())
    this.#threshold = threshold
    this.state = failures
    this.witnesses = witnesses
  }

  /** Whether this failure may open the circuit if there is no other witness. */
  needsWitness(): boolean {
    return this.witnesses.length < 2 && this.state + 1 >= this.#threshold()
  }

  blame(event: number): void {
    if (this.witnesses.length < 2 && !this.witnesses.includes(event)) this.witnesses = [...this.witnesses, event]
  }

  override success(): void {
    super.success()
    this.witnesses = []
  }

  override failure(): boolean {
    super.failure()
    const threshold = this.#threshold()
    return this.state >= threshold && (this.witnesses.length > 1 || this.isAlone || this.state >= 2 * threshold)
  }
}
