/** What a person at a terminal stops with Ctrl-C or Ctrl-D. `script` of util-linux makes the terminal. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { environment, program, watched } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { folkmoot } from '../../support/program.ts'

const ctrlC = '\u0003'
const ctrlD = '\u0004'
const hasScript = process.platform === 'linux' && existsSync('/usr/bin/script')
if (!hasScript) process.stderr.write('SKIPPED: questions at a terminal, which need `script` of util-linux\n')

/** Presses a key once the question stands, and returns what the terminal showed until then, with the exit code. */
async function pressedAt(question: string, key: string, ...words: readonly string[]) {
  const command = [process.execPath, program('folkmoot'), ...words].map((word) => `'${word}'`).join(' ')
  const child = spawn('/usr/bin/script', ['-qec', `stty cols 100 rows 30; ${command}`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environment(),
  })
  const { stdin } = child
  const terminal = watched('folkmoot at a terminal', child)
  await terminal.written(question)
  stdin.write(key)
  const code = await terminal.ended
  return { code, shown: terminal.out.stdout }
}

test.runIf(hasScript).each([
  ['Ctrl-C', ctrlC],
  ['Ctrl-D', ctrlD],
  ['Escape', '\u001b'],
])('%s at a question of init ends silently with 130, and writes nothing', async (_name, key) => {
  const folder = join(temporaryDirectory(), 'new')
  const { code, shown } = await pressedAt('Enter:', key, 'init', folder)
  expect([code, existsSync(folder)]).toEqual([130, false])
  // The question is shown as cancelled, and nothing follows it.
  expect(stripVTControlCharacters(shown).trim()).toMatch(/■ {2}Language\s+│ {2}javascript\s+│$/)
})

test.runIf(hasScript)('Ctrl-C at the question of members erase ends silently with 130, and erases nothing', async () => {
  const storage = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
  const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']
  const made = await folkmoot(
    'networks',
    'create',
    '--storage',
    storage,
    '--subdomain',
    'pals',
    '--title',
    'Pals',
    ...owner,
    '--json',
  )
  expect(made.refused).toBeUndefined()
  const [line = ''] = (await folkmoot('members', 'list', '--storage', storage, '--json')).lines
  const { id } = JSON.parse(line)
  const { code, shown } = await pressedAt('Type yes:', ctrlC, 'members', 'erase', id, '--storage', storage)
  expect([code, shown]).toEqual([130, expect.not.stringContaining('Error')])
  expect((await folkmoot('members', 'list', '--storage', storage, '--json')).lines).toEqual([line])
})
