import { CommanderError } from 'commander'
import { createProgram } from '../../daemon/server/program.ts'

/** The output of a command of `folkmoot`, and the sentence with which it was refused. */
export interface Ran {
  readonly lines: readonly string[]
  readonly warnings: readonly string[]
  readonly refused: string | undefined
  /** Whether it has done its work, with a bad result: exit code 1. */
  readonly failed: boolean
}

/** Runs a command of `folkmoot` in this process, which is quicker than a separate one; not for `serve`. */
export async function folkmoot(...args: readonly string[]): Promise<Ran> {
  const lines: string[] = []
  const warnings: string[] = []
  let failed = false
  const out = { line: (text: string) => void lines.push(text), warn: (text: string) => void warnings.push(text) }
  const host = {
    out,
    json: args.includes('--json'),
    version: '0.0.0',
    failed: () => {
      failed = true
    },
    started: () => undefined,
    encryptionKeys: process.env['FOLKMOOT_ENCRYPTION_KEYS'],
  }
  const refused = await createProgram(host)
    .parseAsync(['node', 'folkmoot', ...args])
    .then(
      () => undefined,
      (error: unknown) => (error instanceof CommanderError ? warnings.join('\n') : (error as Error).message),
    )
  return { lines, warnings, refused, failed }
}
