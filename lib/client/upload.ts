/** The body of a request: JSON, or a form if it holds a file. */
import type { Payload } from './send.ts'

const isFile = (value: unknown): value is Blob => value instanceof Blob

/** A field of a form: a file as it is, a text as it is, everything else as JSON. */
function addField(form: FormData, name: string, value: unknown): void {
  if (value === undefined || value === null) return
  if (isFile(value)) form.set(name, value, 'name' in value && typeof value.name === 'string' ? value.name : 'file')
  else form.set(name, typeof value === 'string' ? value : JSON.stringify(value))
}

/**
 * A body as it is sent.
 * @throws TypeError if it cannot be written as JSON
 */
export function payloadOf(name: string, body: unknown): Payload {
  if (body instanceof FormData) return { content: body }
  const fields = typeof body === 'object' && body !== null ? Object.entries(body) : []
  if (fields.some(([, value]) => isFile(value))) {
    const form = new FormData()
    for (const [field, value] of fields) addField(form, field, value)
    return { content: form }
  }
  const content = JSON.stringify(body === undefined ? {} : body)
  if (content === undefined) throw new TypeError(`${name}: the body must be an object`)
  return { type: 'application/json', content }
}
