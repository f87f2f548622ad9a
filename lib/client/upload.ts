/** The body of a request: JSON, or a form if it holds a file. */
import type { Payload } from './send.ts'

/** A file that is sent as it is read. A request with one is never tried again. */
export interface FileStream {
  /** The bytes of the file. It is read once. */
  readonly stream: ReadableStream<Uint8Array>
  /** The name of the file, such as `wash.png`. */
  readonly name: string
  /** Its media type. */
  readonly type?: string | undefined
}

const isBlob = (value: unknown): value is Blob => value instanceof Blob
const isFileStream = (value: unknown): value is FileStream =>
  typeof value === 'object' && value !== null && 'stream' in value && value.stream instanceof ReadableStream

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const nameOf = (blob: Blob): string => ('name' in blob && typeof blob.name === 'string' ? blob.name : 'file')

type Fields = readonly (readonly [name: string, value: unknown])[]

function formOf(fields: Fields): FormData {
  const form = new FormData()
  for (const [name, value] of fields)
    if (isBlob(value)) form.set(name, value, nameOf(value))
    else form.set(name, textOf(value))
  return form
}

/** A name in the head of a part, as browsers write it. */
const quoted = (name: string): string =>
  `"${name.toWellFormed().replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22')}"`

const encoder = new TextEncoder()

/** The bytes of a form with files that are read as it is sent. */
async function* partsOf(fields: Fields, boundary: string): AsyncGenerator<Uint8Array, void, undefined> {
  for (const [name, value] of fields) {
    const [file, type] = isFileStream(value) ? [value.name, value.type] : isBlob(value) ? [nameOf(value), value.type] : []
    const head = `--${boundary}\r\nContent-Disposition: form-data; name=${quoted(name)}`
    const stream = isFileStream(value) ? value.stream : isBlob(value) ? value.stream() : undefined
    if (!stream) {
      yield encoder.encode(`${head}\r\n\r\n${textOf(value)}\r\n`)
      continue
    }
    const mediaType = /^[\x20-\x7e]+$/.test(type ?? '') ? type : 'application/octet-stream'
    yield encoder.encode(`${head}; filename=${quoted(file ?? 'file')}\r\nContent-Type: ${mediaType}\r\n\r\n`)
    yield* chunksOf(stream)
    yield encoder.encode('\r\n')
  }
  yield encoder.encode(`--${boundary}--\r\n`)
}

// Streams are not iterable in every browser.
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader()
  let isDone = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      isDone = done
      if (done) return
      yield value
    }
  } finally {
    if (!isDone) reader.cancel().catch(() => {})
  }
}

function streamOf(fields: Fields, boundary: string): Pick<Payload, 'content' | 'failure'> {
  const parts = partsOf(fields, boundary)
  let failure: { readonly cause: unknown } | undefined
  const content = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await parts.next().catch((cause: unknown) => {
        failure = { cause }
        throw cause
      })
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await parts.return()
      for (const [, value] of fields) if (isFileStream(value) && !value.stream.locked) await value.stream.cancel()
    },
  })
  return { content, failure: () => failure }
}

/**
 * A body as it is sent.
 * @throws TypeError if it cannot be written as JSON
 */
export function payloadOf(name: string, body: unknown): Payload {
  if (body instanceof FormData) return { content: body }
  const fields = Object.entries(Object(body)).filter(([, value]) => value !== undefined && value !== null)
  if (fields.some(([, value]) => isFileStream(value))) {
    const boundary = `folkmoot-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`
    return { type: `multipart/form-data; boundary=${boundary}`, ...streamOf(fields, boundary) }
  }
  if (fields.some(([, value]) => isBlob(value))) return { content: formOf(fields) }
  const content = JSON.stringify(body === undefined ? {} : body)
  if (content === undefined) throw new TypeError(`${name}: the body must be an object`)
  return { type: 'application/json', content }
}
