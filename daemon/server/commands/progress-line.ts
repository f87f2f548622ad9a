/** How far a long command is, for people. */
import type { Output } from '../../output.ts'

export interface ProgressHost {
  readonly out: Output
  /** Draws one line over and over; left out where no one looks. */
  readonly draw?: ((line: string) => void) | undefined
}

export interface ProgressLine {
  /** @param step where no one looks, the first line of each step is logged */
  show(step: string, line: string): void
  /** Says something that stays, above the line. */
  say(sentence: string): void
  /** Removes the line, before anything else is printed. */
  clear(): void
}

export function progressLine({ out, draw }: ProgressHost): ProgressLine {
  let last = ''
  return {
    show(step, line) {
      if (draw) draw(line)
      else if (step !== last) out.warn(line)
      last = step
    },
    say(sentence) {
      draw?.('')
      out.warn(sentence)
    },
    clear: () => draw?.(''),
  }
}

const width = 30

/** @param part how much is done, from 0 to 1 */
export const bar = (part: number): string => `[${'#'.repeat(Math.round(part * width)).padEnd(width, '-')}]`
