/** Processes of the benchmarks, each on a core that it has for itself where the machine allows it. */
import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import process from 'node:process'

/** The measured process has the first core. Its clients and databases have the second one. Several of them may share all cores. */
export type Core = 'measured' | 'load' | 'shared'
const numbers = { measured: '0', load: '1', shared: `0-${availableParallelism() - 1}` } as const

/** Whether processes can be kept on one core each: on Linux, with `taskset`, on two cores or more. */
export const pinned: boolean = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0

/** The beginning of a command that is to run on a core. */
const onCore = (core: Core): readonly string[] => (pinned ? ['taskset', '-c', numbers[core]] : [])

/** More members in memory than Node's usual limit admits. */
const nodeOptions = ['--max-old-space-size=8192']

/** Starts a program of the benchmarks on a core, with a channel for messages. */
export function startOn(
  core: Core,
  file: string,
  args: readonly string[] = [],
  stderr: 'inherit' | 'pipe' = 'inherit',
): ChildProcess {
  const [execPath = process.execPath, ...before] = [...onCore(core), process.execPath, ...nodeOptions]
  return fork(file, args, { execPath, execArgv: before, stdio: ['ignore', 'inherit', stderr, 'ipc'] })
}

/** Keeps this process, and what it starts by other means, on a core. */
export function moveTo(core: Core): void {
  if (pinned) spawnSync('taskset', ['-a', '-c', '-p', numbers[core], String(process.pid)])
}
