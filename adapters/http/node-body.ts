import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../lib/errors.ts'
import { bodyCut, hostReadBody } from '../../lib/http/exchange.ts'
import { createPieces } from '../../lib/http/pieces.ts'
import { type Bounds, watch } from './node-bounds.ts'

/** The parts of a request that a host keeps: Express and its like on the request itself, Koa elsewhere. All may be missing. */
export interface HostBody {
  /** The whole path, where a framework has cut its mount point off `url`. */
  readonly originalUrl?: string
  /** Of Express: the path below which a middleware is mounted. */
  readonly baseUrl?: string
  /** The body as parsed: a value, its text or its bytes. */
  readonly body?: unknown
  readonly rawBody?: unknown
}

/** A request with the additions of Express and its like. */
export type HostRequest = IncomingMessage & HostBody

/** A body that the host has read before the community got the request. */
export type HandedOver =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'parsed'; readonly value: unknown }

/** The body as the host keeps it; `undefined` if the stream must be read. */
export function handedOver(request: IncomingMessage, { body, rawBody }: HostBody): HandedOver | undefined {
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
 * @param kept the parts that the host keeps
 * @param limit refuse a body of more bytes than this
 * @param bounds how long it may take
 * @param arrived called for each part; if it throws, the reading ends
 * @returns `undefined` when there are more
 * @throws ApiError 400 if the connection ends before the body does, 408 if the body stalls
 * @throws Error when the host has read the body and kept nothing of it
 */
export async function readBody(
  request: IncomingMessage,
  kept: HostBody,
  limit: number,
  bounds: Bounds,
  arrived: (bytes: number) => void = () => {},
): Promise<Uint8Array | undefined> {
  const handed = handedOver(request, kept)
  if (handed?.kind === 'bytes') return handed.bytes.length > limit ? undefined : handed.bytes
  if (hasNoBody(request)) return new Uint8Array()
  // A request begins with its headers, and a small body is there as soon as Node has read on.
  if (!request.complete) await undefined
  // A client that left during the token's look-up has had its `close` already: no event would end the wait.
  if (request.destroyed && !request.complete) throw bodyCut()
  if (!isUnread(request)) throw hostReadBody()
  if (request.readableEnded) return new Uint8Array()
  if (request.destroyed) throw bodyCut()
  return hasArrived(request, limit) ? readArrived(request, arrived) : readStream(request, limit, bounds, arrived)
}

// A small body has mostly arrived before anything reads it. HTTP/2 keeps it elsewhere.
const hasArrived = (request: IncomingMessage, limit: number): boolean =>
  request.httpVersionMajor < 2 && request.readableLength > 0 && request.readableLength <= limit && isWhole(request)

// Node notes that a message is complete after it has handed on the body's last byte.
const isWhole = ({ complete, readableLength, headers }: IncomingMessage): boolean =>
  complete || (headers['transfer-encoding'] === undefined && Number(headers['content-length']) === readableLength)

function readArrived(request: IncomingMessage, arrived: (bytes: number) => void): Uint8Array {
  // Without its length Node 26 hands on the first part alone.
  const bytes: Buffer = request.read(request.readableLength)
  arrived(bytes.length)
  return bytes
}

function readStream(
  request: IncomingMessage,
  limit: number,
  bounds: Bounds,
  arrived: (bytes: number) => void,
): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    const gathered = gather(Number(request.headers['content-length'] ?? 0), limit)
    const watching = watch(bounds.bodyStallMs, bounds.bodyTimeoutMs, () => {
      stop()
      reject(new ApiError(408, { error: 'The body did not arrive in time. Send it again' }))
    })
    const stop = () => {
      watching.end()
      request.off('data', onData)
      request.off('end', onEnd)
      request.off('error', onCut)
      request.off('close', onCut)
    }
    const onData = (chunk: Buffer) => {
      try {
        watching.moved()
        arrived(chunk.length)
        if (gathered.add(chunk)) return
        stop()
        resolve(undefined)
      } catch (error) {
        stop()
        reject(error)
      }
    }
    const onEnd = () => {
      stop()
      resolve(gathered.whole())
    }
    const onCut = () => {
      stop()
      reject(bodyCut())
    }
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('error', onCut)
    request.on('close', onCut)
  })
}

/** A body above this many bytes is put into its place part by part, so that it is in memory only once. */
const placedFrom = 1024 * 1024

function gather(announced: number, limit: number) {
  let pieces = createPieces()
  let place: Buffer | undefined
  let length = 0
  return {
    /** False when there are more bytes than the limit. */
    add(chunk: Buffer): boolean {
      // Not up front: announced bytes cost nothing.
      if (!place && length > placedFrom && announced <= limit && announced > length) {
        place = Buffer.allocUnsafeSlow(announced)
        place.set(pieces.whole())
        pieces = createPieces()
      }
      if (place) chunk.copy(place, length)
      else if (length + chunk.length <= limit) pieces.add(chunk)
      length += chunk.length
      return length <= limit
    },
    whole: (): Uint8Array => place?.subarray(0, length) ?? pieces.whole(),
  }
}

// HTTP/2 announces neither: there the stream itself shows whether anything comes.
const hasNoBody = ({ headers, httpVersionMajor }: IncomingMessage): boolean =>
  headers['content-length'] === '0' ||
  (httpVersionMajor < 2 && headers['transfer-encoding'] === undefined && headers['content-length'] === undefined)
