/** A run whose one test fails, set up as every other run is. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['fails.ts'],
    reporters: ['default', '../../support/plain-reporter.ts'],
    globalSetup: ['../../support/global-setup.ts'],
  },
})
