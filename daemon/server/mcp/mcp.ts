/** `folkmoot mcp`: a server of this API, anywhere, as tools for an agent that starts this process. */

import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { serverOf } from '../../../adapters/mcp/server.ts'
import { toolsOf } from '../../../adapters/mcp/tools.ts'
import { counted } from '../../../lib/base/counted.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import { createClient } from '../../../lib/client/index.ts'
import { operations } from '../../../lib/operations.ts'
import { relayAdminOverControl } from '../../../lib/relay/control-client.ts'
import type { RelayAdmin } from '../../../lib/relay/relay-admin.ts'
import { fault, type Output } from '../../output.ts'
import { about, UsageError } from '../../usage.ts'
import { tokenOf } from '../credentials/secrets.ts'
import { optionsIn } from '../moving/from-server.ts'
import type { Running } from '../serve/serve.ts'
import type { Refusal } from './message-lines.ts'
import { standardStreams } from './standard-streams.ts'

export interface McpFlags {
  readonly url: string
  readonly network: string
  readonly token?: string
  readonly tokenFile?: string
  readonly write: readonly string[]
  readonly only: readonly string[]
  readonly relayControl?: string
  readonly relayControlTokenFile?: string
}

/** The parts of the process that the protocol uses, besides standard output. */
export interface McpHost {
  readonly out: Output
  readonly input: Readable
  /** Is called if the protocol ends before the input does. */
  readonly failed: () => void
}

/** A wrong flag is a mistake in usage. */
function asUsage<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof TypeError ? about(new UsageError(error.message), ...optionsIn(error)) : error
  }
}

/** A larger message ends the connection, in MiB. */
const maxMessage = 10

const isTooLarge = (error: Error): boolean => error.message.startsWith('ReadBuffer exceeded maximum size')

/** An error of the library in one line: of what is no JSON-RPC, it needs fifty, and repeats what was sent. */
function problemIn(error: Error): string {
  if (/ZodError$/.test(error.name)) return 'a message is no JSON-RPC 2.0, and gets no response'
  return isTooLarge(error)
    ? `a message is larger than ${maxMessage} MiB, and ends the connection: a file goes by its address, in source_url`
    : `fault: ${fault(error)}`
}

/** @throws UsageError for options that do not go together */
function relayOf({ relayControl: url, relayControlTokenFile: file }: McpFlags): RelayAdmin | undefined {
  if ((url === undefined) !== (file === undefined))
    throw new UsageError('--relay-control and --relay-control-token-file go together')
  if (url === undefined || file === undefined) return undefined
  try {
    return relayAdminOverControl({ url, token: () => readFile(file, 'utf8'), audits: true })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(
      `--relay-control must be an address such as http://127.0.0.1:9464, got ${JSON.stringify(withoutPassword(url))}`,
    )
  }
}

/**
 * Serves the protocol on standard input and output until the input ends and its requests have responses. Standard output carries the protocol alone.
 * @throws UsageError that names the flag and the remedy
 */
export function serveMcp(flags: McpFlags, { out, input, failed }: McpHost): Running {
  const { url, network, token, tokenFile, write, only } = flags
  const given = tokenOf('--token', token, tokenFile, 'the protocol')
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError(`--url must be like https://api.example.org, got ${JSON.stringify(withoutPassword(url).slice(0, 200))}`)
  const client = asUsage(() => createClient({ baseUrl: url, network, token: given, maxRetryWait: 30_000 }))
  const relay = relayOf(flags)
  const target = relay && { admin: relay, network: async () => String((await client.network.show()).id) }
  const tools = asUsage(() => toolsOf(operations, { write, only }, (option) => `--${option}`, target))
  const writing = tools.filter(({ annotations }) => !annotations.readOnlyHint).length
  const refuse = ({ id, code, message }: Refusal): void => {
    out.line(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }))
    out.warn('a message is no JSON-RPC 2.0, and is refused')
  }
  const transport = standardStreams(input, maxMessage * 1024 * 1024, refuse)
  const onerror = (error: Error): void => {
    out.warn(problemIn(error))
    if (isTooLarge(error)) failed()
  }
  const handle = serveStdio(() => serverOf(tools, client), { transport, onerror })
  out.warn(
    `${counted(tools.length, 'tool')} for network ${network} of ${new URL(url).origin}, ${counted(writing, 'of them writes', 'of them write')}.`,
  )
  return { url: '', close: () => handle.close() }
}
