/** What is kept of a response that is not 2xx, for the operator: as text, bounded, without the secrets of the request. */
import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib'
import type { Hide } from './hidden-values.ts'

const keptBytes = 8 * 1024
const keptHeaderLength = 4096
/** This much of a body is looked at, so that a secret that begins in what is kept is found whole, though it be escaped. */
export const readBytes = 4 * keptBytes
/** A body of `readBytes` that inflates to more is an attack, or zeros. */
const mostInflatedBytes = 1024 * 1024

export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** A NUL is text that PostgreSQL does not take: a response with one must not stop the recording of results. */
const withoutNul = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed()

/** Headers as text, one per line. Cookies are left out: they may open a session. */
export function keptHeaders(headers: ResponseHeaders, hide: Hide): string {
  const shown = Object.entries(headers).filter(([name]) => !/^set-cookie2?$/.test(name))
  const lines = shown.flatMap(([name, value = '']) => [value].flat().map((each) => `${name}: ${each}`))
  return withoutNul(hide(lines.join('\n'), keptHeaderLength))
}

/**
 * The beginning of a body as text.
 * @param body its first bytes, `readBytes` of them if there are so many
 * @param length of all that came
 */
export function keptBody(body: Buffer, length: number, encoding: string, hide: Hide): string {
  if (body.length === 0) return ''
  const inflated = inflate(body, encoding.trim().toLowerCase())
  if (!inflated) return withoutNul(hide(`(${encoding}, ${length} bytes)`, keptHeaderLength))
  const text = inflated.subarray(0, readBytes).toString('utf8')
  return withoutNul(hide(text, inflated.subarray(0, keptBytes).toString('utf8').length))
}

const ofBrotli = { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength: mostInflatedBytes }
/** The end of a body may be missing. */
const ofZlib = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: mostInflatedBytes }

/** The bytes of a body before they were compressed; `undefined` if they cannot be had. */
function inflate(body: Buffer, encoding: string): Buffer | undefined {
  try {
    switch (encoding) {
      case '':
      case 'identity':
        return body
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(body, ofZlib)
      case 'br':
        return brotliDecompressSync(body, ofBrotli)
      case 'deflate':
        // The first four bits distinguish the two: some servers send it without its header.
        return ((body[0] ?? 0) & 0x0f) === 8 ? inflateSync(body, ofZlib) : inflateRawSync(body, ofZlib)
      default:
        return undefined
    }
  } catch {
    return undefined
  }
}
