import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** What is tested of every operation and of the host's calls. They run on the databases as well as in memory. */
const generated = ['access', 'answers', 'bodies', 'contract', 'events', 'host-arguments', 'paging', 'paths', 'unchanged'].map(
  (name) => `test/contract/${name}.test.ts`,
)

/** What every relay does, whatever its store. */
const everyRelay = [
  'backlog-of-a-subject',
  'circuit',
  'encryption',
  'fresh-start',
  'host-notices',
  'operator',
  'order',
  'relay',
  'rotation',
  'skip',
].map((name) => `test/daemon/relay/${name}.test.ts`)

/** Long, and one database at a time: so its pairs are shared out over three. */
const interleavings = 'test/contract/interleavings.test.ts'

const project = (name: string, include: readonly string[], env: Readonly<Record<string, string>> = {}) => ({
  extends: true as const,
  test: {
    name,
    include: [...include],
    exclude: name === 'all' ? [interleavings] : [],
    env: { ...env },
    globalSetup: ['test/support/global-setup.ts'],
  },
})

export default defineConfig({
  test: {
    reporters: ['default', './test/support/plain-reporter.ts'],
    // Real processes, real files, shared machines: a test is slow only when it hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A test file that loads the library anew costs more than its tests: the files of a worker share what they load.
    isolate: false,
    pool: 'forks',
    // Most tests wait: for processes, disks and databases.
    maxWorkers: Math.max(4, availableParallelism()),
    projects: [
      project('all', ['test/**/*.test.ts']),
      ...['lowdb', 'sqlite', 'postgres'].map((name) => project(name, generated, { FOLKMOOT_TEST_STORAGE: name })),
      project('relay-postgres', everyRelay, { FOLKMOOT_TEST_RELAY: 'postgres' }),
      ...[1, 2, 3].map((part) => project(`interleavings-${part}`, [interleavings], { FOLKMOOT_TEST_PART: `${part}/3` })),
    ],
  },
})
