/** The hosts, each with its example. */
import { join } from 'node:path'
import process from 'node:process'
import { rolldown } from 'rolldown'
import { type Application, versionOf } from './application.ts'
import { nextProgram, prepareNext, prepareNitro } from './builds.ts'
import { frameworks, isInstalled, programOf, type Runtime, runtimes } from './packages.ts'
import type { Question } from './questions.ts'
import { receives, webhooks } from './receives.ts'
import type { Command } from './running.ts'

export interface Host {
  /** As the table has it. */
  readonly name: string
  readonly version: string
  /** How its example is started; `undefined` if its runtime or framework is not installed. */
  readonly command: Command | undefined
  /** Notes of the table: the mark behind a result, by column. */
  readonly notes?: Readonly<Record<string, string>>
  /** The status for a body that is still arriving when it is shut down; 201 by default. */
  readonly statusAtStop?: number
  /** Its exit code when it was shut down; 0 by default. */
  readonly exitCode?: number
  /** Whether its community is in memory, so that no test can break its storage. */
  readonly isInMemory?: true
  /** Whether it drops the length of responses and sends them in chunks. */
  readonly sendsChunks?: true
  /** The columns of questions that have no meaning for it. */
  readonly without?: readonly string[]
  /** A question for this host alone, before those of all. */
  readonly own?: Pick<Question, 'title' | 'run'>
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
  return { version: runtimes.versions[runtime] ?? '', command: program === undefined ? undefined : { program, args } }
}

function framework(name: string, command: Omit<Command, 'program'>): Pick<Host, 'version' | 'command'> {
  const whole = { program: process.execPath, ...command }
  return { version: frameworks.versions[name] ?? '', command: isInstalled(frameworks) ? whole : undefined }
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
  {
    name: 'Nitro',
    ...framework('nitro', { args: () => ['nitro/.output/server/index.mjs'], env: { NITRO_HOST: '127.0.0.1' } }),
    prepare: ({ directory }) => prepareNitro(directory),
  },
  {
    name: 'Next.js',
    ...framework('next', {
      args: (port) => [nextProgram, 'start', 'next', '-H', '127.0.0.1', '-p', String(port)],
      env: { NEXT_TELEMETRY_DISABLED: '1', WEBHOOK_TOKEN: webhooks.token, WEBHOOK_SECRET: webhooks.secrets },
    }),
    exitCode: 143,
    sendsChunks: true,
    notes: { 'graceful stop': '²', API: '³' },
    own: receives,
    prepare: ({ directory }) => prepareNext(directory),
  },
  { name: 'Bun', ...runtime('bun', () => ['bun.ts']) },
  {
    name: 'Deno',
    ...runtime('deno', () => ['run', '-A', '--no-check', 'deno.ts']),
    statusAtStop: 400,
    notes: { 'graceful stop': '¹' },
  },
  {
    name: 'Workers (workerd)',
    ...runtime('workerd', (port) => ['serve', 'worker.capnp', '--socket-addr', `http=127.0.0.1:${port}`]),
    isInMemory: true,
    without: ['25 MiB upload', 'graceful stop'],
    prepare: prepareWorker,
  },
]
