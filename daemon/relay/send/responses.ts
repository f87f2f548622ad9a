/**
 * Watches the responses on a connection before undici's parser reads them: bounds them, drops informational ones, and distinguishes a
 * response that broke off from one that never began, or only said that the connection had been kept for too long.
 */
import type { Socket } from 'node:net'

/**
 * Bytes of one response, whatever they are. Headers and body are limited where they are read. Extensions of chunks, a reason
 * phrase and empty lines reach no one, and may continue as long as the attempt.
 */
const maxBytes = 1024 * 1024
/** Informational responses (1xx) before the response itself: so many, of so many bytes in all. */
const maxInformational = 16
const maxInformationalBytes = 64 * 1024

/** A response that is not HTTP as it should be. */
export class BadResponse extends Error {
  override readonly name = 'BadResponse'
}

/** A connection that had been used before is closed by a 408: the receiver was about to do so before it got the request. */
class TimedOut extends Error {
  override readonly name = 'TimedOut'
  readonly code = 'ECONNRESET'
}

/** Errors of connections that had been used before, and broke before the first byte of the next response, or with such a 408. */
const withoutResponse = new WeakSet<Error>()

/** What broke a connection first. Undici hands on the last error, and after an alert of TLS that is the end of the connection. */
const first = new WeakMap<Error, Error>()

/** The error that broke a connection, where another one came after it. */
export const firstError = (error: unknown): unknown => (error instanceof Error ? (first.get(error) ?? error) : error)

/** Whether a connection that had been kept broke without a response to the request: the receiver may have closed it long before. */
export const brokeWithoutResponse = (error: unknown): boolean => error instanceof Error && withoutResponse.has(error)

/** Bounds the responses on a connection, drops those that are informational, and remembers how it breaks. */
export function watchResponses(socket: Socket): void {
  const read = socket.read.bind(socket)
  let written = 0
  let bytes = 0
  let isUsed = false
  let dropInformational = informationalFilter()
  let refuseTimedOut = timedOutFilter()

  /** There is one request at a time, so another one has been written when a response is over. */
  function noticeRequest(): void {
    if (socket.bytesWritten === written) return
    written = socket.bytesWritten
    isUsed ||= bytes > 0
    bytes = 0
    dropInformational = informationalFilter()
    refuseTimedOut = timedOutFilter()
  }

  socket.read = (size) => {
    for (;;) {
      const chunk: Buffer | null = read(size)
      if (chunk === null) return null
      noticeRequest()
      bytes += chunk.length
      try {
        if (bytes > maxBytes) throw new BadResponse('endless response')
        const final = dropInformational(chunk)
        const rest = isUsed ? refuseTimedOut(final) : final
        // Undici would take an empty piece for the end of what there is.
        if (rest.length > 0) return rest
      } catch (error) {
        if (error instanceof TimedOut) withoutResponse.add(error)
        socket.destroy(error instanceof Error ? error : new BadResponse())
        return null
      }
    }
  }
  let broken: Error | undefined
  socket.on('error', (error: Error) => {
    if (broken) first.set(error, broken)
    broken ??= error
    noticeRequest()
    if (isUsed && bytes === 0) withoutResponse.add(error)
  })
}

const nothing = Buffer.alloc(0)
const timedOutLine = 'HTTP/1.1 408 '
/** Of the head of a 408 at most so much is held back. */
const maxTimedOutHead = 16 * 1024

/**
 * Passes on one response, unless it is a 408 that closes the connection (RFC 9110, section 15.5.9). Its head is held back until it is
 * whole.
 * @throws TimedOut
 */
function timedOutFilter(): (piece: Buffer) => Buffer {
  let isOver = false
  let held: Buffer = nothing
  return (piece) => {
    if (isOver) return piece
    const data = held.length > 0 ? Buffer.concat([held, piece]) : piece
    const line = data.toString('latin1', 0, timedOutLine.length)
    if (/^HTTP\/1\.[01] 408[ \r]/.test(line + timedOutLine.slice(line.length))) {
      const head = data.toString('latin1', 0, maxTimedOutHead)
      const end = head.indexOf('\r\n\r\n')
      if (end === -1 && data.length < maxTimedOutHead) {
        held = data
        return nothing
      }
      if (/\r\nconnection:[^\r]*\bclose\b/i.test(head.slice(0, end + 2))) throw new TimedOut('408')
    }
    isOver = true
    return data
  }
}

const lineFeed = 10
const carriageReturn = 13
/** The place of the status in `HTTP/1.1 100 Continue`. */
const statusAt = 9
const one = 0x31
const informationalLine = /^HTTP\/\d\.\d 1\d\d[ \r]/
const exampleLine = 'HTTP/1.1 100 '

/** The kind of a response by the beginning of its status line. */
function kindOf(data: Buffer): 'informational' | 'other' | 'undecided' {
  const first = data[statusAt]
  if (first !== undefined && first !== one) return 'other'
  const line = data.toString('latin1', 0, exampleLine.length)
  if (!informationalLine.test(line + exampleLine.slice(line.length)) || line.startsWith('101', statusAt)) return 'other'
  return line.length < exampleLine.length ? 'undecided' : 'informational'
}

/** Finds the end of the fields of a response, cut anywhere: its place in the piece, or `undefined` if it is still to come. */
function endFinder(): (piece: Buffer) => number | undefined {
  let lineLength = 0
  let last = 0
  return (piece) => {
    for (let at = 0; at < piece.length; ) {
      const feed = piece.indexOf(lineFeed, at)
      const end = feed === -1 ? piece.length : feed + 1
      lineLength += end - at
      at = end
      if (feed === -1) break
      if ((feed > 0 ? piece[feed - 1] : last) !== carriageReturn) throw new BadResponse('a line that ends without CR')
      if (lineLength === 2) return end
      lineLength = 0
    }
    last = piece.at(-1) ?? last
    return undefined
  }
}

/**
 * Drops the informational responses before one response. A client must be able to read them, unrequested ones too (RFC 9110, section
 * 15.2). Undici ends the connection at a `100 Continue`, and does not keep it after one in HTTP/1.0. A 101 remains: nothing
 * after it is HTTP.
 * @returns takes the pieces of the response, cut anywhere, and gives what is left of each
 * @throws BadResponse if there are too many
 */
export function informationalFilter(): (piece: Buffer) => Buffer {
  let isOver = false
  let count = 0
  let bytes = 0
  /** The beginning of a status line that may be any. */
  let held: Buffer = nothing
  let findEnd: ReturnType<typeof endFinder> | undefined

  return (piece) => {
    if (isOver) return piece
    let data = held.length > 0 ? Buffer.concat([held, piece]) : piece
    held = nothing
    for (;;) {
      if (findEnd) {
        const end = findEnd(data)
        bytes += end ?? data.length
        if (bytes > maxInformationalBytes) throw new BadResponse('endless informational responses')
        if (end === undefined) return nothing
        findEnd = undefined
        data = data.subarray(end)
      }
      // The parser passes over empty lines before a response too.
      let start = 0
      while (data[start] === lineFeed || data[start] === carriageReturn) start++
      if (start > 0) data = data.subarray(start)
      if (data.length === 0) return nothing
      const kind = kindOf(data)
      if (kind === 'other') {
        isOver = true
        return data
      }
      if (kind === 'undecided') {
        held = data
        return nothing
      }
      if (++count > maxInformational) throw new BadResponse('endless informational responses')
      findEnd = endFinder()
    }
  }
}
