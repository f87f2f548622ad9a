import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../../support/directory.ts'

test('a bundle in the format of CommonJS opens a file', async () => {
  const directory = temporaryDirectory()
  const input = join(import.meta.dirname, '../../../../adapters/storage/sqlite.ts')
  // As esbuild leaves it.
  const transform = { define: { 'import.meta.url': 'undefined' } }
  const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent', transform })
  await bundle.write({ dir: directory, format: 'cjs', entryFileNames: 'sqlite.cjs', chunkFileNames: '[name].cjs' })
  await bundle.close()
  const open = `require('./sqlite.cjs').sqliteStorage({ path: 'db.sqlite' }).then((storage) => storage.close()).then(() => console.log('closed'))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', open], { cwd: directory })
  expect(stdout).toBe('closed\n')
})
