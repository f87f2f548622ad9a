/** README.md as a reader pastes it: its commands and its program in one folder, and all of it a second time. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Command, end, watched } from '../support/command.ts'
import { freePort } from '../support/free-port.ts'
import { shared } from '../support/shared.ts'

const root = join(import.meta.dirname, '..', '..')
const readme = await readFile(join(root, 'README.md'), 'utf8')
const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: { readonly start: string }
}
const blocks = [...readme.matchAll(/```(js|sh)\n(.*?)```/gs)].map(([, language = '', code = '']) => ({ language, code }))
const lines = blocks.flatMap(({ language, code }) => (language === 'sh' ? code.trim().split('\n') : []))
const [program = ''] = blocks.flatMap(({ language, code }) => (language === 'js' ? [code] : []))

/** What npm does to make the package; the test has it already. */
const isOfNpm = (line: string): boolean => /^npm (?:i folkmoot|install && npm test)$/.test(line)

/** Pastes everything, and ends what runs on. */
async function paste(directory: string): Promise<void> {
  const start = (name: string, program: string, args: readonly string[]): Command =>
    watched(name, spawn(program, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] }))
  const port = String(await freePort())
  await writeFile(join(directory, 'server.mjs'), program.replaceAll('4000', port))
  const server = start('server', process.execPath, ['server.mjs'])
  await server.written('The API is ready')
  for (const line of lines.filter((each) => !isOfNpm(each))) {
    const isDemo = line.endsWith('npm start')
    // Another process may have the port of the demo, too.
    const typed = isDemo ? `${scripts.start.replace('node scripts/launch.js ', 'npx ')} --port 0` : line.replaceAll('4000', port)
    const bin = join(directory, 'node_modules', 'folkmoot', 'dist', 'daemon', 'bin')
    const command = start(line, 'bash', ['-c', typed.replace(/\bnpx (\S+)/, `exec '${process.execPath}' '${bin}/$1.js'`)])
    if (isDemo) {
      await command.written('Webhooks go to')
      await end(command)
      continue
    }
    expect([line, await command.ended]).toEqual([line, 0])
    if (line.startsWith('curl')) expect(JSON.parse(command.out.stdout)).toMatchObject({ name: 'Ada Ash' })
  }
  expect(lines.some((line) => line.startsWith('curl'))).toBe(true)
  await server.written('received MemberJoinedHook')
  await end(server)
}

test('every block can be pasted after the one before, and all of them once more', async () => {
  const packages = await shared('package')
  const directory = await mkdtemp(join(packages, 'readme-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  await symlink(join(packages, 'node_modules'), join(directory, 'node_modules'), 'junction')
  expect(lines).toEqual(expect.arrayContaining(['npm i folkmoot', 'npm install && npm start', 'npm install && npm test']))
  await paste(directory)
  await paste(directory)
})

test('it is one screen, and its program at most fifteen lines', () => {
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(15)
  expect(readme.trim().split('\n').length).toBeLessThanOrEqual(50)
})
