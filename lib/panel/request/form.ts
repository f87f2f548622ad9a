/** The form of a request: bounded before it is read, and never an unhandled rejection. */
import { streamOf } from '../../base/request-stream.ts'
import { ApiError } from '../../errors.ts'
import { parseMultipart } from '../../http/multipart.ts'
import { createPieces } from '../../http/pieces.ts'

/** The largest form, in bytes and in fields. */
export const maxFormBytes = 64 * 1024
const maxFields = 1000
/** The largest form with a file or a long list, in bytes. It has room for the other fields, and for line breaks, which browsers make longer. */
export const maxUploadBytes = 6 * 1024 * 1024

/** The fields of a form; a missing one is an empty text. */
export interface Form {
  get(name: string): string
  all(name: string): readonly string[]
  has(name: string): boolean
  /** A file; `undefined` if none was chosen. */
  file(name: string): File | undefined
}

export const emptyForm: Form = formOf(new URLSearchParams())

export function formOf(fields: URLSearchParams, files: ReadonlyMap<string, File> = new Map()): Form {
  return {
    get: (name) => fields.get(name) ?? '',
    all: (name) => fields.getAll(name),
    has: (name) => fields.has(name),
    file: (name) => files.get(name),
  }
}

/**
 * Reads the form of a request.
 * @param larger for a form that may have a file or a long list: what to do with one that is too large
 * @throws ApiError 400 when it breaks off, 413 when it is too large, 415 when it is no form of UTF-8 text
 */
export async function readForm(request: Request, larger?: string): Promise<Form> {
  const type = request.headers.get('content-type') ?? 'application/x-www-form-urlencoded'
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  const isMultipart = larger !== undefined && /^\s*multipart\/form-data\s*;/i.test(type)
  const isForm = isMultipart || /^\s*application\/x-www-form-urlencoded\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type)
  if (!isForm || encoding.toLowerCase() !== 'identity')
    throw new ApiError(415, { error: 'A form must be application/x-www-form-urlencoded, in UTF-8 and not compressed.' })
  const bytes = await (larger === undefined ? bytesOf(request, maxFormBytes) : bytesOf(request, maxUploadBytes, ` ${larger}`))
  if (!isMultipart) return bounded(new URLSearchParams(new TextDecoder().decode(bytes)))
  const fields = new URLSearchParams()
  const files = new Map<string, File>()
  for (const [name, value] of parseMultipart(bytes, type, maxUploadBytes))
    if (typeof value === 'string') fields.append(name, value)
    // A browser sends a file without a name where none was chosen.
    else if (value.name !== '') files.set(name, value)
  return formOf(fields, files)
}

async function bytesOf(request: Request, most: number, advice = ''): Promise<Uint8Array> {
  const tooLarge = () => new ApiError(413, { error: `A form may have at most ${most} bytes.${advice}` })
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge()
  const brokeOff = () => {
    throw new ApiError(400, { error: 'The form broke off. Send it again.' })
  }
  const reader = (await streamOf(request).catch(brokeOff))?.getReader()
  const pieces = createPieces()
  for (let size = 0; reader; ) {
    const { done, value } = await reader.read().catch(brokeOff)
    if (done) break
    size += value.byteLength
    if (size > most) {
      await reader.cancel().catch(() => undefined)
      throw tooLarge()
    }
    pieces.add(value)
  }
  return pieces.whole()
}

function bounded(fields: URLSearchParams): Form {
  if (fields.size > maxFields) throw new ApiError(413, { error: `A form may have at most ${maxFields} fields.` })
  return formOf(fields)
}
