import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'
import { packageVersion } from '../../../../daemon/bin/version.ts'
import { begun } from '../../../support/begun.ts'
import { environment, program } from '../../../support/command.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { call } from '../../../support/mcp.ts'
import { folkmoot } from '../../../support/program.ts'

test('an agent starts folkmoot mcp, reads and writes a network of a server, and ends it', async () => {
  const server = begun('serve', '--demo', '--allow-http', '--json', '--port', '0', '--storage', 'memory:')
  const { url, token } = JSON.parse(await server.firstLine())
  const file = join(temporaryDirectory(), 'token')
  await writeFile(file, `${token}\n`)
  const args = [program('folkmoot'), 'mcp', '--url', url, '--network', '1', '--token-file', file, '--write', 'tags', 'badges']
  const env = Object.fromEntries(Object.entries(environment()).map(([name, value]) => [name, String(value)]))
  const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' })
  let warned = ''
  transport.stderr?.on('data', (text: Buffer) => {
    warned += text
  })
  const strays: unknown[] = []
  const client = new Client({ name: 'test', version: '1.0.0' })
  client.onerror = (error) => void strays.push(error)
  onTestFinished(() => client.close())
  await client.connect(transport)
  expect(client.getServerVersion()).toMatchObject({ name: 'folkmoot', version: packageVersion() })
  const { tools } = await client.listTools()
  expect(tools.filter(({ annotations }) => !annotations?.readOnlyHint).map(({ name }) => name.split('_')[0])).toEqual(
    expect.arrayContaining(['tags', 'badges']),
  )
  expect(tools.map(({ name }) => name)).not.toContain('posts_create')
  expect((await call(client, 'members_list', { limit: 3 })).data).toMatchObject({
    items: { length: 3 },
    next_cursor: expect.any(String),
  })
  expect((await call(client, 'tags_create', { body: { title: 'Oil' } })).data).toMatchObject({ title: 'Oil' })
  await client.close()
  expect(warned).toMatch(/^\d+ tools for network 1 of http:\/\/127\.0\.0\.1:\d+, \d+ of them write\.\n$/)
  // Anything on standard output that is not the protocol would be an error of the transport.
  expect(strays).toEqual([])
})

test('requests that came before the end of the input get responses, and a cancelled one is not waited for', async () => {
  const server = begun('serve', '--demo', '--allow-http', '--json', '--port', '0', '--storage', 'memory:')
  const { url, token } = JSON.parse(await server.firstLine())
  const args = [program('folkmoot'), 'mcp', '--url', url, '--network', '1', '--token', token]
  const agent = spawn(process.execPath, args, { env: environment() })
  onTestFinished(() => void agent.kill())
  const clientInfo = { name: 'test', version: '1.0.0' }
  const lines = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'members_list', arguments: { limit: 1 } } },
    { id: 3, method: 'tools/call', params: { name: 'posts_list', arguments: { limit: 1 } } },
    { method: 'notifications/cancelled', params: { requestId: 3 } },
  ]
  agent.stdin.end(lines.map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join(''))
  const [responses, [code]] = await Promise.all([text(agent.stdout), once(agent, 'close')])
  const byId = new Map(
    responses
      .trimEnd()
      .split('\n')
      .map((line) => [JSON.parse(line).id, JSON.parse(line).result]),
  )
  expect([code, [...byId.keys()]]).toEqual([0, [1, 2]])
  expect(byId.get(2).structuredContent.items).toHaveLength(1)
})

test('messages that are no JSON-RPC are refused and named in one line each, and the next ones get responses', async () => {
  const args = [program('folkmoot'), 'mcp', '--url', 'http://127.0.0.1:9', '--network', '1', '--token', 'secret-token']
  const agent = spawn(process.execPath, args, { env: environment() })
  onTestFinished(() => void agent.kill())
  const [responses, warned] = [createInterface(agent.stdout), text(agent.stderr)]
  const lines = [
    'garbage',
    '[]',
    'null',
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}',
    '{"jsonrpc":"2.0","id":7,"method":5}',
    '{"jsonrpc":"2.0","id":8,"result":5}',
    '',
    '{"jsonrpc":"2.0","id":2,"method":"nothing"}',
  ]
  agent.stdin.write(`${lines.join('\n')}\n`)
  const errors: unknown[] = []
  for await (const line of responses) {
    const { id, error } = JSON.parse(line)
    errors.push([id, error.code])
    if (id === 2) agent.stdin.end()
  }
  expect(errors).toEqual([
    [null, -32700],
    [null, -32600],
    [null, -32600],
    [1, -32600],
    ['a', -32600],
    [7, -32600],
    [2, -32601],
  ])
  const [, ...problems] = (await warned).trimEnd().split('\n')
  expect(problems.filter((line) => line === 'a message is no JSON-RPC 2.0, and is refused')).toHaveLength(6)
  expect(problems.filter((line) => line === 'a message is no JSON-RPC 2.0, and gets no response')).toHaveLength(1)
})

test('a message of more than 10 MiB ends the command with a sentence and the exit code 1', async () => {
  const args = [program('folkmoot'), 'mcp', '--url', 'http://127.0.0.1:9', '--network', '1', '--token', 'secret-token']
  const agent = spawn(process.execPath, args, { env: environment() })
  onTestFinished(() => void agent.kill())
  const warned = text(agent.stderr)
  // The command stops reading in the middle of it.
  agent.stdin.on('error', () => {})
  agent.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(11 * 1024 * 1024)}"}\n`)
  const [code] = await once(agent, 'close')
  const [, ...problems] = (await warned).trimEnd().split('\n')
  expect([code, problems]).toEqual([1, [expect.stringContaining('a message is larger than 10 MiB, and ends the connection')]])
})

const valid = ['--url', 'https://api.example.org', '--network', '1']

test.each([
  [[...valid], 'give a token by --token or --token-file'],
  [
    [...valid, '--token-file', '-'],
    '--token and --token-file cannot be - here, because the protocol uses standard input: name a file',
  ],
  [[...valid, '--token', '-'], '--token and --token-file cannot be - here'],
  [[...valid, '--token', 'a', '--token-file', 'b'], '--token and --token-file are the same: give one of them'],
  [['--url', 'ftp://a', '--network', '1', '--token', 'a'], '--url must be like https://api.example.org, got "ftp://a"'],
  [[...valid, '--token', 'a', '--write', 'post'], '--write must name groups, got "post"'],
  [[...valid, '--token', 'a', '--only', 'nothing'], '--only must name groups, got "nothing"'],
])('folkmoot mcp %j is refused with the remedy', async (args, sentence) => {
  expect((await folkmoot('mcp', ...args)).refused).toContain(sentence)
})
