/** The lines of standard input before the protocol reads them: the library of the protocol drops malformed ones without a response. */
import { Transform } from 'node:stream'
import { isObject } from '../../../lib/base/json-object.ts'

/** Why a line is no request (JSON-RPC 2.0, section 5.1). */
export interface Refusal {
  readonly id: string | number | null
  readonly code: -32700 | -32600
  readonly message: 'Parse error' | 'Invalid Request'
}

const isId = (value: unknown): value is string | number => typeof value === 'string' || Number.isInteger(value)

/** The refusal of a line; `undefined` for a message of any kind, and for a blank line. */
export function refusalOf(line: string): Refusal | undefined {
  if (line.trim() === '') return undefined
  let message: unknown
  try {
    message = JSON.parse(line)
  } catch {
    return { id: null, code: -32700, message: 'Parse error' }
  }
  const invalid = { code: -32600, message: 'Invalid Request' } as const
  if (!isObject(message)) return { id: null, ...invalid }
  const { jsonrpc, id, method, params } = message
  // A response never gets a response.
  if (method === undefined && ('result' in message || 'error' in message)) return undefined
  const isRequest = jsonrpc === '2.0' && typeof method === 'string' && (params === undefined || isObject(params))
  if (isRequest && (id === undefined || isId(id))) return undefined
  return { id: isId(id) ? id : null, ...invalid }
}

/**
 * Passes on the lines that are messages.
 * @param longest the longest line in bytes: a longer one is passed on unseen, and the protocol refuses it
 */
export function messageLines(refuse: (refusal: Refusal) => void, longest: number): Transform {
  let parts: Buffer[] = []
  let length = 0
  const take = (): Buffer => {
    const line = Buffer.concat(parts)
    parts = []
    length = 0
    return line
  }
  return new Transform({
    transform(chunk: Buffer, _, done) {
      let start = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        parts.push(chunk.subarray(start, end + 1))
        start = end + 1
        const line = take()
        const refusal = line.length > longest ? undefined : refusalOf(line.toString('utf8'))
        if (refusal) refuse(refusal)
        else this.push(line)
      }
      parts.push(chunk.subarray(start))
      length += chunk.length - start
      if (length > longest) this.push(take())
      done()
    },
    flush(done) {
      this.push(take())
      done()
    },
  })
}
