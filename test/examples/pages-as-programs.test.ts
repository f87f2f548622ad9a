/** Pages whose examples are one program, run unchanged from the first block to the last, and what they print. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { shared } from '../support/shared.ts'

const run = promisify(execFile)

test.each(['embedding', 'panel'])('the examples of docs/%s.md print the documented lines', async (name) => {
  const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', `${name}.md`), 'utf8')
  const blocks = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)
  const printed = [...page.matchAll(/^This prints `([^`]+)`/gm)].map(([, text]) => text)
  expect(printed.length).toBeGreaterThan(1)
  const directory = await mkdtemp(join(await shared('package'), 'page-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  // The ports of the page may be taken on this machine.
  const program = blocks.join('\n').replace(/\.listen\(\d+\)/g, ".listen(0, '127.0.0.1')")
  await writeFile(join(directory, 'page.mjs'), `${program}\nprocess.exit(0)\n`)
  const { stdout } = await run(process.execPath, ['page.mjs'], { cwd: directory })
  expect(stdout.trim().split('\n')).toEqual(printed)
})
