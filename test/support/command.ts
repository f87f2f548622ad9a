import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { youngGenerationLimit } from '../../daemon/bin/young-generation.ts'
import { shared } from './shared.ts'

const programs = await shared('programs')

/** The file of a program that tests start. */
export const program = (name: string): string => join(programs, `${name}.js`)
/** Node keeps what it has compiled beside the programs. */
export const environment = () => ({ ...process.env, NODE_COMPILE_CACHE: join(programs, 'compiled') })

/**
 * Options of Node for programs of tests. A relay takes the first one by starting itself anew, which costs another start. The second
 * one spares most of what Node clears up while a program loads.
 */
const options = [youngGenerationLimit, '--min-semi-space-size=16']

/** A program of ours in a separate process. */
export interface Command {
  readonly child: ChildProcess
  /** Everything that it has written so far. */
  readonly out: { stdout: string; stderr: string }
  /** The first line on standard output. */
  firstLine(): Promise<string>
  /** Standard output up to a text that has to come. */
  written(text: string): Promise<string>
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>
}

/**
 * Starts `folkmoot` or `folkmoot-relay` with these arguments; ended with the test, if it has not ended by itself.
 */
export const run = (name: 'folkmoot' | 'folkmoot-relay', ...args: readonly string[]): Command =>
  watched(name, spawned(name, args))

/** Starts it in a directory. */
export const runIn = (directory: string, name: 'folkmoot', ...args: readonly string[]): Command =>
  watched(name, spawned(name, args, directory))

/** Starts a program for several tests. The caller ends it, by `end`. */
export const runForAll = (name: 'folkmoot' | 'folkmoot-relay', ...args: readonly string[]): Command =>
  read(name, spawned(name, args))

const spawned = (name: string, args: readonly string[], cwd?: string) =>
  spawn(process.execPath, [...options, program(name), ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: environment(), cwd })

/** The output of a process, and its end; it is ended with the test, if it has not ended by itself. */
export function watched(name: string, child: ChildProcessByStdio<Writable | null, Readable, Readable>): Command {
  const command = read(name, child)
  onTestFinished(() => end(command))
  return command
}

/** Ends a process that has not ended by itself: politely first, so that it leaves nothing behind. */
export async function end({ child, ended }: Command): Promise<void> {
  child.kill('SIGTERM')
  const cut = setTimeout(() => child.kill('SIGKILL'), 60_000)
  await ended
  clearTimeout(cut)
}

function read(name: string, child: ChildProcessByStdio<Writable | null, Readable, Readable>): Command {
  const out = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    out.stderr += text
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const written = (end: string) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const at = out.stdout.indexOf(end)
        if (at !== -1) resolve(out.stdout.slice(0, at))
      }
      child.stdout.on('data', look)
      child.on('close', (code) => reject(new Error(`${name} ended with ${code} before it wrote "${end}": ${out.stderr}`)))
      look()
    })
  return { child, out, firstLine: () => written('\n'), written, ended }
}
