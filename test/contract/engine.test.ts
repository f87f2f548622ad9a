/**
 * The generated tests as one file, for the projects of the engines and of the client (`vitest.config.ts`). A worker of vitest
 * loads all that a file needs. That costs more than the tests, so each of these projects has one worker alone.
 */
import { describe } from 'vitest'

for (const name of (process.env['FOLKMOOT_TEST_FILES'] ?? '').split(','))
  describe(name, async () => {
    await import(`./${name}.test.ts`)
  })
