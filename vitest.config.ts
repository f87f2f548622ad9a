import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The tests of every operation and of the host's calls. They run on the databases as well as in memory. */
const generated = [
  'access',
  'answers',
  'audit',
  'bodies',
  'contract',
  'events',
  'host-arguments',
  'paging',
  'paths',
  'previews',
  'unchanged',
]

/** Those whose requests a client can send too. */
const throughClient = ['access', 'answers', 'bodies', 'paging', 'unchanged']

/** Those of which the databases and the client run a part in `npm test`: `reaching` in `test/contract/support.ts` decides. */
const inPart = ['access', 'bodies', 'paths']

/** The tests of every relay, whatever its store: one file imports them. */
const everyRelay = 'test/daemon/relay/every-relay.test.ts'

const interleavings = 'test/contract/interleavings.test.ts'

/**
 * Loops that kill processes, and what takes a minute. `npm test` and `npm run test:rest` run them too, in fewer rounds
 * (`test/support/rounds.ts`); the workflow on GitHub also runs them in full.
 */
const soak = [
  'browser/tasks',
  'cluster/far',
  'cluster/frozen',
  'cluster/network',
  'contract/bodies',
  'http/hosts/hosts',
  'kill-loop',
  'kills',
  'large',
  'large-commits',
  'moving/commands',
  'moving/move',
  'package/init',
  'stopped-writer',
  'storage/lowdb/processes',
  'storage/postgres/processes',
].map((name) => `test/**/${name}.test.ts`)

/**
 * What `npm run test:rest` runs: loops over processes that are killed or frozen, whole installations, suites of wrong adapters, and
 * the engines beside memory and SQLite. `npm test` runs everything else. `test/scripts/suites.test.ts` compares both with the files.
 */
const rest = [
  'adapters/http/hosts/*',
  'adapters/storage/large-commits',
  'adapters/storage/lowdb/processes',
  'adapters/storage/postgres/*',
  'adapters/storage/sql/plans',
  'browser/firefox',
  'daemon/relay/cluster/*',
  'daemon/relay/operate/*processes',
  'daemon/relay/operate/start-refused',
  'daemon/relay/store/large',
  'daemon/relay/store/log-size',
  'daemon/server/backup',
  'daemon/server/kills',
  'daemon/server/listen/listen-command',
  'daemon/server/moving/commands',
  'daemon/server/moving/kills',
  'daemon/server/moving/large-pages',
  'daemon/server/moving/move',
  'daemon/server/import-kills',
  'daemon/server/panel-faults',
  'daemon/server/people-story',
  'daemon/server/start',
  'examples/scale-page',
  'lib/testing/faulty-adapters',
  'package/bundles',
  'package/init',
  'package/package',
].map((name) => `test/${name}.test.ts`)

/** Whether `npm run test:soak` asks for them by name. */
const withSoak = process.argv.some((word) => /^(--project=)?soak/.test(word))
const inFull: Readonly<Record<string, string>> = withSoak ? { FOLKMOOT_TEST_SOAK: 'yes' } : {}

/** In full they are long, and one database at a time: so the pairs are shared out over two workers. */
const interleavingParts = withSoak ? [1, 2] : [1]

/** The engines of the generated tests beside the memory, and the client. */
const beside: readonly (readonly [name: string, env: Readonly<Record<string, string>>])[] = [
  ...['lowdb', 'sqlite', 'postgres'].map((name) => [name, { FOLKMOOT_TEST_STORAGE: name, ...inFull }] as const),
  ['client', { FOLKMOOT_TEST_CLIENT: 'yes', ...inFull }],
]

const filesOf = (name: string): readonly string[] => (name === 'client' ? throughClient : generated)

/** The project of an engine is one file, which imports those of these names. */
const oneFile = 'test/contract/engine.test.ts'
const besideProject = (name: string, files: readonly string[], env: Readonly<Record<string, string>>) =>
  project(name, [oneFile], { ...env, FOLKMOOT_TEST_FILES: files.join() })

/** The longest files of a project begin first, so that no worker is left alone with one at the end. */
const long = new RegExp(
  `/(?:${[
    'bodies',
    'browser/panel',
    'bundles',
    'databases',
    'far',
    'files',
    'frozen',
    'hosts',
    'isolation',
    'kill-loop',
    'kills',
    'large-commits',
    'leases',
    'listen-command',
    'moving/commands',
    'network',
    'npm-scripts',
    'operator',
    'package',
    'package/init',
    'panel-faults',
    'restarts',
    'examples/scale-page',
    'serve',
    'start-refused',
    'stopped',
    'tasks',
    'tutorial',
    'two-servers',
  ].join('|')})\\.test\\.ts$`,
)
/** Those that mostly wait go before those that need the processor. */
const order = (project: string): number =>
  ['soak', 'interleavings', 'relay', 'postgres', 'sqlite', 'lowdb', 'client', 'rest', ''].findIndex((name) =>
    project.startsWith(name),
  )

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ project, moduleId }: TestSpecification) => 2 * order(project.name) + (long.test(moduleId) ? 0 : 1)
    return sorted.sort((one, other) => rank(one) - rank(other))
  }
}

const byThemselves = [interleavings, oneFile, everyRelay, ...(withSoak ? soak : [])]
/** What a project does not run though its patterns have it. */
const leftOut: Readonly<Record<string, readonly string[]>> = { main: [...rest, ...byThemselves], rest: byThemselves }

const project = (name: string, include: readonly string[], env: Readonly<Record<string, string>> = {}) => ({
  extends: true as const,
  test: {
    name,
    include: [...include],
    exclude: [...(leftOut[name] ?? [])],
    env: { ...env },
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/temporary.ts'],
  },
})

export default defineConfig({
  test: {
    reporters: ['default', './test/support/plain-reporter.ts'],
    // Real processes, real files, shared machines: a test is slow only when it hangs.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    // A test file that loads the library anew costs more than its tests: the files of a worker share what they load.
    isolate: false,
    pool: 'forks',
    // Most tests wait: for processes, disks and databases.
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: LongFirst },
    projects: [
      // Every test file once, in one of the two; those that a project below runs on a database run in memory here.
      project('main', ['test/**/*.test.ts']),
      project('rest', rest),
      // Those of every operation once more, on each database and through the client.
      ...beside.map(([name, env]) => besideProject(name, filesOf(name), env)),
      project('relay-postgres', [everyRelay], { FOLKMOOT_TEST_RELAY: 'postgres' }),
      ...(withSoak ? [project('soak', soak, inFull)] : []),
      ...(withSoak
        ? beside.map(([name, env]) =>
            besideProject(
              `soak-${name}`,
              inPart.filter((file) => filesOf(name).includes(file)),
              env,
            ),
          )
        : []),
      ...interleavingParts.map((part) =>
        project(`${withSoak ? 'soak-' : ''}interleavings-${part}`, [interleavings], {
          ...inFull,
          FOLKMOOT_TEST_PART: `${part}/${interleavingParts.length}`,
        }),
      ),
    ],
  },
})
