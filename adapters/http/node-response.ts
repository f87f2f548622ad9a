import { Buffer } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, ServerHttp2Stream } from 'node:http2'
import { type HttpResponse, lingerMs } from '../../lib/http/exchange.ts'
import { bytesOf, isBeyondLatin1 } from '../utf8.ts'
import { type Bounds, defaultBounds, type Watch, watch } from './node-bounds.ts'
import { cut, isGone } from './node-stream.ts'
import { isMadeUp } from './node-turns.ts'

/** Characters of a response that is encoded once and written as a whole: a page of a hundred records. */
const wholeLength = 131_072
/** Of a longer one so many are written at a time: enough for a fast reader, and all that a slow one makes us encode. */
const sliceLength = 65_536
/** A shorter text leaves together with the headers, which saves a piece. */
const shortLength = 4_096

/**
 * Writes a response, as fast as its client takes it.
 * @param sent called once, when the response has left or its connection has ended
 */
export function writeResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  bounds: Bounds,
  sent: () => void,
): void {
  if (isGone(response) || response.headersSent) {
    sent()
    return
  }
  const lingers = isUnfinished(request, status)
  const text = request.method === 'HEAD' ? null : body
  const isBytewise = typeof text === 'string' && text.length <= shortLength && isBeyondLatin1(text)
  const isBytes = typeof text === 'string' && text.length > shortLength && text.length <= wholeLength
  const encoded = isBytewise ? bytewise(text) : isBytes ? bytesOf(text) : text
  const encoding = isBytewise ? 'latin1' : 'utf8'
  const sentHeaders: Record<string, string | number> = { ...headers }
  if (body !== null) sentHeaders['content-length'] = Buffer.byteLength(encoded ?? body, encoding)
  if (lingers) sentHeaders['connection'] = 'close'
  response.writeHead(status, sentHeaders)
  if (isMadeUp(request)) {
    response.end(encoded ?? undefined, encoding)
    sent()
    return
  }
  if (lingers) {
    if (encoded !== null) response.write(encoded, encoding)
    linger(request, response)
    watchResponse(request, response, bounds, sent)
    return
  }
  // A stream of HTTP/2 of which a part is unread would stay open: close it when the response has left (RFC 9113, 8.1).
  if (request.httpVersionMajor >= 2 && !request.complete)
    closeWhenWritten((request as IncomingMessage & Partial<Http2ServerRequest>).stream)
  if (text !== null && text.length > wholeLength) {
    writeSlices(response, text, watchResponse(request, response, bounds, sent))
  } else {
    response.end(encoded ?? undefined, encoding)
    if (response.writableLength === 0) sent()
    else watchResponse(request, response, bounds, sent)
  }
}

/** Writes a body behind its headers, as fast as its client takes it. */
export function writeBytes(request: IncomingMessage, response: ServerResponse, body: Uint8Array): void {
  if (isMadeUp(request)) response.end(body)
  else
    writeSlices(
      response,
      body,
      watchResponse(request, response, defaultBounds, () => {}),
    )
}

/** Writes a file behind its headers, as fast as its client takes it. It may be larger than the memory, and take any time. */
export async function writeFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: ReadableStream<Uint8Array>,
): Promise<void> {
  let wake = () => {}
  const taken = () =>
    new Promise<void>((resolve) => {
      const watching = watch(defaultBounds.responseStallMs, Number.POSITIVE_INFINITY, () => cut(response))
      wake = () => {
        watching.end()
        resolve()
      }
    })
  const reader = file.getReader()
  response.on('close', () => {
    wake()
    // A stream of events may send nothing more, and would be read for ever.
    reader.cancel().catch(() => {})
  })
  // Once for the whole file: the middleware `compression` never removes a listener for `drain`.
  response.on('drain', () => wake())
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (isGone(response)) return
      if (done) break
      if (!response.write(value) && !isMadeUp(request)) await taken()
    }
    writeBytes(request, response, new Uint8Array())
  } catch {
    // The panel has reported why it cannot be read.
    cut(response)
  }
}

const closeWhenWritten = (stream?: ServerHttp2Stream) => stream?.once('finish', () => stream.close())

const encoder = new TextEncoder()
/** Room for the UTF-8 of one short text. */
const room = Buffer.allocUnsafeSlow(3 * shortLength)

/**
 * A short text in UTF-8, with one character for each byte. Node sends it with the headers in one piece, as it is. A text beyond
 * Latin-1 it would go through three times.
 */
const bytewise = (text: string): string => room.toString('latin1', 0, encoder.encodeInto(text, room).written)

function writeSlices(response: ServerResponse, text: string | Uint8Array, watching: Watch): void {
  let offset = 0
  let isWaiting = false
  const step = () => {
    watching.moved()
    while (offset < text.length) {
      const end = sliceEnd(text, offset)
      const slice = typeof text === 'string' ? text.slice(offset, end) : text.subarray(offset, end)
      offset = end
      if (response.write(slice)) continue
      // Once for the whole response: the middleware `compression` never removes a listener for `drain`.
      if (!isWaiting) response.on('drain', step)
      isWaiting = true
      return
    }
    if (!response.writableEnded) response.end()
  }
  step()
}

/** Never between the halves of a surrogate pair: each half alone would be encoded as a question mark. */
function sliceEnd(text: string | Uint8Array, offset: number): number {
  const end = Math.min(offset + sliceLength, text.length)
  if (typeof text !== 'string') return end
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff && end < text.length ? end - 1 : end
}

/** Ends the connection of a client that takes nothing, or takes too long. */
function watchResponse(request: IncomingMessage, response: ServerResponse, bounds: Bounds, sent: () => void): Watch {
  const { socket } = request
  const watching = watch(bounds.responseStallMs, bounds.responseTimeoutMs, () => {
    if (request.httpVersionMajor < 2) socket.destroy()
    else cut(response)
    end()
  })
  let ended = false
  const end = () => {
    if (ended) return
    ended = true
    watching.end()
    response.off('close', end)
    socket.off('close', end)
    sent()
  }
  // Not every version of Node notifies a response that waits behind another one when their connection ends.
  response.on('close', end)
  socket.on('close', end)
  return watching
}

// A client that is still writing when its connection is closed gets a reset, and never sees the response.
const isUnfinished = (request: IncomingMessage, status: number): boolean =>
  !request.complete && request.httpVersionMajor < 2 && (status === 408 || status === 413 || status === 503)

/** A client that sends too much gets its response first. The rest of its body is discarded, and then the connection is cut. */
function linger(request: IncomingMessage, response: ServerResponse): void {
  const end = () => {
    clearTimeout(timer)
    request.off('end', end)
    request.off('close', end)
    response.end()
  }
  const timer = setTimeout(end, lingerMs)
  timer.unref()
  request.on('end', end)
  request.on('close', end)
  request.resume()
}
