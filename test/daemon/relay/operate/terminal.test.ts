/** A relay in a terminal: SIGHUP reloads it, and it ends when the terminal closes. */
import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { end, environment, program, watched } from '../../../support/command.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { until } from '../support.ts'

const hasScript = (() => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux')
  } catch {
    return false
  }
})()
if (!hasScript) console.warn('SKIPPED: a relay in a terminal. Install the program `script` of util-linux (Debian: bsdutils).')

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Starts a relay in a terminal of its own, which closes when `terminal` is ended. */
async function relayInTerminal() {
  const outbox = join(temporaryDirectory(), 'outbox')
  const relay = `echo "pid $$ "; exec '${process.execPath}' '${program('folkmoot-relay')}' run --outbox '${outbox}'`
  const child = spawn('script', ['-qfec', relay, '/dev/null'], { stdio: ['pipe', 'pipe', 'pipe'], env: environment() })
  const terminal = watched('script', child)
  const before = await terminal.written('relay.started')
  const pid = Number(/pid (\d+)/.exec(before)?.[1])
  onTestFinished(() => void (isThere(pid) && process.kill(pid, 'SIGKILL')))
  return { pid, terminal }
}

test.skipIf(!hasScript)('a relay whose terminal closes shuts down, and one that only gets SIGHUP reloads', async () => {
  const { pid, terminal } = await relayInTerminal()
  process.kill(pid, 'SIGHUP')
  await terminal.written('relay.reloaded')
  expect(isThere(pid)).toBe(true)
  terminal.child.kill('SIGKILL')
  await until(() => !isThere(pid), 'the relay ends', 30)
  await end(terminal)
})
