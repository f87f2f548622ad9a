/** `folkmoot mcp --install`: the configuration of an agent that starts the tools. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../../support/directory.ts'
import { folkmoot } from '../../../support/program.ts'

/** A directory with a file for a token, in which the command runs. */
function place() {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'token'), 'made-up\n')
  const before = process.cwd()
  process.chdir(directory)
  onTestFinished(() => process.chdir(before))
  return directory
}
const server = ['--url', 'https://api.example.org', '--network', 'paint-pals', '--token-file', 'token']
const read = (...path: readonly string[]) => JSON.parse(readFileSync(join(...path), 'utf8'))

test('the command is added beside what an agent has, shown, and replaced', async () => {
  const directory = place()
  writeFileSync(join(directory, '.mcp.json'), '{"other": 1, "mcpServers": {"clock": {"command": "clock"}}}')
  const { lines, warnings } = await folkmoot('mcp', '--install', 'claude-code', ...server, '--write', 'tags', 'posts')
  const file = read(directory, '.mcp.json')
  expect(file).toMatchObject({ other: 1, mcpServers: { clock: { command: 'clock' }, folkmoot: { command: 'npx' } } })
  const { args } = file.mcpServers.folkmoot
  expect(args.slice(args.indexOf('mcp'))).toEqual([
    ...['mcp', '--url', 'https://api.example.org', '--network', 'paint-pals'],
    ...['--token-file', join(directory, 'token'), '--write', 'tags', 'posts'],
  ])
  expect(lines[0]).toBe(`${join(directory, '.mcp.json')}, mcpServers:`)
  expect(JSON.parse(lines.slice(1).join('\n'))).toEqual({ folkmoot: file.mcpServers.folkmoot })
  expect(warnings).toEqual(['Added the server folkmoot. Start claude-code again to use it.'])
  const again = await folkmoot('mcp', '--install', 'claude-code', ...server)
  expect(again.warnings).toEqual(['Replaced the server folkmoot. Start claude-code again to use it.'])
  expect(read(directory, '.mcp.json').mcpServers.folkmoot.args).not.toContain('--write')
})

test.each([
  ['cursor', ['.cursor', 'mcp.json'], 'mcpServers'],
  ['gemini', ['.gemini', 'settings.json'], 'mcpServers'],
  ['vscode', ['.vscode', 'mcp.json'], 'servers'],
])('%s has it in its own file', async (agent, path, field) => {
  const directory = place()
  await folkmoot('mcp', '--install', agent, ...server)
  expect(read(directory, ...path)[field]).toMatchObject({ folkmoot: { command: 'npx' } })
})

test('what cannot be written is refused with the remedy, and the file stays', async () => {
  const directory = place()
  const refused = async (...args: readonly string[]) => (await folkmoot('mcp', ...args)).refused
  expect(await refused('--install', 'notepad', ...server)).toMatch(/^--install must be one of claude-code, .*, got "notepad"$/)
  const [url, at, network, name] = server
  expect(await refused('--install', 'cursor', String(url), String(at), String(network), String(name), '--token', 'x')).toMatch(
    /^--install needs --token-file/,
  )
  mkdirSync(join(directory, '.vscode'))
  const comments = '{\n  // mine\n  "servers": {}\n}'
  writeFileSync(join(directory, '.vscode', 'mcp.json'), comments)
  expect(await refused('--install', 'vscode', ...server)).toMatch(/is no JSON object, perhaps for its comments, .*"folkmoot"/s)
  expect(readFileSync(join(directory, '.vscode', 'mcp.json'), 'utf8')).toBe(comments)
  writeFileSync(join(directory, '.mcp.json'), '{"mcpServers": []}')
  expect(await refused('--install', 'claude-code', ...server)).toMatch(/mcpServers is no object, and is left as it is/)
})
