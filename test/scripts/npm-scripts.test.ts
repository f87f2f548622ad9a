/** The scripts of `package.json`: any shell runs them, Windows' too, and a signal to npm reaches what they run. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Command, watched } from '../support/command.ts'
import { temporaryDirectory } from '../support/directory.ts'

const root = join(import.meta.dirname, '..', '..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

test.each(Object.entries(scripts))('script "%s" has nothing in it that belongs to one shell', (_, script) => {
  // `&&` means the same in every shell; variables, quotes, pipes and `;` do not.
  expect(script).toMatch(/^[\w .:/=&!-]+$/)
  expect(script.replaceAll(' && ', '')).not.toContain('&')
  const programs = script.split(' && ').map((command) => command.split(' ')[0] ?? '')
  const installed = readdirSync(join(root, 'node_modules', '.bin'))
  expect(programs.filter((program) => program !== 'npm' && !installed.includes(program))).toEqual([])
})

/**
 * A shell without built-in words. It stays between npm and the program, and on a signal it ends alone. The name of the running Node
 * may hold a space, which no first line of a script can.
 */
const wordless = `#!/usr/bin/env node
const { spawn } = require('node:child_process')
const [program, ...args] = process.argv.at(-1).split(' ')
spawn(program, args, { stdio: 'inherit' }).on('exit', (code) => process.exit(code ?? 1))`

/** Starts npm. The names of its scripts' arguments hold no character that a shell would need quoted. */
async function npm(directory: string, shell: string, ...args: readonly string[]): Promise<Command> {
  const script_shell = join(directory, 'shell')
  if (shell === 'wordless') await writeFile(script_shell, wordless, { mode: 0o755 })
  const child = spawn('npm', args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(shell === 'wordless' ? { npm_config_script_shell: script_shell } : {}) },
  })
  return watched('npm', child)
}

const shells = ['usual', 'wordless']

test.each(shells)('a signal to npm ends the server in good order, behind a %s shell', async (shell) => {
  const directory = temporaryDirectory()
  const begun = await npm(directory, shell, 'start', '--', '--port', '0', '--storage', `lowdb:${join(directory, 'db.json')}`)
  await begun.written('Webhooks go to')
  const held = async () => (await readdir(directory)).filter((name) => /\.(?:lock|control|sock)/.test(name))
  expect(await held()).not.toEqual([])
  begun.child.kill('SIGTERM')
  // Its locks are given back: it has ended by itself.
  await expect.poll(held, { timeout: 60_000 }).toEqual([])
  await begun.ended
})

test('the command for the panel that npm start shows works in the checkout', async () => {
  const storage = `lowdb:${join(temporaryDirectory(), 'db.json')}`
  const begun = await npm(temporaryDirectory(), 'usual', 'start', '--', '--port', '0', '--storage', storage)
  const [, command = ''] = /another one:\)\n +(.+)\n/.exec(await begun.written('Webhooks go to')) ?? []
  const link = watched('sh', spawn('sh', ['-c', command], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] }))
  expect([await link.ended, link.out.stderr]).toEqual([0, expect.stringMatching(/^The link works once/)])
  expect((await fetch(link.out.stdout.trim(), { redirect: 'manual' })).status).toBe(303)
})

test.each(shells)('a signal to npm ends the relay in good order, behind a %s shell', async (shell) => {
  const begun = await npm(
    temporaryDirectory(),
    shell,
    'run',
    'folkmoot-relay',
    '--',
    'run',
    '--outbox',
    join(temporaryDirectory(), 'outbox'),
  )
  await begun.written('relay.started')
  begun.child.kill('SIGTERM')
  await begun.written('relay.stopping  signal=SIGTERM')
  await begun.written('relay.stopped')
})

test('package.json says who makes it, where its sources are and where to report a bug', () => {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({
    author: 'folkmoot contributors',
    repository: { type: 'git', url: 'git+https://github.com/folkmoot/folkmoot.git' },
    homepage: 'https://github.com/folkmoot/folkmoot#readme',
    bugs: 'https://github.com/folkmoot/folkmoot/issues',
  })
})
