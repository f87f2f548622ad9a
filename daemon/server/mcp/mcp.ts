/** `folkmoot mcp`: a server of this API, anywhere, as tools for an agent that starts this process. */
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { serverOf } from '../../../adapters/mcp/server.ts'
import { toolsOf } from '../../../adapters/mcp/tools.ts'
import { createClient } from '../../../lib/client/index.ts'
import { operations } from '../../../lib/operations.ts'
import { fault, type Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import type { Running } from '../serve.ts'
import { tokenOf } from '../token.ts'

/** The flags of `folkmoot mcp`. */
export interface McpFlags {
  readonly url: string
  readonly network: string
  readonly token?: string
  readonly tokenFile?: string
  readonly write: readonly string[]
  readonly only: readonly string[]
}

/** A wrong flag is a mistake in usage. */
function asUsage<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}

/** A message that is no JSON-RPC, in one line: the library needs fifty, and repeats what was sent. */
const problemIn = (error: Error): string =>
  /ZodError$/.test(error.name) ? 'a message is no JSON-RPC 2.0, and has no answer' : `fault: ${fault(error)}`

/**
 * Serves the protocol on standard input and output until the input ends. Standard output carries the protocol alone.
 * @throws UsageError that names the flag and the remedy
 */
export function serveMcp({ url, network, token, tokenFile, write, only }: McpFlags, out: Output): Running {
  const given = tokenOf('--token', token, tokenFile, 'the protocol')
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`--url must be like https://api.example.org, got ${JSON.stringify(url.slice(0, 200))}`)
  const tools = asUsage(() => toolsOf(operations, { write, only }, (option) => `--${option}`))
  const client = asUsage(() => createClient({ baseUrl: url, network, token: given, maxRetryWait: 30_000 }))
  const writing = tools.filter(({ annotations }) => !annotations.readOnlyHint).length
  const handle = serveStdio(() => serverOf(tools, client), { onerror: (error) => out.warn(problemIn(error)) })
  out.warn(`${tools.length} tools for network ${network} of ${new URL(url).origin}, ${writing} of them write.`)
  return { url: '', close: () => handle.close() }
}
