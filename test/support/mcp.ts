/** A community as tools, asked by the client of the protocol over HTTP. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { createMcp, type McpOptions } from '../../adapters/mcp/index.ts'
import { type TestCommunityOptions, testCommunity } from '../../adapters/testing/index.ts'

/** The result of a call, as an agent sees it. */
export interface Called {
  readonly isError: boolean
  readonly text: string
  readonly data: unknown
}

export async function call(client: Client, name: string, given: Record<string, unknown> = {}): Promise<Called> {
  const { content, isError = false, structuredContent } = await client.callTool({ name, arguments: given })
  const [first] = content as readonly { readonly text?: string }[]
  return { isError, text: first?.text ?? '', data: structuredContent }
}

/** Listens on loopback for the handler, and connects a client to it with a token. */
export async function clientOf(options: McpOptions = {}, community: TestCommunityOptions = {}, token?: string) {
  const tested = await testCommunity(community)
  const mcp = createMcp(tested.community, options)
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    })
    const response = await mcp(request)
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(Buffer.from(await response.arrayBuffer()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = new Client({ name: 'test', version: '1.0.0' })
  const headers = { authorization: `Bearer ${token ?? tested.token}` }
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  onTestFinished(async () => {
    await client.close()
    await mcp.close()
    server.close()
    server.closeAllConnections()
  })
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  return { ...tested, api: tested.client, client, url }
}
