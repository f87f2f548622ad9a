/** The hosts, each with its example. */
import { join } from 'node:path'
import process from 'node:process'
import { rolldown } from 'rolldown'
import { type Application, versionOf } from './application.ts'
import { programOf, type Runtime, runtimeVersion } from './install.ts'
import type { Command } from './running.ts'

export interface Host {
  /** As the table has it. */
  readonly name: string
  readonly version: string
  /** How its example is started; `undefined` if its runtime is not installed. */
  readonly command: Command | undefined
  /** Whether it breaks off the bodies that are still arriving when it is asked to end: the table has a note. */
  readonly cutsBodies?: true
  /** The columns of questions that have no meaning for it. */
  readonly without?: readonly string[]
  /** Builds its example. */
  prepare?(app: Application): Promise<void>
}

const node = (example: string, name: string, version = versionOf(example)): Host => ({
  name,
  version,
  command: { program: process.execPath, args: () => [`${example}.ts`] },
})

function runtime(runtime: Runtime, args: (port: number) => readonly string[]): Pick<Host, 'version' | 'command'> {
  const program = programOf(runtime)
  return { version: runtimeVersion(runtime), command: program === undefined ? undefined : { program, args } }
}

const worker = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
  bindings = [
    (name = "TOKEN", fromEnvironment = "TOKEN"),
    (name = "BASE_PATH", fromEnvironment = "BASE_PATH"),
    (name = "BEHIND_PROXY", text = "yes")
  ]
);
`

/** Bundles the Worker as `wrangler` does. */
async function prepareWorker({ directory, write }: Application): Promise<void> {
  const build = await rolldown({ cwd: directory, input: 'workers.ts', platform: 'browser', external: [/^node:/] })
  await build.write({ file: join(directory, 'worker.js'), format: 'esm' })
  await build.close()
  write('worker.capnp', worker)
}

export const hosts: readonly Host[] = [
  node('node', 'node:http', process.versions.node),
  node('express', 'Express'),
  node('fastify', 'Fastify'),
  node('koa', 'Koa'),
  node('hono', 'Hono'),
  node('h3', 'h3'),
  { name: 'Bun', ...runtime('bun', () => ['bun.ts']) },
  { name: 'Deno', ...runtime('deno', () => ['run', '-A', '--no-check', 'deno.ts']), cutsBodies: true },
  {
    name: 'Workers (workerd)',
    ...runtime('workerd', (port) => ['serve', 'worker.capnp', '--socket-addr', `http=127.0.0.1:${port}`]),
    without: ['25 MiB upload', 'graceful stop'],
    prepare: prepareWorker,
  },
]
