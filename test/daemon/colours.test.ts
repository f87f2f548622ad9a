/** Colours in a terminal, and nowhere else. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { table } from '../../daemon/table.ts'
import { environment, program } from '../support/command.ts'
import { ended } from '../support/program.ts'

const esc = String.fromCharCode(27)
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const storage = `sqlite:${join(directory, 'db.sqlite')}`
/** Without what Node or a CI has set about colours: with `CI`, Node takes a terminal for one without them. */
const plain = Object.fromEntries(
  Object.entries(environment()).filter(
    ([name]) => !/^(?:FORCE_COLOR|NO_COLOR|NODE_DISABLE_COLORS|CI|TEAMCITY_VERSION)$/.test(name),
  ),
)

beforeAll(async () => {
  const named = ['--subdomain', 'one', '--title', 'One', '--owner-email', 'ada@example.org', '--owner-name', 'Ada']
  expect((await ended('folkmoot', 'networks', 'create', ...named, '--storage', storage)).code).toBe(0)
  for (const name of ['a', 'b'])
    expect((await ended('folkmoot', 'keys', 'create', '--name', name, '--scope', '*', '--storage', storage)).code).toBe(0)
  const { stdout } = await ended('folkmoot', 'keys', 'list', '--json', '--storage', storage)
  const { id } = JSON.parse(stdout.split('\n')[0] ?? '')
  expect((await ended('folkmoot', 'keys', 'revoke', id, '--storage', storage)).code).toBe(0)
})

/** Everything that a command writes, to a pipe. */
function written(args: readonly string[], env: NodeJS.ProcessEnv, name: 'folkmoot' | 'folkmoot-relay' = 'folkmoot'): string {
  const { stdout, stderr } = spawnSync(process.execPath, [program(name), ...args], {
    env: { ...plain, ...env },
    encoding: 'utf8',
  })
  return stdout + stderr
}

const commands = [
  ['--help'],
  ['keys', 'create', '--help'],
  ['keys', 'list', '--storage', storage],
  ['keys', 'list', '--storage', 'papyrus:x'],
  ['keys', 'lisst'],
] as const

test('help, states and errors have colours where they are requested', () => {
  const forced = commands.map((args) => written(args, { FORCE_COLOR: '1' }))
  expect(forced[0]).toContain(`${esc}[1mStart:${esc}[22m`)
  expect(forced[1]).toContain(`${esc}[1mExamples:${esc}[22m`)
  expect(forced[2]).toMatch(/\[32mActive\S*\[39m/)
  expect(forced[2]).toMatch(/\[31mRevoked\S*\[39m/)
  expect(forced[3]).toContain(`${esc}[31mfolkmoot:${esc}[39m --storage`)
  expect(forced[4]).toContain(`${esc}[31mfolkmoot:${esc}[39m unknown command`)
  for (const args of [['--help'], ['status', '--outbox', 'papyrus:x']])
    expect(written(args, { FORCE_COLOR: '1' }, 'folkmoot-relay')).toContain(esc)
})

test('a pipe gets none, and neither does JSON', () => {
  for (const args of commands) expect(written(args, {})).not.toContain(esc)
  for (const args of commands.slice(2)) expect(written([...args, '--json'], { FORCE_COLOR: '1' })).not.toContain(esc)
  for (const args of [['--help'], ['status', '--outbox', 'papyrus:x']])
    expect(written(args, {}, 'folkmoot-relay')).not.toContain(esc)
})

const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false
if (!hasScript) console.warn('SKIPPED: colours in a terminal. Install the program `script` of util-linux (Debian: bsdutils).')

test.skipIf(!hasScript)('a terminal shows them, unless NO_COLOR is set', () => {
  const shown = (env: NodeJS.ProcessEnv) =>
    execFileSync(
      'script',
      ['-qec', `'${process.execPath}' '${program('folkmoot')}' keys list --storage '${storage}'`, '/dev/null'],
      {
        env: { ...plain, TERM: 'xterm-256color', ...env },
        encoding: 'utf8',
      },
    )
  expect(shown({})).toMatch(/\[32mActive/)
  expect(shown({ NO_COLOR: '1' })).not.toMatch(/\[3\dm/)
})

test('a column of states is as wide with colours as without, and a narrow one is cut', () => {
  const columns = [
    { title: 'state', cell: (text: string) => text, isState: true },
    { title: 'next', cell: () => 'x' },
  ] as const
  const rows = ['active', 'disabled: restored from a backup', 'pending']
  const paint = (format: string, text: string) => `${esc}[${{ green: 32, yellow: 33, red: 31 }[format]}m${text}${esc}[39m`
  for (const width of [80, 20]) {
    const options = { empty: '', now: 0, width }
    const painted = table(columns, rows, { ...options, paint })
    expect(stripVTControlCharacters(painted)).toBe(table(columns, rows, options))
    expect(['32m', '31m', '33m'].filter((code) => !painted.includes(`${esc}[${code}`))).toEqual([])
  }
})
