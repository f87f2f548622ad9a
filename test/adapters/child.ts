/** Separate processes, for tests about the death of a process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { execPath } from 'node:process'
import { onTestFinished } from 'vitest'
import { environment, program } from '../support/command.ts'

export interface Child {
  readonly pid: number
  /** Everything that it has printed so far. */
  readonly output: () => string
  /** Waits until it has printed so many whole lines, or has ended. */
  readonly lines: (count: number) => Promise<readonly string[]>
  /** Waits until it ends by itself. */
  readonly ended: Promise<unknown>
  /** Kills it at once and waits until it is gone. */
  readonly kill: () => Promise<void>
}

/**
 * Starts a program.
 * @param name of a program of `test/support/programs.ts`
 * @param words its arguments
 * @param before a command that runs it, in place of running it directly
 */
export function startChild(name: string, words: readonly string[], before: readonly string[] = []): Child {
  const [command = execPath, ...rest] = [...before, execPath, program(name), ...words]
  const child: ChildProcess = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'], env: environment() })
  const ended = once(child, 'close')
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  const wholeLines = () => output.split('\n').slice(0, -1)
  async function kill() {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  return {
    pid: child.pid ?? 0,
    output: () => output,
    async lines(count) {
      while (wholeLines().length < count && child.exitCode === null && child.signalCode === null && child.stdout)
        await Promise.race([once(child.stdout, 'data'), ended])
      return wholeLines()
    },
    ended,
    kill,
  }
}
