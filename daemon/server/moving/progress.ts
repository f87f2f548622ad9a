/** The progress of a pull, a push or a comparison. */
import { bar, type ProgressHost, type ProgressLine } from '../progress.ts'

/** The parts of the process that these commands use. */
export interface MovingHost extends ProgressHost {
  /** Sets the exit code 1. */
  readonly failed: () => void
}

/** How far a pull or a push is. */
export interface Progress {
  readonly stage: string
  /** Of the stages, from 1. */
  readonly number: number
  readonly stages: number
  /** Records of this stage. */
  readonly read: number
  /** Requests of this run. */
  readonly requests: number
}

/** Shows how far a pull or a push is. */
export const showStage = (line: ProgressLine, { stage, number, stages, read, requests }: Progress): void =>
  line.show(stage, `${bar(number / stages)} ${number} of ${stages}: ${stage}, ${read} records, ${requests} requests`)

/**
 * Shows each wait that takes longer than a second.
 * @param server names it
 */
export const showWaits = (line: ProgressLine, server: string) => (ms: number) => {
  if (ms > 1000) line.show(`wait for ${server}`, `waiting ${Math.ceil(ms / 1000)} s for the rate limit of ${server}`)
}
