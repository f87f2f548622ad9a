import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../lib/index.ts'
import { hostReadBody } from '../../lib/kernel/exchange.ts'

/** What Express and its like add to a request. All of it may be missing. */
export interface HostRequest extends IncomingMessage {
  /** The whole path, where a framework has cut its mount point off `url`. */
  readonly originalUrl?: string
  /** What a body parser made of the body: a value, its text or its bytes. */
  readonly body?: unknown
  readonly rawBody?: unknown
}

/** A body that the host has read before the community got the request. */
export type HandedOver =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'parsed'; readonly value: unknown }

/** What the host has made of a body; `undefined` where the stream must be read. */
export function handedOver(request: HostRequest): HandedOver | undefined {
  const { body, rawBody } = request
  if (body === undefined && rawBody === undefined) return undefined
  const bytes = bytesOf(rawBody) ?? bytesOf(body)
  if (bytes) return { kind: 'bytes', bytes }
  // Parsers of old put `{}` where they did not look, and some hosts pass the stream itself on.
  if (body === undefined || isStream(body) || (isUnread(request) && isEmpty(body))) return undefined
  return { kind: 'parsed', value: body }
}

const encoder = new TextEncoder()

function bytesOf(value: unknown): Uint8Array | undefined {
  if (typeof value === 'string') return encoder.encode(value)
  if (value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  return ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : undefined
}

const isStream = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('pipe' in value || value instanceof ReadableStream)

const isEmpty = (value: unknown): boolean => value === null || (typeof value === 'object' && Object.keys(value).length === 0)

const isUnread = (request: IncomingMessage): boolean => !request.readableDidRead

/**
 * Reads a request's body.
 * @param limit refuse a body of more bytes than this
 * @returns `undefined` when there are more
 * @throws ApiError 400 when the connection ends before the body does
 * @throws Error when the host has read the body and kept nothing of it
 */
export async function readBody(request: HostRequest, limit: number): Promise<Uint8Array | undefined> {
  const handed = handedOver(request)
  if (handed?.kind === 'bytes') return handed.bytes.length > limit ? undefined : handed.bytes
  if (hasNoBody(request)) return new Uint8Array()
  // A client that left during the token's look-up has had its `close` already: no event would end the wait.
  if (request.destroyed && !request.complete) throw cut()
  if (!isUnread(request)) throw hostReadBody()
  if (request.readableEnded) return new Uint8Array()
  if (request.destroyed) throw cut()
  return readStream(request, limit)
}

function readStream(request: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
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
      reject(cut())
    }
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('error', onCut)
    request.on('close', onCut)
  })
}

const cut = () => new ApiError(400, { error: 'The body ended before all of it had arrived' })

// HTTP/2 announces neither: there the stream itself says whether anything comes.
const hasNoBody = ({ headers, httpVersionMajor }: IncomingMessage): boolean =>
  headers['content-length'] === '0' ||
  (httpVersionMajor < 2 && headers['transfer-encoding'] === undefined && headers['content-length'] === undefined)
