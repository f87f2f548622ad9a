/** Writers of an outbox directory in separate processes, for tests that kill them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { execPath } from 'node:process'
import { onTestFinished } from 'vitest'
import { environment, program } from '../../support/command.ts'

export interface WriterProcess {
  readonly child: ChildProcess
  /** The events that it has acknowledged so far. */
  readonly ids: readonly string[]
}

/** Starts a writer that appends until it is killed, at the end of the test at the latest. */
export function startWriter(directory: string, prefix: string): WriterProcess {
  const child = spawn(execPath, [program('append-for-ever'), directory, prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: environment(),
  })
  const ids: string[] = []
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    ids.push(...lines)
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, ids }
}

/** Runs a writer until it has acknowledged at least this many events, kills it and gives what it acknowledged. */
export async function writeUntilKilled(directory: string, prefix: string, atLeast: number): Promise<readonly string[]> {
  const { child, ids } = startWriter(directory, prefix)
  child.stdout?.on('data', () => {
    if (ids.length >= atLeast) child.kill('SIGKILL')
  })
  await once(child, 'close')
  return ids
}
