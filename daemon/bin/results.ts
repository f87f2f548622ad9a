import { fstatSync, writeFileSync } from 'node:fs'
import { styleText } from 'node:util'
import { errorLine } from '../json.ts'
import type { Paint } from '../output.ts'

/** Causes that leave a file in pieces. Any other one is a reader that has gone away, such as `| head`. */
const ofDisks = ['ENOSPC', 'EDQUOT', 'EFBIG']

/**
 * Makes the function that writes results to standard output. If a disk takes no more, a sentence on standard error names it, and
 * the exit code is 1. A reader that has gone away is no fault, and must not end a server.
 */
export function resultsOf(program: string, json: boolean): (text: string) => void {
  let isReported = false
  const report = ({ code = '' }: NodeJS.ErrnoException) => {
    if (isReported || !ofDisks.includes(code)) return
    isReported = true
    process.exitCode = 1
    process.stderr.write(errorLine(program, `standard output cannot be written (${code}), so what it has is not whole`, json))
  }
  process.stdout.on('error', report)
  // Node's own stream takes a file to be written if the beginning of a text is.
  if (!fstatSync(1).isFile()) return (text) => void process.stdout.write(text)
  return (text) => {
    try {
      writeFileSync(1, text)
    } catch (error) {
      report(error as NodeJS.ErrnoException)
    }
  }
}

/** Colours for a stream: `NO_COLOR` and `FORCE_COLOR` count, and what is no terminal gets none. */
export const paintOn =
  (stream: NodeJS.WriteStream): Paint =>
  (format, text) =>
    styleText(format, text, { stream })

/** Columns for tables: those of the terminal, 80 if it does not know them. Nothing is shortened for a pipe or a file. */
export const tableWidth = (): number => (process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY)
