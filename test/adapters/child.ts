/** Processes of their own, for tests about what dies with a process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

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
 * Starts a program that stands beside the tests.
 * @param program its name, as seen from this directory
 * @param words its arguments
 * @param before a command that runs it, in place of running it directly
 */
export function startChild(program: string, words: readonly string[], before: readonly string[] = []): Child {
  const file = fileURLToPath(new URL(program, import.meta.url))
  const [command = execPath, ...rest] = [...before, execPath, file, ...words]
  const child: ChildProcess = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
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

/** A directory of its own, removed after the test. */
export function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'folkmoot-')))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
