/** The examples of docs/testing.md, each run unchanged by the runner that it is for, and what they print. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { testCommunity } from '../../adapters/testing/index.ts'
import { shared } from '../support/shared.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const page = await readFile(join(root, 'docs', 'testing.md'), 'utf8')
const [withVitest = '', withNode = '', ...others] = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)

const project = await shared('package')

async function fileOf(name: string, code: string): Promise<{ readonly directory: string; readonly file: string }> {
  const directory = await mkdtemp(join(project, 'example-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  const file = join(directory, name)
  await writeFile(file, code)
  return { directory, file }
}

test('the example for vitest passes under vitest, and leaves a snapshot', async () => {
  const { directory } = await fileOf('member.test.js', withVitest)
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const env = { PATH: process.env['PATH'] }
  await run(process.execPath, [vitest, 'run', '--update', '--root', directory], { cwd: directory, env })
  const snapshot = await readFile(join(directory, '__snapshots__', 'member.test.js.snap'), 'utf8')
  const { client } = await testCommunity()
  const { id } = await client.members.create({ email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak' })
  expect(snapshot).toContain(`"id": "${id}"`)
})

test('the example for the test runner of Node passes under it', async () => {
  const { directory, file } = await fileOf('member.test.js', withNode)
  const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap', file], {
    cwd: directory,
    env: { PATH: process.env['PATH'] },
  })
  expect(stdout).toContain('ok 1 - a new member is announced')
  expect(stdout).toContain('# pass 1')
})

test('the other examples print the documented lines', async () => {
  const printed = await Promise.all(
    others.map(async (code, place) => {
      const { file } = await fileOf(`block-${place}.js`, `${code}\nprocess.exit(0)\n`)
      return (await run(process.execPath, [file])).stdout
    }),
  )
  const documented = [...page.matchAll(/^This prints (.*?)\.(?:\s|$)/gms)].flatMap(([, sentence = '']) =>
    [...sentence.matchAll(/`([^`]+)`/g)].map(([, text]) => text),
  )
  expect(printed.join('').trim().split('\n')).toEqual(documented)
  expect(documented).toHaveLength(3)
})
