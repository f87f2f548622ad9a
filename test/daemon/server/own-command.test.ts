/** The commands that a server shows: they run in the shell that started it. */
import { spawn } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownCommand } from '../../../daemon/server/own-command.ts'
import { environment, program, watched } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'

test('a server of a project shows its commands with npx', async () => {
  const cwd = temporaryDirectory()
  const bin = join(cwd, 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(program('folkmoot'), join(bin, 'folkmoot'))
  const words = ['serve', '--storage', 'memory:', '--allow-http', '--port', '0']
  const started = spawn(process.execPath, [join(bin, 'folkmoot'), ...words], {
    cwd,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const greeting = await watched('folkmoot', started).written("--scope '*'")
  const commands = [...greeting.matchAll(/^ +(\w+ ?folkmoot) (panel-link|networks create|keys create)/gm)]
  expect(commands.map(([, command]) => command)).toEqual(['npx folkmoot', 'npx folkmoot', 'npx folkmoot'])
  const [, url = ''] = /listens on (\S+)/.exec(greeting) ?? []
  expect(await (await fetch(`${url}/admin/panel/`)).text()).toContain('<code>npx folkmoot panel-link')
})

test.each([
  ['/home/ada/app/node_modules/.bin/folkmoot', 'npx folkmoot'],
  ['/usr/local/bin/folkmoot', 'folkmoot'],
  ['', 'folkmoot'],
])('from %j it is `%s`', (path, command) => {
  expect(ownCommand(path)).toBe(command)
})
