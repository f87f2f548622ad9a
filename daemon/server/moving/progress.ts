/** The progress of a pull or a comparison. */
import { bar, type ProgressHost, type ProgressLine } from '../commands/progress-line.ts'

export interface MovingHost extends ProgressHost {
  /** Sets the exit code 1. */
  readonly failed: () => void
}

export interface Progress {
  readonly stage: string
  /** Of the stages, from 1. */
  readonly number: number
  readonly stages: number
  /** Records of this stage. */
  readonly read: number
  readonly requests: number
}

export const showStage = (line: ProgressLine, { stage, number, stages, read, requests }: Progress): void =>
  line.show(stage, `${bar(number / stages)} ${number} of ${stages}: ${stage}, ${read} records, ${requests} requests`)

/** Requests that wait for the same moment say so once; it differs by this many milliseconds at most. */
const sameMoment = 2_000

/** Says each wait that takes longer than a second, on standard error. */
export function showWaits(line: ProgressLine, server: string): (ms: number) => void {
  let said = 0
  return (ms) => {
    const end = performance.now() + ms
    if (ms <= 1000 || Math.abs(end - said) < sameMoment) return
    said = end
    line.say(`waiting ${Math.ceil(ms / 1000)} s for the rate limit of ${server}`)
  }
}
