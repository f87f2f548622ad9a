/** The examples of docs/agents.md, run as they are: the commands on the built program, the code in this process. */
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'
import { toNodeListener } from '../../adapters/http/node.ts'
import { createMcp } from '../../adapters/mcp/index.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createCommunity } from '../../lib/index.ts'
import { environment, program } from '../support/command.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { call } from '../support/mcp.ts'

const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'agents.md'), 'utf8')
const [command = ''] = page.match(/^npx folkmoot mcp .*$/m) ?? []
const blockOf = (language: string): string => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? ''

async function paintPals() {
  const community = createCommunity({ storage: memoryStorage(), allowHttp: true })
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  const { network } = await community.networks.create({ subdomain: 'paint-pals', title: 'Paint Pals', owner })
  const { token } = await community.keys.create({ network_id: network.id, name: 'Agent', scopes: ['*'] })
  return { community, token }
}

/** Runs a command beside `./token`. Gives the groups whose tools write, and the answer to a tool that reads. */
async function asked(words: readonly string[]) {
  const { community, token } = await paintPals()
  const server = createServer(toNodeListener(community))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const directory = temporaryDirectory()
  await writeFile(join(directory, 'token'), token)
  const { port } = server.address() as AddressInfo
  // Options of npx, which names the packages to install.
  const [name, ...given] = words
    .slice(words.findIndex((word) => !word.startsWith('--')))
    .map((word) => (word === 'https://api.example.org' ? `http://127.0.0.1:${port}` : word))
  expect(name).toBe('folkmoot')
  const env = Object.fromEntries(Object.entries(environment()).map(([key, value]) => [key, String(value)]))
  const args = [program('folkmoot'), ...given]
  const transport = new StdioClientTransport({ command: process.execPath, args, env, cwd: directory, stderr: 'ignore' })
  const client = new Client({ name: 'test', version: '1.0.0' })
  onTestFinished(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
    await community.close()
  })
  await client.connect(transport)
  const { tools } = await client.listTools()
  const writing = tools.filter(({ annotations }) => !annotations?.readOnlyHint).map(({ name }) => name.split('_')[0])
  return { writing: new Set(writing), me: (await call(client, 'me_show')).data }
}

test('the command of docs/agents.md gives an agent the tools that it names', async () => {
  const { writing, me } = await asked(command.split(' ').slice(1))
  expect([...writing].toSorted()).toEqual(['comments', 'posts'])
  expect(me).toMatchObject({ name: 'Ada Ash' })
})

test('the configuration of docs/agents.md starts a server that only reads', async () => {
  const { mcpServers } = JSON.parse(blockOf('json')) as {
    readonly mcpServers: Readonly<Record<string, { readonly command: string; readonly args: readonly string[] }>>
  }
  expect(mcpServers['folkmoot']?.command).toBe('npx')
  const { writing, me } = await asked(mcpServers['folkmoot']?.args ?? [])
  expect([...writing]).toEqual([])
  expect(me).toMatchObject({ name: 'Ada Ash' })
})

test('the code of docs/agents.md answers an agent over HTTP', async () => {
  const { community, token } = await paintPals()
  onTestFinished(() => community.close())
  const code = blockOf('js').replace("import { createMcp } from 'folkmoot/mcp'\n", '')
  const mcp: ReturnType<typeof createMcp> = new Function('createMcp', 'community', `${code}\nreturn mcp`)(createMcp, community)
  const list = (authorization: string) =>
    mcp(
      new Request('https://api.example.org/mcp', {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      }),
    )
  expect((await list('')).status).toBe(401)
  const answer = await (await list(`Bearer ${token}`)).text()
  expect(answer).toContain('"posts_create"')
  expect(answer).not.toContain('"comments_create"')
  await mcp.close()
})
