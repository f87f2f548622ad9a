/** Plays the tasks of an agent on a community with a relay, over the protocol, and holds each call to what its tool says. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createMcp } from '../../adapters/mcp/index.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { startRelay } from '../../daemon/relay/embedded.ts'
import { createCommunity } from '../../lib/index.ts'
import { type Agent, type Result, type Task, tasks } from './tasks.ts'

/** How a task went. */
export interface Played {
  readonly task: string
  readonly calls: number
  /** Characters of all responses. */
  readonly characters: number
  /** Why it failed; null if it is done. */
  readonly failed: string | null
}

/** What an agent has to read before its first call, and how the tasks went. */
export interface Evaluation {
  readonly tools: number
  /** Characters of the list of tools. */
  readonly characters: number
  readonly played: readonly Played[]
}

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly maxLength?: number
  readonly maximum?: number
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Why a value does not fit its schema, as far as agents look at schemas; `undefined` if it fits. */
function misfit(schema: Schema, value: unknown, place: string): string | undefined {
  const { type, properties, required = [] } = schema
  if (schema.description === undefined && place.includes('.')) return `${place} has no description`
  const kind = Array.isArray(value) ? 'array' : Number.isInteger(value) && type === 'integer' ? 'integer' : typeof value
  if (type !== undefined && type !== kind) return `${place} takes ${type}, not ${kind}`
  if (schema.enum && !schema.enum.includes(value)) return `${place} has no value ${String(value)}`
  if (typeof value === 'string' && value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY)) return `${place} is too long`
  if (typeof value === 'number' && value > (schema.maximum ?? Number.POSITIVE_INFINITY)) return `${place} is too large`
  if (!isObject(value) || !properties) return undefined
  const missing = required.find((name) => !(name in value))
  if (missing !== undefined) return `${place} needs ${missing}`
  for (const [name, each] of Object.entries(value)) {
    const inner = properties[name]
    if (!inner) return `${place} has no ${name}`
    const problem = misfit(inner, each, `${place}.${name}`)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Values of a call that only an earlier result or the task can have shown: ids, tokens and cursors. */
const unguessable = (given: unknown): readonly string[] =>
  Object.values(isObject(given) ? given : {}).flatMap((value) =>
    typeof value === 'string' && /^\d+$|^.{24,}$/.test(value) ? [value] : isObject(value) ? unguessable(value) : [],
  )

/** A receiver that works at one path and fails at another. */
async function startReceiver() {
  const server = createServer((request, response) => {
    request.resume()
    const isBroken = request.url === '/broken'
    response.writeHead(isBroken ? 500 : 200).end(isBroken ? 'out of paint' : '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, close: () => void server.close().closeAllConnections() }
}

/** A network with members, a space with a post and comments, and two endpoints of webhooks. */
async function furnish(community: ReturnType<typeof createCommunity>, url: string) {
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  const { network } = await community.networks.create({
    subdomain: 'paint-pals',
    title: 'Paint Pals',
    owner,
    member_email_visibility: true,
  })
  for (const path of ['/working', '/broken'])
    await community.endpoints.upsert({ network: network.id, url: `${url}${path}`, token: null, secrets: true })
  for (const first_name of ['Grace', 'Ben', 'Mallory', 'Ines', 'Yuki'])
    await community.call('members.create', {
      network: network.id,
      body: { email: `${first_name.toLowerCase()}@example.org`, first_name, last_name: 'Example' },
    })
  const { id: space_id } = await community.call('spaces.create', { network: network.id, body: { name: 'Studio' } })
  const body = { space_id, title: 'Welcome', description: 'Introduce yourselves.' }
  const { id: post_id } = await community.call('posts.create', { network: network.id, body })
  for (const text of ['Hello all', 'Buy watches at example.com'])
    await community.call('comments.create', { network: network.id, params: { post_id }, body: { text } })
  const { token } = await community.keys.create({ network: network.id, name: 'Agent', scopes: ['*'] })
  return { network: network.id, token }
}

/** @param only plays these tasks; all by default */
export async function evaluate(only: readonly Task[] = tasks): Promise<Evaluation> {
  const receiver = await startReceiver()
  const directory = mkdtempSync(join(tmpdir(), 'folkmoot-agents-'))
  const storage = await sqliteStorage({ path: join(directory, 'community.sqlite') })
  const community = createCommunity({ storage, allowHttp: true })
  const { network, token } = await furnish(community, receiver.url)
  const relay = await startRelay({ storage, allowHttp: true, allowPrivate: true, retrySchedule: [0] })
  const mcp = createMcp(community, { network, token, relay: relay.admin, write: ['*'] })
  const client = new Client({ name: 'evaluation', version: '1.0.0' })
  try {
    // Each event has its one attempt before anyone asks about it.
    const count = async (state: 'pending' | 'dead') => (await relay.admin.count({ network_id: network, state })).count
    for (let waited = 0; waited < 600 && ((await count('dead')) === 0 || (await count('pending')) > 0); waited++)
      await new Promise((resolve) => setTimeout(resolve, 50))
    const fetch = (input: string | URL, init?: RequestInit) => mcp(new Request(input, init))
    await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }))
    const { tools } = await client.listTools()
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    const played: Played[] = []
    for (const { task, play } of only) {
      let calls = 0
      let seen = task
      const agent: Agent = async (name, given = {}) => {
        calls += 1
        const tool = byName.get(name)
        if (!tool) throw new Error(`there is no tool ${name}`)
        const problem = misfit(tool.inputSchema as Schema, given, name)
        if (problem !== undefined) throw new Error(problem)
        const hidden = unguessable(given).find((value) => !seen.includes(value))
        if (hidden !== undefined) throw new Error(`${name}: no result has shown ${hidden}`)
        const { content, isError, structuredContent } = await client.callTool({ name, arguments: given })
        const text = (content as readonly { readonly text?: string }[]).map((part) => part.text ?? '').join('\n')
        seen += text
        if (isError) throw new Error(`${name}: ${text}`)
        return { items: [], ...(structuredContent as object) } as Result
      }
      const failed = await play(agent).then(
        (isDone) => (isDone ? null : 'the calls did not do it'),
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      )
      played.push({ task, calls, characters: seen.length - task.length, failed })
    }
    return { tools: tools.length, characters: JSON.stringify(tools).length, played }
  } finally {
    await client.close()
    await mcp.close()
    await relay.stop(0)
    await community.close()
    receiver.close()
    rmSync(directory, { recursive: true, force: true })
  }
}
