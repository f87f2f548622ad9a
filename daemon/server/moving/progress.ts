/** How far a pull or a push is, for people. */
import type { Output } from '../../output.ts'

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

const width = 30

export function lineOf({ stage, number, stages, read, requests }: Progress): string {
  const bar = '#'.repeat(Math.round((number / stages) * width)).padEnd(width, '-')
  return `[${bar}] ${number} of ${stages}: ${stage}, ${read} records, ${requests} requests`
}

/** A line whenever another stage has begun, for logs. */
export function byStage(out: Output): (line: string) => void {
  let last = ''
  return (line) => {
    const stage = line.replace(/,.*/, '')
    if (stage !== last) out.warn(line)
    last = stage
  }
}
