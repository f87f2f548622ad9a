/** A run in which one test fails and one is left out, set up as every other run is. */
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..', '..', '..'),
    include: ['test/scripts/fails/fails.ts'],
    reporters: ['default', './test/support/plain-reporter.ts'],
    globalSetup: ['./test/support/global-setup.ts'],
  },
})
