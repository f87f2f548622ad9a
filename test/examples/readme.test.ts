/** README.md as somebody pastes it: each block after the one before, in one project, and all of it a second time. */
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

/** What one block does: a program, or the commands of a shell. Blocks of a program that follow each other are one file. */
const blocks = [...readme.matchAll(/```(js|sh)\n(.*?)```/gs)].map(([, language = '', code = '']) => ({ language, code }))

/** What npm does to make the package; the test has it already. */
const isOfNpm = (line: string): boolean => /^npm (?:install|pack|test)\b/.test(line)

/** The words after the name of a program. */
function words(line: string): readonly string[] {
  const text = line
    .replace(/^npm install && npm start$/, scripts.start.replace('node scripts/launch.js ', 'npx '))
    .replace(/^npm run -s (\S+) -- /, 'npx $1 ')
  return [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

/** Pastes everything, and ends what runs on. */
async function paste(directory: string, ports: ReadonlyMap<string, string>): Promise<void> {
  const onPorts = (text: string) => text.replace(/\b400\d\b/g, (port) => ports.get(port) ?? port)
  const running: Command[] = []
  const start = (args: readonly string[], env: NodeJS.ProcessEnv) => {
    const command = watched(
      args.join(' '),
      spawn(process.execPath, args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] }),
    )
    return command
  }
  let program = ''
  for (const [place, { language, code }] of blocks.entries()) {
    if (language === 'js') {
      program += code
      if (blocks[place + 1]?.language === 'js') continue
      await writeFile(join(directory, 'server.mjs'), `${onPorts(program)}\nconsole.log('token', token)\n`)
      program = ''
      const server = start(['server.mjs'], process.env)
      running.push(server)
      const [, token] = (await server.firstLine()).split(' ')
      const me = await fetch(`http://127.0.0.1:${ports.get('4000')}/admin/v1/networks/paint-pals/me`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(me.status).toBe(200)
      continue
    }
    let env = process.env
    for (const line of code.trim().split('\n')) {
      const [first = '', name = '', ...args] = words(onPorts(line))
      if (first === 'export') {
        const variables = [name, ...args].map((each) => each.split(/=(.*)/s).slice(0, 2) as [string, string])
        env = { ...env, ...Object.fromEntries(variables) }
      } else if (first === 'npx') {
        const command = start([join(directory, 'node_modules', 'folkmoot', 'dist', 'daemon', 'bin', `${name}.js`), ...args], env)
        if (['serve', 'run'].includes(args[0] ?? '')) {
          running.push(command)
          await command.written('\n')
        } else expect([line, await command.ended, command.out.stderr.includes('Error')]).toEqual([line, 0, false])
      } else expect(isOfNpm(line)).toBe(true)
      // The mounted server has this port afterwards, as README says.
      if (line.endsWith('npm start')) await end(running.pop() ?? expect.fail('it does not run'))
    }
  }
  for (const command of running.reverse()) await end(command)
}

test('every block can be pasted after the one before, and all of them once more', async () => {
  const packages = await shared('package')
  const directory = await mkdtemp(join(packages, 'readme-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  await symlink(join(packages, 'node_modules'), join(directory, 'node_modules'), 'junction')
  const ports = new Map(
    await Promise.all(['4000', '4001', '4002'].map(async (port) => [port, String(await freePort())] as const)),
  )
  await paste(directory, ports)
  await paste(directory, ports)
})
