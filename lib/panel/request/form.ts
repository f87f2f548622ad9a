/** The form of a request: bounded before it is read, and never an unhandled rejection. */
import { streamOf } from '../../base/request-stream.ts'
import { ApiError } from '../../errors.ts'

/** The largest form, in bytes and in fields. */
export const maxFormBytes = 64 * 1024
const maxFields = 1000

/** The fields of a form; a missing one is an empty text. */
export interface Form {
  get(name: string): string
  all(name: string): readonly string[]
  has(name: string): boolean
}

export const emptyForm: Form = formOf(new URLSearchParams())

/** The fields of a query or of a body. */
export function formOf(fields: URLSearchParams): Form {
  return { get: (name) => fields.get(name) ?? '', all: (name) => fields.getAll(name), has: (name) => fields.has(name) }
}

/**
 * Reads the form of a request.
 * @throws ApiError 400 when it breaks off, 413 when it is too large, 415 when it is no form of UTF-8 text
 */
export async function readForm(request: Request): Promise<Form> {
  const type = request.headers.get('content-type') ?? 'application/x-www-form-urlencoded'
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (
    !/^\s*application\/x-www-form-urlencoded\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type) ||
    encoding.toLowerCase() !== 'identity'
  )
    throw new ApiError(415, { error: 'A form must be application/x-www-form-urlencoded, in UTF-8 and not compressed.' })
  const tooLarge = () => new ApiError(413, { error: `A form may have at most ${maxFormBytes} bytes.` })
  if (Number(request.headers.get('content-length') ?? 0) > maxFormBytes) throw tooLarge()
  const brokeOff = () => {
    throw new ApiError(400, { error: 'The form broke off. Send it again.' })
  }
  const reader = (await streamOf(request).catch(brokeOff))?.getReader()
  if (!reader) return emptyForm
  const decoder = new TextDecoder()
  let text = ''
  for (let size = 0; ; ) {
    const { done, value } = await reader.read().catch(brokeOff)
    if (done) return bounded(new URLSearchParams(text + decoder.decode()))
    size += value.byteLength
    if (size > maxFormBytes) {
      await reader.cancel().catch(() => undefined)
      throw tooLarge()
    }
    text += decoder.decode(value, { stream: true })
  }
}

function bounded(fields: URLSearchParams): Form {
  if (fields.size > maxFields) throw new ApiError(413, { error: `A form may have at most ${maxFields} fields.` })
  return formOf(fields)
}
