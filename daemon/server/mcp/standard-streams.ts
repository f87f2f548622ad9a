/** Standard input and output as a transport that responds to the requests before the end of its input. */
import type { Readable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { messageLines, type Refusal } from './message-lines.ts'

/** The last requests have this long after the end of the input, in milliseconds: some have no response, such as subscriptions. */
const graceMs = 10_000

/**
 * The transport of the library drops the requests in flight when its input ends, such as that of `printf … | folkmoot mcp`.
 * This one closes after their responses.
 * @param stdin standard input, which it reads alone
 * @param maxBufferSize the longest message, in bytes
 */
export function standardStreams(
  stdin: Readable,
  maxBufferSize: number,
  refuse: (refusal: Refusal) => void,
): StdioServerTransport {
  const input = messageLines(refuse, maxBufferSize)
  const transport = new StdioServerTransport(input, undefined, { maxBufferSize })
  const open = new Set<string | number>()
  let ended = false
  const settle = (id: unknown): void => {
    if (typeof id === 'string' || typeof id === 'number') open.delete(id)
    if (ended && open.size === 0) input.end()
  }

  const start = transport.start.bind(transport)
  transport.start = async () => {
    const { onmessage: receive, onclose: closed } = transport
    transport.onmessage = (message) => {
      if ('method' in message && 'id' in message && message.id !== undefined) open.add(message.id)
      receive?.(message)
      if ('method' in message && message.method === 'notifications/cancelled') settle(message.params?.['requestId'])
    }
    transport.onclose = () => {
      // Otherwise the input keeps the process alive.
      stdin.unpipe(input)
      stdin.pause()
      closed?.()
    }
    await start()
    stdin.pipe(input, { end: false })
    const end = (): void => {
      if (ended) return
      ended = true
      setTimeout(() => input.end(), graceMs).unref()
      // The messages that have come are read first.
      setImmediate(settle)
    }
    stdin.once('end', end).once('close', end)
  }
  const send = transport.send.bind(transport)
  transport.send = async (message) => {
    await send(message)
    if (!('method' in message)) settle(message.id)
  }
  return transport
}
