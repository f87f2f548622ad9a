import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../lib/index.ts'

/**
 * Reads a request's body.
 * @param limit refuse a body of more bytes than this
 * @returns `undefined` when there are more
 * @throws ApiError 400 when the connection ends before the body does
 */
export function readBody(
  request: IncomingMessage & { readonly rawBody?: unknown },
  limit: number,
): Promise<Uint8Array | undefined> {
  // A host's parser may have drained the stream: take what it kept.
  if (request.rawBody instanceof Uint8Array) return Promise.resolve(request.rawBody.length > limit ? undefined : request.rawBody)
  if (request.readableEnded || hasNoBody(request)) return Promise.resolve(new Uint8Array())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const stop = () => {
      request.off('data', onData)
      request.off('end', onEnd)
      request.off('error', onCut)
      request.off('close', onCut)
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length <= limit) return chunks.push(chunk)
      stop()
      resolve(undefined)
      return undefined
    }
    const onEnd = () => {
      stop()
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
    }
    const onCut = () => {
      stop()
      reject(new ApiError(400, { error: 'The body ended before all of it had arrived' }))
    }
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('error', onCut)
    request.on('close', onCut)
  })
}

const hasNoBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && (headers['content-length'] === undefined || headers['content-length'] === '0')
