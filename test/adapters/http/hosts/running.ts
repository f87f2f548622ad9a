/** A host that runs as a process. */
import { spawn } from 'node:child_process'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../../support/free-port.ts'

/** How to start a host: a program with its arguments. */
export interface Command {
  readonly program: string
  args(port: number): readonly string[]
  /** Variables of its environment besides those of every host. */
  readonly env?: Readonly<Record<string, string>>
}

export interface Running {
  readonly origin: string
  readonly port: number
  /** Its `DATA`. */
  readonly data: string
  /** All that it has printed. */
  log(): string
  /** Shuts it down. */
  terminate(): void
  /** The exit code. */
  readonly ended: Promise<number | null>
  /** Ends it, whatever it does. */
  end(): Promise<unknown>
}

/**
 * Starts a host and waits until its own route responds.
 * @param directory where it runs
 * @throws Error with its output when it ends before
 */
export async function start(
  command: Command,
  directory: string,
  data: string,
  env: Readonly<Record<string, string>>,
): Promise<Running> {
  const port = await freePort()
  const { program } = command
  const args = command.args(port)
  const child = spawn(program, args, {
    cwd: directory,
    env: { ...process.env, PORT: String(port), DATA: data, NODE_COMPILE_CACHE: `${directory}/compiled`, ...command.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (log += part))
  let hasEnded = false
  const ended = new Promise<number | null>((resolve) => {
    child.on('error', (error) => (log += String(error)))
    child.on('close', (code) => {
      hasEnded = true
      resolve(code)
    })
  })
  const end = () => {
    child.kill('SIGKILL')
    return ended
  }
  const origin = `http://127.0.0.1:${port}`
  const running = { origin, port, data, log: () => log, terminate: () => void child.kill('SIGTERM'), ended, end }
  await until(
    async () => hasEnded || (await fetch(`${origin}/about`).then(({ ok }) => ok)),
    () => `${program} ${args.join(' ')} does not respond:\n${log}`,
  ).catch((error: unknown) => {
    void end()
    throw error
  })
  if (hasEnded) throw new Error(`${program} ${args.join(' ')} has ended:\n${log}`)
  return running
}

/** Waits until something holds, 100 seconds at most. A refusal counts as no. */
export async function until(holds: () => Promise<boolean>, problem: () => string): Promise<void> {
  const begin = performance.now()
  while (!(await holds().catch(() => false))) {
    const waited = performance.now() - begin
    if (waited > 100_000) throw new Error(problem())
    // All hosts start together: a request every moment to each of them would slow them down.
    await delay(Math.min(300, Math.max(20, waited / 10)))
  }
}
