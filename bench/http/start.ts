/** Starting the servers of the API's benchmark, each in a separate process, and requesting their usage. */
import type { ChildProcess } from 'node:child_process'
import { resolve as resolvePath } from 'node:path'
import { startOn } from '../support/cores.ts'

export interface Server {
  /** An engine, or a peer. */
  readonly name: string
  /** 0: it has none. */
  readonly members: number
  readonly child: ChildProcess
  readonly port: number
  readonly token: string
  readonly seedSeconds: number
  readonly openSeconds: number
}

interface Said {
  readonly seeded?: number
  readonly seedSeconds?: number
  readonly port?: number
  readonly token?: string
  readonly openSeconds?: number
}

/**
 * Starts a server, filling its storage first where it is empty. The program's path is absolute, or as seen from this folder.
 * @param onProgress is called with the progress in filling
 * @param models what a peer makes its responses of
 * @throws when it ends before it listens; the message is its last words
 */
export async function start(
  name: string,
  members: number,
  [file, ...args]: readonly [string, ...string[]],
  onProgress: (sentence: string) => void,
  models?: object,
): Promise<Server> {
  let seedSeconds = 0
  for (;;) {
    const child = startOn('measured', resolvePath(import.meta.dirname, file), args, 'pipe')
    if (models) child.send(models)
    let words = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(-2000)
    })
    const listening = await new Promise<Said | undefined>((resolve, reject) => {
      child.on('message', (said: Said) => {
        if (said.seeded) onProgress(`${name}: ${said.seeded.toLocaleString('en')} of ${members.toLocaleString('en')} members`)
        if (said.seedSeconds) seedSeconds = said.seedSeconds
        if (said.port) resolve(said)
      })
      child.once('exit', (code, signal) =>
        code === 0 ? resolve(undefined) : reject(new Error(lastWords(words, code ?? signal))),
      )
    })
    if (!listening) continue
    child.removeAllListeners('message')
    const { port = 0, token = '', openSeconds = 0 } = listening
    return { name, members, child, port, token, seedSeconds, openSeconds }
  }
}

/** An error and its deepest cause, out of the whole output of a dying process. */
function lastWords(words: string, code: number | string | null): string {
  const lines = words.split('\n').flatMap((line) => /\w*Error: .*/.exec(line)?.[0] ?? [])
  return lines.length === 0 ? `it ended with ${code}` : [...new Set([lines[0], lines.at(-1)])].join('; ')
}

/** Processor time in microseconds, on a shared machine a better measure than the clock; and memory in MiB. */
export function usageOf({ child }: Pick<Server, 'child'>): Promise<{ readonly cpu: number; readonly mebibytes: number }> {
  return new Promise((resolve) => {
    child.once('message', ({ cpu, rss }: { cpu: NodeJS.CpuUsage; rss: number }) =>
      resolve({ cpu: cpu.user + cpu.system, mebibytes: rss / 2 ** 20 }),
    )
    child.send('usage')
  })
}
