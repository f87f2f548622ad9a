/** Forms with files: bounded before a parser sees them, because parsers take long over many parts and long heads. */
import { badRequest, fail, tooLarge } from '../errors.ts'

/** The maximum number of fields of a form. */
export const maxFields = 1000
export const tooManyFields = tooLarge(`The form has more than ${maxFields} fields`)

/** The maximum size of the heads of all parts together, in bytes. A head has the name of the field and of its file. */
const maxHeadBytes = 262_144
const tooLongHeads = tooLarge(`The names and headers in the form are larger than ${maxHeadBytes} bytes`)

const broken = badRequest('The body is not a valid multipart/form-data form')

/**
 * Reads a form of the type `multipart/form-data`.
 * @param type the header `Content-Type`, which names the boundary between the parts
 * @throws ApiError 413 with too many parts or too long heads, 400 if it is no such form
 */
export async function parseMultipart(bytes: Uint8Array, type: string): Promise<FormData> {
  const boundary = boundaryOf(type) ?? fail(broken)
  boundParts(bytes, boundary)
  // The parser gets the boundary that was found here. It might find another one in the header itself.
  const headers = { 'content-type': `multipart/form-data; boundary=${isToken(boundary) ? boundary : `"${boundary}"`}` }
  try {
    return await new Response(streamOf(bytes), { headers }).formData()
  } catch {
    fail(broken)
  }
}

const isToken = (text: string): boolean => /^[\w!#$%&'*+.^`|~-]+$/.test(text)

/** The first parameter `boundary` of a Content-Type, whatever the others look like. */
function boundaryOf(type: string): string | undefined {
  const parameter = /\s*;\s*([^=;\s]*)\s*(?:=\s*(?:"([^"\\]*)"|([^;"]*)))?/y
  parameter.lastIndex = type.indexOf(';')
  for (let found = parameter.exec(type); found?.[0]; found = parameter.exec(type)) {
    const [, name = '', quoted, plain = ''] = found
    if (name.toLowerCase() !== 'boundary') continue
    const boundary = quoted ?? plain.trimEnd()
    return /^[\x20-\x7e]{1,200}$/.test(boundary) ? boundary : undefined
  }
  return undefined
}

/** Goes through a form once, byte by byte: a search for each dash would compare a boundary of dashes again and again. */
function boundParts(bytes: Uint8Array, boundary: string): void {
  const delimiter = new TextEncoder().encode(`--${boundary}`)
  let parts = 0
  let headBytes = 0
  let isInHead = false
  for (let at = 0; at < bytes.length; at++) {
    if (isInHead && ++headBytes > maxHeadBytes) fail(tooLongHeads)
    if (at > 0 && bytes[at - 1] !== lineFeed) continue
    if (beginsWith(bytes, at, delimiter)) {
      // The end of a form looks like one part more.
      if (++parts > maxFields + 1) fail(tooManyFields)
      isInHead = true
    } else if (bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) isInHead = false
  }
}
const lineFeed = 0x0a
const carriageReturn = 0x0d

function beginsWith(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let index = 0; index < expected.length; index++) if (bytes[at + index] !== expected[index]) return false
  return true
}

/** A `Response` copies bytes that it is given, but not those that it reads: a large form is in memory once less. */
const streamOf = (bytes: Uint8Array): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start(controller) {
      if (bytes.length > 0) controller.enqueue(bytes as Uint8Array<ArrayBuffer>)
      controller.close()
    },
  })
