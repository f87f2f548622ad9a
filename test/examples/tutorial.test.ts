/** docs/tutorial.md as a reader types it, in an empty folder, with the packed package in place of the registry. */
import { spawn } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Command, end, watched } from '../support/command.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { freePort } from '../support/free-port.ts'
import { packed } from '../support/packed.ts'

const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'tutorial.md'), 'utf8')
const tarball = await packed()

/** Runs a command in bash; what the page leaves running is a program of Node that says when it is ready. */
function typed(line: string, cwd: string): Command {
  const env = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) }
  return watched(
    line,
    spawn('bash', ['-c', line.startsWith('(') ? line : `exec ${line}`], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }),
  )
}

test('every block works as it is written, and ends with a verified webhook that the panel shows', async () => {
  const directory = temporaryDirectory()
  const ports = new Map([
    ['4000', String(await freePort())],
    ['4001', String(await freePort())],
  ])
  // Another process may have the ports of the page.
  const text = page.replace(/\b400[01]\b/g, (port) => ports.get(port) ?? port)
  const running = new Map<string, Command>()
  let expected = ''
  for (const [, language, code = ''] of text.matchAll(/```(\w+)(?: \[npm\])?\n(.*?)```/gs)) {
    const [, name] = /^\/\/ (\S+\.js)\n/.exec(code) ?? []
    if (name !== undefined) await writeFile(join(directory, name), code)
    else if (language === 'text') expected = code
    else {
      expect(language).toBe('sh')
      for (const line of code.trim().split('\n')) {
        const command = typed(
          line.replace(/^npm install folkmoot$/, `npm install --no-audit --prefer-offline ${tarball}`),
          directory,
        )
        if (line.startsWith('node ')) {
          running.set(line, command)
          await command.written('is ready\n')
        } else
          expect([line, await command.ended, command.out.stderr.match(/^(?:folkmoot|npm error).*/m)]).toEqual([line, 0, null])
        if (line.endsWith('/me'))
          expect(JSON.parse(command.out.stdout)).toMatchObject({ email: expect.any(String), name: 'Ada Ash' })
      }
    }
  }
  const receiver = running.get('node receiver.js') ?? expect.fail('no receiver runs')
  expect(expected).not.toBe('')
  await receiver.written(expected)

  const [, address = ''] = /Open <(\S+)> in a browser/.exec(text) ?? []
  const shown = async (url: string) => {
    const response = await fetch(url)
    return { url: response.url, text: await response.text() }
  }
  const first = await shown(address)
  const [, link = ''] = /href="([^"]*deliveries)"/.exec(first.text) ?? expect.fail(first.text)
  await expect.poll(async () => (await shown(new URL(link, first.url).href)).text).toMatch(/MemberJoined[\s\S]*delivered/i)
  for (const command of running.values()) await end(command)
  for (const secret of ['token', 'endpoint.json']) expect((await stat(join(directory, secret))).mode & 0o777).toBe(0o600)
})
