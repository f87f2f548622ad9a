import { type Command, CommanderError } from 'commander'
import { folkmootExit } from '../../daemon/bin/folkmoot-exit.ts'
import { relayExit } from '../../daemon/bin/folkmoot-relay-exit.ts'
import { packageVersion } from '../../daemon/bin/version.ts'
import { createProgram as createRelay } from '../../daemon/relay/operate/commands/program.ts'
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
    starting: () => undefined,
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

/** The end of a command, as its process would have it. */
export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a command of `folkmoot` or `folkmoot-relay` in this process, to its end. Signals
 * and servers are for tests that start the programs.
 */
export async function ended(name: 'folkmoot' | 'folkmoot-relay', ...args: readonly string[]): Promise<Ended> {
  const all = { stdout: '', stderr: '' }
  let bad = false
  const host = {
    json: args.includes('--json'),
    version: packageVersion(),
    encryptionKeys: process.env['FOLKMOOT_ENCRYPTION_KEYS'],
    noProxy: process.env['NO_PROXY'],
    failed: () => {
      bad = true
    },
  }
  const write = (text: string) => {
    all.stdout += text
  }
  const warn = (text: string) => {
    all.stderr += text
  }
  const program =
    name === 'folkmoot'
      ? createProgram({
          ...host,
          out: { line: (text) => write(`${text}\n`), warn: (text) => warn(`${text}\n`) },
          // Those that are refused belong here. One that starts after all ends at once, so that it ends the test.
          starting: async (running) =>
            running.then(
              (server) => server.close(),
              () => {},
            ),
        })
      : createRelay({
          ...host,
          output: { write },
          progress: () => {},
          onSignal: () => {
            throw new Error('a relay is started as a process')
          },
          serviceManager: { socket: undefined, watchdog: 0 },
        })
  if (name === 'folkmoot-relay') capture(program, write, warn)
  try {
    await program.parseAsync(['node', name, ...args])
    return { code: bad ? 1 : 0, ...all }
  } catch (error) {
    const { code, text } = name === 'folkmoot' ? await folkmootExit(error, host.json) : relayExit(error, host.json)
    return { ...all, code, stderr: all.stderr + text }
  }
}

/** Takes the lines that commander writes itself. */
function capture(command: Command, writeOut: (text: string) => void, writeErr: (text: string) => void): void {
  command.configureOutput({ writeOut, writeErr })
  for (const each of command.commands) capture(each, writeOut, writeErr)
}
