/**
 * Forms with files (RFC 7578). The parsers of runtimes differ, and some refuse a form whose content holds its boundary, or a name
 * with an escaped quote (docs/decisions/http-hosts.md).
 */
import { badRequest, fail, tooLarge } from '../errors.ts'

export const maxFields = 1000
export const tooManyFields = tooLarge(`The form has more than ${maxFields} fields`)

/** The maximum size of the heads of all parts together, in bytes. A head has the name of the field and of its file. */
const maxHeadBytes = 262_144
const tooLongHeads = tooLarge(`The names and headers in the form are larger than ${maxHeadBytes} bytes`)

const broken = badRequest('The body is not a valid multipart/form-data form')

/** A field of a form: its name, and its text or its file. */
export type FormField = [name: string, value: string | File]

/**
 * Reads a form of the type `multipart/form-data`.
 * @param type the header `Content-Type`, which names the boundary between the parts
 * @param maxTextBytes the maximum size of the fields without a file together, as they came
 * @returns its fields in their order
 * @throws ApiError 413 with too many parts, too long heads or too long texts, 400 if it is no such form
 */
export function parseMultipart(bytes: Uint8Array, type: string, maxTextBytes: number): FormField[] {
  const delimiter = new TextEncoder().encode(`--${boundaryOf(type) ?? fail(broken)}`)
  const fields: FormField[] = []
  let headBytes = 0
  let textBytes = 0
  let line = nextDelimiter(bytes, 0, delimiter) ?? fail(broken)
  while (!line.isLast) {
    if (fields.length === maxFields) fail(tooManyFields)
    const contentAt = endOfHead(bytes, line.end, maxHeadBytes - headBytes)
    headBytes += contentAt - line.end
    const head = decoder.decode(bytes.subarray(line.end, contentAt))
    const next = nextDelimiter(bytes, contentAt, delimiter) ?? fail(broken)
    const part = partOf(head)
    // The line break before a delimiter belongs to the delimiter.
    const content = bytes.subarray(contentAt, Math.max(contentAt, next.begin - 2)) as Uint8Array<ArrayBuffer>
    if (part.filename === undefined) textBytes += content.length
    if (textBytes > maxTextBytes) fail(tooLarge(`The texts in the form are larger than ${maxTextBytes} bytes`))
    fields.push(fieldOf(part, content))
    line = next
  }
  return fields
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

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

const lineFeed = 0x0a
const carriageReturn = 0x0d
const dash = 0x2d

/** A line that separates two parts, or the last one. */
interface DelimiterLine {
  readonly begin: number
  /** Behind its line break. */
  readonly end: number
  readonly isLast: boolean
}

/**
 * The next line that is a delimiter: content may hold the same text within a line. It goes from byte to byte, because a
 * search for each line break would take long over a body of line breaks.
 */
function nextDelimiter(bytes: Uint8Array, from: number, delimiter: Uint8Array): DelimiterLine | undefined {
  for (let at = from; at < bytes.length; at++) {
    if (at > from && (bytes[at - 1] !== lineFeed || bytes[at - 2] !== carriageReturn)) continue
    const line = delimiterAt(bytes, at, delimiter)
    if (line) return line
  }
  return undefined
}

function delimiterAt(bytes: Uint8Array, begin: number, delimiter: Uint8Array): DelimiterLine | undefined {
  for (let index = 0; index < delimiter.length; index++) if (bytes[begin + index] !== delimiter[index]) return undefined
  const behind = begin + delimiter.length
  if (bytes[behind] === dash && bytes[behind + 1] === dash) return { begin, end: behind + 2, isLast: true }
  let end = behind
  while (bytes[end] === 0x20 || bytes[end] === 0x09) end++
  return bytes[end] === carriageReturn && bytes[end + 1] === lineFeed ? { begin, end: end + 2, isLast: false } : undefined
}

/** The first byte behind the empty line that ends a head. */
function endOfHead(bytes: Uint8Array, from: number, most: number): number {
  for (let begin = from; begin - from <= most; ) {
    if (bytes[begin] === carriageReturn && bytes[begin + 1] === lineFeed) return begin + 2
    const lineEnd = bytes.indexOf(lineFeed, begin)
    begin = lineEnd < 0 ? fail(broken) : lineEnd + 1
  }
  return fail(tooLongHeads)
}

/** A part of a form, as its head describes it. */
interface Part {
  readonly name: string
  /** `undefined` for a text. */
  readonly filename: string | undefined
  readonly type: string | undefined
  readonly isBase64: boolean
}

function partOf(head: string): Part {
  const headers = headersOf(head)
  const disposition = headers.get('content-disposition') ?? ''
  const parameters = parametersOf(/^form-data\s*(?=;)/i.exec(disposition)?.[0], disposition)
  const name = parameters.get('name') ?? fail(broken)
  const filename = extendedText(parameters.get('filename*')) ?? parameters.get('filename')
  const isBase64 = headers.get('content-transfer-encoding')?.toLowerCase() === 'base64'
  return { name, filename, type: headers.get('content-type'), isBase64 }
}

function fieldOf({ name, filename, type, isBase64 }: Part, content: Uint8Array<ArrayBuffer>): FormField {
  const value = isBase64 ? fromBase64(content) : content
  if (filename === undefined) return [name, decoder.decode(value)]
  return [name, new File([value], filename, { type: type ?? 'application/octet-stream' })]
}

function headersOf(head: string): ReadonlyMap<string, string> {
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  return new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, Math.max(0, colon)).trim().toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}

/** The parameters behind the first word of a header; of two with one name the first. */
function parametersOf(word: string | undefined, header: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  if (word === undefined) return parameters
  // Each character matches in one way only, so that no head takes long.
  const parameter = /\s*;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\["\\]|\\(?!["\\]))*)"|([^;]*))/y
  parameter.lastIndex = word.length
  for (let found = parameter.exec(header); found; found = parameter.exec(header)) {
    const [, name = '', quoted, plain = ''] = found
    const key = name.toLowerCase()
    if (!parameters.has(key)) parameters.set(key, quoted === undefined ? plain.trim() : unquoted(quoted))
  }
  return parameters
}

/** Browsers write a quote as `%22`, other clients as `\"`. The backslashes of a path on Windows stay. */
const unquoted = (text: string): string =>
  text.replace(/\\(["\\])/g, '$1').replace(/%(22|0d|0a)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** A text like `UTF-8''%C3%BC.png` (RFC 8187); `undefined` for any other. */
function extendedText(text: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(text ?? '')?.[1]
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

function fromBase64(content: Uint8Array): Uint8Array<ArrayBuffer> {
  const letters = lettersOf(decoder.decode(content))
  const bytes = new Uint8Array(letters.length)
  // Not by `Uint8Array.from`: it calls a function for each letter, which takes seconds for a large file.
  for (let index = 0; index < bytes.length; index++) bytes[index] = letters.charCodeAt(index)
  return bytes
}

/** A text with one letter for each byte. */
function lettersOf(base64: string): string {
  try {
    return atob(base64)
  } catch {
    return fail(broken)
  }
}
