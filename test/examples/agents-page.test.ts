/** The examples of docs/agents.md, run as they are: the commands on the built program, the code in this process. */
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { communityPlugin } from '../../adapters/http/fastify.ts'
import { communityMiddleware as honoMiddleware } from '../../adapters/http/hono.ts'
import { communityMiddleware as koaMiddleware } from '../../adapters/http/koa.ts'
import { communityMiddleware as nodeMiddleware, toNodeListener } from '../../adapters/http/node.ts'
import { createMcp, type Mcp } from '../../adapters/mcp/index.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { untyped } from '../../bench/http/untyped.ts'
import { type Community, createCommunity } from '../../lib/index.ts'
import { environment, program } from '../support/command.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { call } from '../support/mcp.ts'
import { onLoopback } from '../support/on-loopback.ts'

const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'agents.md'), 'utf8')
const [command = ''] = page.match(/^npx folkmoot mcp .*$/m) ?? []
const blockOf = (language: string): string => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? ''

async function paintPals() {
  const community = createCommunity({ storage: memoryStorage(), allowHttp: true })
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  const { network } = await community.networks.create({ subdomain: 'paint-pals', title: 'Paint Pals', owner })
  const { token } = await community.keys.create({ network: network.id, name: 'Agent', scopes: ['*'] })
  return { community, token }
}

/** Runs a command next to `./token`. Returns the groups whose tools write, and the response of a tool that reads. */
async function toolsOf(words: readonly string[]) {
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
  const { writing, me } = await toolsOf(command.split(' ').slice(1))
  expect([...writing].toSorted()).toEqual(['comments', 'posts'])
  expect(me).toMatchObject({ name: 'Ada Ash' })
})

test('the configuration of docs/agents.md starts a server that only reads', async () => {
  const { mcpServers } = JSON.parse(blockOf('json')) as {
    readonly mcpServers: Readonly<Record<string, { readonly command: string; readonly args: readonly string[] }>>
  }
  expect(mcpServers['folkmoot']?.command).toBe('npx')
  const { writing, me } = await toolsOf(mcpServers['folkmoot']?.args ?? [])
  expect([...writing]).toEqual([])
  expect(me).toMatchObject({ name: 'Ada Ash' })
})

/** The handler of the page, made by its code. */
async function pageHandler() {
  const { community, token } = await paintPals()
  const code = blockOf('js').replace("import { createMcp } from 'folkmoot/mcp'\n", '')
  const mcp: Mcp = new Function('createMcp', 'community', `${code}\nreturn mcp`)(createMcp, community)
  onTestFinished(async () => {
    await mcp.close()
    await community.close()
  })
  return { community, mcp, token }
}

test('the code of docs/agents.md serves an agent over HTTP', async () => {
  const { mcp, token } = await pageHandler()
  const list = (authorization: string) =>
    mcp(
      new Request('https://api.example.org/mcp', {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      }),
    )
  expect((await list('')).status).toBe(401)
  const text = await (await list(`Bearer ${token}`)).text()
  expect(text).toContain('"posts_create"')
  expect(text).not.toContain('"comments_create"')
})

/** The rows of the page's table: how each host mounts the handler. */
const mounts = new Map([...page.matchAll(/^\| ([\w:. ]+) \| `(.*?)`.* \|$/gm)].map(([, host = '', code = '']) => [host, code]))

/** Runs the code of a host's row with the names that it uses. */
const mounted = (host: string, names: Readonly<Record<string, unknown>>): unknown =>
  new Function(...Object.keys(names), `return ${mounts.get(host)}`)(...Object.values(names))

type Koa = new () => { use(middleware: unknown): unknown; callback(): RequestListener }

/** The servers of the page's table, below a middleware for the API as hosts.md mounts it. */
const hosts: Readonly<Record<string, (mcp: Mcp, community: Community) => Promise<RequestListener>>> = {
  async 'node:http'(mcp, community) {
    const api = nodeMiddleware(community)
    const code = mounts.get('node:http') ?? ''
    const tools = new Function('mcp', 'toNodeListener', 'request', 'response', `${code}\nelse return true`)
    return (request, response) => {
      if (tools(mcp, toNodeListener, request, response)) api(request, response, () => response.end('your application'))
    }
  },
  async Express(mcp, community) {
    const app = express()
    app.use(nodeMiddleware(community))
    mounted('Express', { app, communityMiddleware: nodeMiddleware, mcp })
    app.use((_request, response) => void response.send('your application'))
    return app
  },
  async Fastify(mcp, community) {
    const app = Fastify()
    await app.register(communityPlugin(community))
    await mounted('Fastify', { app, communityPlugin, mcp })
    app.get('/about', async () => 'your application')
    await app.ready()
    return (request, response) => app.routing(request, response)
  },
  async Koa(mcp, community) {
    const { default: Application } = await untyped<{ default: Koa }>('koa')
    const { default: mount } = await untyped<{ default: unknown }>('koa-mount')
    const app = new Application()
    app.use(koaMiddleware(community))
    mounted('Koa', { app, mount, communityMiddleware: koaMiddleware, mcp })
    return app.callback()
  },
  async Hono(mcp, community) {
    const app = new Hono()
    app.use(honoMiddleware(community))
    mounted('Hono', { app, communityMiddleware: honoMiddleware, mcp })
    app.get('/about', (c) => c.text('your application'))
    const { getRequestListener } = await untyped<{ getRequestListener(fetch: unknown): RequestListener }>('@hono/node-server')
    return getRequestListener(app.fetch)
  },
}

test('the table of docs/agents.md has the hosts that are tried here, and the handler itself', () => {
  expect([...mounts.keys()].filter((host) => host === 'every other' || host in hosts)).toEqual([
    ...Object.keys(hosts),
    'every other',
  ])
  expect(mounts.get('every other')).toBe('mcp(request)')
})

test.each(Object.entries(hosts))('in %s the line of docs/agents.md serves an agent next to the API', async (_, serve) => {
  const { community, mcp, token } = await pageHandler()
  const origin = await onLoopback(await serve(mcp, community))
  const client = new Client({ name: 'test', version: '1.0.0' })
  onTestFinished(() => client.close())
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }))
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('posts_create')
  expect((await call(client, 'me_show')).data).toMatchObject({ name: 'Ada Ash' })
  const me = await fetch(`${origin}/admin/v1/networks/paint-pals/me`, requestInit)
  expect(await me.json()).toMatchObject({ name: 'Ada Ash' })
  const unknown = await fetch(`${origin}/mcp`, { method: 'POST', headers: { authorization: 'Bearer fmt_x' }, body: '{}' })
  expect(unknown.status).toBe(401)
})
