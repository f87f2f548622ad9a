/**
 * A server, a listener or a relay, in the process of its test. A separate process costs half a second of processor time. It is for
 * tests of signals, deaths and locks, by `run` in `command.ts`.
 */
import { onTestFinished } from 'vitest'
import { folkmootExit } from '../../daemon/bin/folkmoot-exit.ts'
import { relayExit } from '../../daemon/bin/folkmoot-relay-exit.ts'
import { packageVersion } from '../../daemon/bin/version.ts'
import { createProgram as createRelay } from '../../daemon/relay/operate/commands/program.ts'
import { createProgram } from '../../daemon/server/program.ts'
import type { Running } from '../../daemon/server/serve/serve.ts'

export interface Begun {
  /** Everything that it has written so far. */
  readonly out: { readonly stdout: string; readonly stderr: string }
  /** The first line on standard output. */
  firstLine(): Promise<string>
  /** Standard output up to a text that has to come. */
  written(text: string): Promise<string>
  /** Ends it as SIGTERM does, and gives its exit code. */
  stop(): Promise<number>
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number>
}

/** Begins `folkmoot` with these arguments; stopped with the test, if it has not ended by itself. */
export function begun(...args: readonly string[]): Begun {
  const json = args.includes('--json')
  const screen = createScreen()
  const stopped = Promise.withResolvers<number>()
  let running: Promise<Running> | undefined
  const program = createProgram({
    out: { line: (text) => screen.write('stdout', `${text}\n`), warn: (text) => screen.write('stderr', `${text}\n`) },
    json,
    version: packageVersion(),
    encryptionKeys: process.env['FOLKMOOT_ENCRYPTION_KEYS'],
    failed: () => {},
    starting: (begun) => {
      running = begun
    },
  })
  // A server has begun when its command is over; only a refusal or a fault ends it here.
  const ended = program.parseAsync(['node', 'folkmoot', ...args]).then(
    () => stopped.promise,
    async (error: unknown) => screen.fail(await folkmootExit(error, json)),
  )
  return screen.shown(ended, async () => {
    // A command that failed, or ended by itself, has its own code.
    await running?.then((begun) => begun.close()).catch(() => {})
    stopped.resolve(0)
  })
}

export interface BegunRelay extends Begun {
  /** Does as the signal does, once the relay heeds it. */
  signal(name: 'SIGTERM' | 'SIGHUP'): void
}

/** Begins `folkmoot-relay` with these arguments; stopped with the test, if it has not ended by itself. */
export function begunRelay(...args: readonly string[]): BegunRelay {
  const json = args.includes('--json')
  const screen = createScreen()
  const heeded = new Map<string, () => void>()
  const heeds = Promise.withResolvers<void>()
  const program = createRelay({
    output: { write: (text) => screen.write('stdout', text) },
    json,
    version: packageVersion(),
    encryptionKeys: process.env['FOLKMOOT_ENCRYPTION_KEYS'],
    progress: () => {},
    failed: () => {},
    serviceManager: { socket: undefined, watchdog: 0 },
    onSignal(name, done) {
      heeded.set(name, done)
      heeds.resolve()
    },
  })
  const signal = (name: string) => heeded.get(name)?.()
  let hasEnded = false
  const ended = program
    .parseAsync(['node', 'folkmoot-relay', ...args])
    .then(
      () => 0,
      (error: unknown) => screen.fail(relayExit(error, json)),
    )
    .finally(() => {
      hasEnded = true
    })
  const stop = async () => {
    await Promise.race([heeds.promise, ended])
    if (!hasEnded) signal('SIGTERM')
  }
  return { ...screen.shown(ended, stop), signal }
}

/** The output of a command, for those who wait for some of it. */
function createScreen() {
  const out = { stdout: '', stderr: '' }
  const looks = new Set<() => void>()
  const lookAgain = () => {
    for (const look of looks) look()
  }
  const write = (stream: 'stdout' | 'stderr', text: string) => {
    out[stream] += text
    lookAgain()
  }
  return {
    write,
    /** Writes the end of a command that failed. */
    fail({ code, text }: { readonly code: number; readonly text: string }): number {
      write('stderr', text)
      return code
    },
    /** The command as a test sees it. */
    shown(ended: Promise<number>, end: () => Promise<void>): Begun {
      let hasEnded = false
      void ended.then(() => {
        hasEnded = true
        lookAgain()
      })
      const written = (text: string) =>
        new Promise<string>((resolve, reject) => {
          const look = () => {
            const at = out.stdout.indexOf(text)
            if (at !== -1) resolve(out.stdout.slice(0, at))
            else if (hasEnded) reject(new Error(`it ended before it wrote "${text}": ${out.stderr}`))
            else return
            looks.delete(look)
          }
          looks.add(look)
          look()
        })
      const stop = async () => {
        await end()
        return ended
      }
      onTestFinished(async () => void (await stop()))
      return { out, firstLine: () => written('\n'), written, stop, ended }
    },
  }
}
