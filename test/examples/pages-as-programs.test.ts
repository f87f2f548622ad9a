/** Pages whose examples are one program, run unchanged from the first block to the last, and what they print. */
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { watched } from '../support/command.ts'
import { freePort } from '../support/free-port.ts'
import { shared } from '../support/shared.ts'

const run = promisify(execFile)

const docs = join(import.meta.dirname, '..', '..', 'docs')
const blocksOf = (page: string): readonly string[] => [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)
/** The community that the pages below embedding.md go on from, as that page makes it. */
const [begin = '', network = '', shown = ''] = blocksOf(await readFile(join(docs, 'embedding.md'), 'utf8'))
const community = `${begin}${network}${shown.replace(/^console\.log.*$/m, '')}`
const pages = [
  'embedding',
  'embedding/events',
  'embedding/keys',
  'embedding/limits',
  'embedding/members',
  'embedding/previews',
  'embedding/ports',
  'panel',
]

test.each(pages)('the examples of docs/%s.md print the documented lines', async (name) => {
  const page = await readFile(join(docs, `${name}.md`), 'utf8')
  const printed = [...page.matchAll(/^This prints `([^`]+)`/gm)].map(([, text]) => text)
  expect(printed.length).toBeGreaterThan(name.startsWith('embedding/') ? 0 : 1)
  const directory = await mkdtemp(join(await shared('package'), 'page-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  // The ports of the page may be taken on this machine.
  const blocks = [...(name.startsWith('embedding/') ? [community] : []), ...blocksOf(page)]
  const program = blocks.join('\n').replace(/\.listen\(\d+\)/g, ".listen(0, '127.0.0.1')")
  await writeFile(join(directory, 'page.mjs'), `${program}\nprocess.exit(0)\n`)
  const { stdout } = await run(process.execPath, ['page.mjs'], { cwd: directory })
  expect(stdout.trim().split('\n')).toEqual(printed)
})

test.each(['best-effort.js', 'at-least-once.js'])('%s of docs/embedding/mail.md sends the mails that it shows', async (name) => {
  const page = await readFile(join(docs, 'embedding/mail.md'), 'utf8')
  const directory = await mkdtemp(join(await shared('package'), 'mail-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const port = String(await freePort())
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  for (const block of blocksOf(page))
    await writeFile(join(directory, /^\/\/ (\S+)\n/.exec(block)?.[1] ?? expect.fail()), block.replaceAll('4000', port))
  const [, shown = expect.fail()] = new RegExp(`\`node ${name}\`.*?\`\`\`text\\n(.*?)\`\`\``, 's').exec(page) ?? []
  const withoutTimes = (text: string): string => text.replace(/-\d{13}@/g, '-…@')

  const program = watched(name, spawn(process.execPath, [name], { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] }))
  await expect.poll(() => [withoutTimes(program.out.stdout), program.out.stderr]).toEqual([withoutTimes(shown), ''])
  // The other one ends by itself.
  if (name === 'at-least-once.js') program.child.kill('SIGINT')
  expect(await program.ended).toBe(0)
})
