/** The JSON body of a request to the control. */
import type { IncomingMessage } from 'node:http'
import { UsageError } from '../../../usage.ts'

const maxBytes = 64 * 1024

/**
 * A JSON object; nothing at all counts as an empty one.
 * @throws UsageError
 */
export async function jsonOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > maxBytes) throw new UsageError('the body is too long')
      chunks.push(chunk)
    }
  } catch (error) {
    // A client that leaves is no fault of the relay, which operators are told of.
    throw request.complete || error instanceof UsageError ? error : new UsageError('the body broke off')
  }
  const text = Buffer.concat(chunks).toString('utf8')
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Said below.
  }
  throw new UsageError('the body must be a JSON object')
}
