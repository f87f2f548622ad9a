/**
 * A server or a listener of `folkmoot`, in the process of its test. A separate process costs half a second of processor time. It is
 * for tests of signals, deaths and locks, by `run` in `command.ts`.
 */
import { onTestFinished } from 'vitest'
import { folkmootExit } from '../../daemon/bin/folkmoot-exit.ts'
import { packageVersion } from '../../daemon/bin/version.ts'
import { createProgram } from '../../daemon/server/program.ts'
import type { Running } from '../../daemon/server/serve.ts'

export interface Begun {
  /** Everything that it has written so far. */
  readonly out: { stdout: string; stderr: string }
  /** The first line on standard output. */
  firstLine(): Promise<string>
  /** Standard output up to a text that has to come. */
  written(text: string): Promise<string>
  /** Ends it as SIGTERM does, and gives its exit code. */
  stop(): Promise<number>
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number>
}

function begin(...args: readonly string[]): Begun {
  const out = { stdout: '', stderr: '' }
  const looks = new Set<() => void>()
  const write = (stream: 'stdout' | 'stderr', text: string) => {
    out[stream] += text
    for (const look of looks) look()
  }
  const json = args.includes('--json')
  let running: Promise<Running> | undefined
  const program = createProgram({
    out: { line: (text) => write('stdout', `${text}\n`), warn: (text) => write('stderr', `${text}\n`) },
    json,
    version: packageVersion(),
    encryptionKeys: process.env['FOLKMOOT_ENCRYPTION_KEYS'],
    failed: () => {},
    starting: (begun) => {
      running = begun
    },
  })
  let stopped: (code: number) => void
  const end = new Promise<number>((resolve) => {
    stopped = resolve
  })
  const failed = async (error: unknown): Promise<number> => {
    const { code, text } = await folkmootExit(error, json)
    write('stderr', text)
    return code
  }
  // A server has begun when its command is over; only what is refused or fails ends here.
  const ended = program.parseAsync(['node', 'folkmoot', ...args]).then(() => end, failed)
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
    for (const look of looks) look()
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
  return {
    out,
    firstLine: () => written('\n'),
    written,
    ended,
    async stop() {
      // A command that failed, or ended by itself, has its own code.
      await running?.then((begun) => begun.close()).catch(() => {})
      stopped(0)
      return ended
    },
  }
}

/** Begins `folkmoot` with these arguments; stopped with the test, if it has not ended by itself. */
export function begun(...args: readonly string[]): Begun {
  const command = begin(...args)
  onTestFinished(async () => void (await command.stop()))
  return command
}
