import { defineConfig } from 'vitest/config'

/** What is tested of every operation and of the host's calls. They run on the databases as well as in memory. */
const generated = ['access', 'answers', 'bodies', 'contract', 'events', 'host-arguments', 'paging', 'paths', 'unchanged'].map(
  (name) => `test/contract/${name}.test.ts`,
)

const onEngine = (name: string) => ({
  extends: true as const,
  test: {
    name,
    include: generated,
    env: { FOLKMOOT_TEST_STORAGE: name },
    globalSetup: ['test/support/engines-setup.ts'],
  },
})

export default defineConfig({
  test: {
    reporters: ['default', './test/support/plain-reporter.ts'],
    // Real processes, real files, shared machines: a test is slow only when it hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      { extends: true, test: { name: 'all', include: ['test/**/*.test.ts'] } },
      ...['lowdb', 'sqlite', 'postgres'].map(onEngine),
    ],
  },
})
