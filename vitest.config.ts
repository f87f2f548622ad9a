import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', './test/support/plain-reporter.ts'],
    // Real processes, real files, shared machines: a test is slow only when it hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
